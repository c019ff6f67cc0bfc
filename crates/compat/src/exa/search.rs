use api_types::validation::{MAX_QUERY_CHARS, MAX_SEARCH_QUERIES};
use api_types::{DocumentRequest, SearchResult};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;

use super::Exa;
use super::contents::UNSUPPORTED_CONTENTS;
use super::options::{self, Contents};
use crate::dates::{self, published};
use crate::document::chunks;
use crate::request::Switch;
use crate::{ForeignRequest, ForeignSearch, Hit, Moment, Refusal, Refused, SearchPlan, Unsupported};

/// Most passages of a hit.
const MAX_HIGHLIGHTS: usize = 10;

/// The body of `POST /search`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchRequest {
    #[serde(default)]
    query: String,
    num_results: Option<usize>,
    include_domains: Option<Vec<String>>,
    exclude_domains: Option<Vec<String>>,
    start_published_date: Option<String>,
    end_published_date: Option<String>,
    include_text: Option<Vec<String>>,
    additional_queries: Option<Vec<String>>,
    contents: Option<Switch<Contents>>,
}

impl SearchRequest {
    fn contents(&self) -> Contents {
        Switch::options(&self.contents).unwrap_or_default()
    }
}

/// Unsupported fields of a search.
const UNSUPPORTED: &[Unsupported] = &[
    Unsupported { field: "excludeText", reason: "results cannot be excluded by their text" },
    Unsupported { field: "startCrawlDate", reason: "results are not filtered by the time of their crawl" },
    Unsupported { field: "endCrawlDate", reason: "results are not filtered by the time of their crawl" },
    Unsupported { field: "moderation", reason: "results are not moderated" },
    Unsupported { field: "outputSchema", reason: "this server writes no answers" },
    Unsupported { field: "stream", reason: "answers are not streamed" },
];

impl ForeignRequest for SearchRequest {
    type Service = Exa;

    const UNSUPPORTED: &'static [Refused] =
        &[Refused { object: "", fields: UNSUPPORTED }, Refused { object: "contents", fields: UNSUPPORTED_CONTENTS }];
}

impl ForeignSearch for SearchRequest {
    fn plan(&self, _: OffsetDateTime) -> Result<SearchPlan, Refusal> {
        let mut plan = SearchPlan::new(&self.query, self.num_results.unwrap_or(10));
        plan.require_domains(self.include_domains.as_deref().unwrap_or_default());
        plan.exclude_domains(self.exclude_domains.as_deref().unwrap_or_default());
        if let Some(start) = &self.start_published_date {
            let start = dates::parse("startPublishedDate", start)?.start();
            plan.request.freshness_policy.published_after = Some(start);
        }
        if let Some(end) = &self.end_published_date {
            plan.published_before(dates::parse("endPublishedDate", end)?.at);
        }
        if let Some(count) = self.contents().highlights().and_then(|highlights| highlights.highlights_per_url) {
            plan.request.response.max_passages_per_result = i64::try_from(count.clamp(1, MAX_HIGHLIGHTS)).unwrap_or(1);
        }
        let additional = self.additional_queries.as_deref().unwrap_or_default();
        // The query itself is one of the texts.
        if additional.len() >= MAX_SEARCH_QUERIES {
            let message = format!("additionalQueries must have at most {} items", MAX_SEARCH_QUERIES - 1);
            return Err(Refusal::new("additionalQueries", message));
        }
        for (index, query) in additional.iter().enumerate() {
            check_length(&format!("additionalQueries[{index}]"), query)?;
        }
        match self.include_text.as_deref().unwrap_or_default() {
            [] if additional.is_empty() => {}
            [] => {
                let queries = std::iter::once(&self.query).chain(additional).cloned().collect();
                plan.request.search_queries = Some(queries);
            }
            // Documents with any of the texts would do, also those without the phrase.
            [_] if !additional.is_empty() => {
                let message = "additionalQueries cannot be combined with includeText: leave out one of them";
                return Err(Refusal::new("additionalQueries", message));
            }
            // The phrase finds the documents, and the query ranks them.
            [phrase] => {
                check_length("includeText[0]", phrase)?;
                plan.request.search_queries = Some(vec![phrase.clone()]);
                plan.request.filters.exact_match = true;
            }
            more => {
                let message = format!("includeText must have one item, not {}", more.len());
                return Err(Refusal::new("includeText", message));
            }
        }
        Ok(plan)
    }

    fn reads_documents(&self) -> bool {
        let contents = self.contents();
        contents.text().is_some() || contents.highlights().is_some_and(|highlights| highlights.query.is_some())
    }

    fn reads(&self, hit: &SearchResult) -> Vec<DocumentRequest> {
        let (contents, doc_id) = (self.contents(), hit.doc_id.to_string());
        let text = contents.text().map(|text| contents.read_text(&doc_id, &text));
        // Without a query of their own, highlights are the passages of the hit.
        let highlights = contents.highlights().filter(|highlights| highlights.query.is_some());
        let highlights = highlights.map(|highlights| contents.read_highlights(&doc_id, &highlights));
        text.into_iter().chain(highlights).collect()
    }

    fn answer(&self, hits: Vec<Hit>, moment: Moment) -> Value {
        let contents = self.contents();
        let results: Vec<Value> = hits.iter().map(|hit| result(&contents, hit).into()).collect();
        json!({
            "requestId": moment.request_id,
            "results": results,
            "searchTime": moment.elapsed.as_secs_f64() * 1_000.0,
        })
    }
}

/// Refuses a text that is longer than a query. The API has one list for both kinds of texts, so its own refusal would
/// name the wrong field.
fn check_length(field: &str, text: &str) -> Result<(), Refusal> {
    match text.chars().count() <= MAX_QUERY_CHARS {
        true => Ok(()),
        false => Err(Refusal::new(field, format!("{field} must have at most {MAX_QUERY_CHARS} characters"))),
    }
}

fn result(contents: &Contents, hit: &Hit) -> Map<String, Value> {
    let Hit { result, documents } = hit;
    let mut view = Map::from_iter([
        ("id".to_owned(), result.canonical_url.as_str().into()),
        ("url".to_owned(), result.canonical_url.as_str().into()),
        ("title".to_owned(), result.title.as_deref().into()),
    ]);
    if let Some(published) = published(result) {
        view.insert("publishedDate".to_owned(), published.into());
    }
    if let Some(score) = result.score {
        view.insert("score".to_owned(), score.value.into());
    }
    let mut documents = documents.iter();
    if contents.text().is_some()
        && let Some(outcome) = documents.next()
    {
        contents.add_text(outcome, &mut view);
    }
    match (contents.highlights(), documents.next()) {
        (Some(highlights), Some(outcome)) => options::add_highlights(&highlights, outcome, &mut view),
        (Some(highlights), None) => {
            let passages = chunks(result, usize::MAX);
            view.insert("highlights".to_owned(), highlights.of(passages).into());
        }
        (None, _) => {}
    }
    view
}
