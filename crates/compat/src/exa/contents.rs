use api_types::DocumentRequest;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Exa;
use super::options::{self, Contents};
use crate::document::{self, FailureKind, capture_time, check_age, check_count};
use crate::request::{OneOrMany, Switch};
use crate::{Answered, Failure, ForeignRead, ForeignRequest, Moment, ReadOutcome, Refusal, Refused, Unsupported};

/// The body of `POST /contents`.
#[derive(Debug, Deserialize)]
pub struct ContentsRequest {
    urls: Option<OneOrMany>,
    /// Old name of `urls`.
    ids: Option<OneOrMany>,
    #[serde(flatten)]
    contents: Contents,
}

impl ContentsRequest {
    fn urls(&self) -> Vec<String> {
        self.urls.as_ref().or(self.ids.as_ref()).cloned().map(OneOrMany::into_vec).unwrap_or_default()
    }

    /// Returns the requested contents: the text if nothing is named.
    fn contents(&self) -> Contents {
        let mut contents = self.contents.clone();
        if contents.text().is_none() && contents.highlights().is_none() {
            contents.text = Some(Switch::Flag(true));
        }
        contents
    }

    fn result(&self, address: &str, outcomes: Vec<ReadOutcome>, moment: Moment) -> Result<(Value, Value), Failure> {
        let contents = self.contents();
        let mut outcomes = outcomes.into_iter().map(|one| check_age(one, contents.max_age()));
        let first: ReadOutcome = outcomes.next().unwrap_or_else(|| Err(nothing()));
        document::text(&first)?;
        let document = first.as_ref().map_err(Clone::clone)?;
        let url = document.doc.canonical_url.as_str();
        let mut view = Map::from_iter([
            ("id".to_owned(), address.into()),
            ("url".to_owned(), url.into()),
            ("title".to_owned(), document.doc.title.as_deref().into()),
        ]);
        if let Some(published) = &document.doc.published_at {
            view.insert("publishedDate".to_owned(), published.as_str().into());
        }
        let is_crawled = capture_time(document).is_some_and(|at| is_since(at, moment));
        let source = if is_crawled { "crawled" } else { "cached" };
        let has_text = contents.text().is_some();
        if has_text {
            contents.add_text(&first, &mut view);
        }
        if let Some(highlights) = contents.highlights() {
            let outcome = if has_text { outcomes.next().unwrap_or_else(|| Err(nothing())) } else { first };
            options::add_highlights(&highlights, &outcome, &mut view);
        }
        Ok((view.into(), json!({"id": address, "status": "success", "source": source})))
    }
}

fn nothing() -> Failure {
    Failure { kind: FailureKind::Internal, message: "the document was not read".to_owned() }
}

fn is_since(time: &str, moment: Moment) -> bool {
    crate::dates::parse("", time).is_ok_and(|time| time.at >= moment.started_at)
}

/// Unsupported fields of contents.
pub(super) const UNSUPPORTED_CONTENTS: &[Unsupported] = &[
    Unsupported { field: "summary", reason: "this server writes no summaries" },
    Unsupported { field: "context", reason: "read the text of each result" },
    Unsupported { field: "subpages", reason: "subpages are not read" },
    Unsupported { field: "extras", reason: "links and images of pages are not kept" },
    Unsupported { field: "snapshotAsOf", reason: "old versions of pages are not kept" },
    Unsupported { field: "text.includeHtmlTags", reason: "pages are kept as markdown" },
    Unsupported { field: "text.includeSections", reason: "sections of pages are not distinguished" },
    Unsupported { field: "text.excludeSections", reason: "sections of pages are not distinguished" },
];

impl ForeignRequest for ContentsRequest {
    type Service = Exa;

    const UNSUPPORTED: &'static [Refused] = &[Refused { object: "", fields: UNSUPPORTED_CONTENTS }];
}

impl ForeignRead for ContentsRequest {
    fn reads(&self) -> Result<Vec<Vec<DocumentRequest>>, Refusal> {
        let (urls, contents) = (self.urls(), self.contents());
        check_count("urls", &urls)?;
        let read = |url: &String| {
            let text = contents.text().map(|text| contents.read_text(url, &text));
            let highlights = contents.highlights().map(|highlights| contents.read_highlights(url, &highlights));
            text.into_iter().chain(highlights).collect()
        };
        Ok(urls.iter().map(read).collect())
    }

    fn answer(&self, outcomes: Vec<Vec<ReadOutcome>>, moment: Moment) -> Answered {
        let (mut results, mut statuses) = (Vec::new(), Vec::new());
        for (address, outcomes) in self.urls().into_iter().zip(outcomes) {
            match self.result(&address, outcomes, moment) {
                Ok((result, status)) => {
                    results.push(result);
                    statuses.push(status);
                }
                Err(failure) => {
                    let error = json!({"tag": tag(failure.kind), "httpStatusCode": failure.kind.status()});
                    statuses.push(json!({"id": address, "status": "error", "error": error}));
                }
            }
        }
        Answered::ok(json!({"requestId": moment.request_id, "results": results, "statuses": statuses}))
    }
}

fn tag(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Invalid | FailureKind::Unsupported => "UNSUPPORTED_URL",
        FailureKind::NotFound => "CRAWL_NOT_FOUND",
        FailureKind::Forbidden | FailureKind::TooOld => "SOURCE_NOT_AVAILABLE",
        FailureKind::Timeout => "CRAWL_TIMEOUT",
        FailureKind::Unreachable | FailureKind::Internal => "CRAWL_UNKNOWN_ERROR",
    }
}
