//! Open WebUI: its external search engine and its external web loader.

use api_types::{ContentFormat, DocumentRequest, ErrorCode};
use serde::Deserialize;
use serde_json::{Value, json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::document::{self, check_count, chunks, title};
use crate::request::OneOrMany;
use crate::{
    Answered, ErrorReply, ForeignRead, ForeignRequest, ForeignSearch, Hit, Moment, ReadOutcome, Refusal, SearchPlan,
    Service,
};

/// Passages of a result.
const PASSAGES: usize = 3;

/// The service's errors and names.
pub struct OpenWebUi;

impl Service for OpenWebUi {
    const FIELDS: &'static [(&'static str, &'static str)] = &[("canonical_url", "urls")];

    fn error(code: ErrorCode, message: &str, _: Uuid) -> ErrorReply {
        ErrorReply { status: code.status(), body: json!({"detail": message}) }
    }
}

/// A request of the external search engine.
#[derive(Debug, Deserialize)]
pub struct SearchRequest {
    #[serde(default)]
    query: String,
    count: Option<usize>,
}

impl ForeignRequest for SearchRequest {
    type Service = OpenWebUi;
}

impl ForeignSearch for SearchRequest {
    fn plan(&self, _: OffsetDateTime) -> Result<SearchPlan, Refusal> {
        Ok(SearchPlan::new(&self.query, self.count.unwrap_or(5)))
    }

    fn answer(&self, hits: Vec<Hit>, _: Moment) -> Value {
        let result = |Hit { result, .. }: &Hit| {
            json!({
                "link": result.canonical_url,
                "title": title(result),
                // With the web loader bypassed, this is all that the model sees.
                "snippet": chunks(result, PASSAGES).join("\n\n"),
            })
        };
        hits.iter().map(result).collect()
    }
}

/// A request of the external web loader.
#[derive(Debug, Deserialize)]
pub struct LoadRequest {
    #[serde(default)]
    urls: OneOrMany,
}

impl ForeignRequest for LoadRequest {
    type Service = OpenWebUi;
}

impl ForeignRead for LoadRequest {
    fn reads(&self) -> Result<Vec<Vec<DocumentRequest>>, Refusal> {
        let urls = self.urls.clone().into_vec();
        check_count("urls", &urls)?;
        Ok(urls.iter().map(|url| vec![document::whole(url, ContentFormat::Markdown, None)]).collect())
    }

    /// Leaves out pages that cannot be read: the format has no place for errors.
    fn answer(&self, outcomes: Vec<Vec<ReadOutcome>>, _: Moment) -> Answered {
        let loaded = self.urls.clone().into_vec().into_iter().zip(outcomes.into_iter().flatten());
        let page = |(url, outcome): (String, ReadOutcome)| {
            let text = document::text(&outcome).ok()?.to_owned();
            let doc = outcome.ok()?.doc;
            let mut metadata = json!({"source": url});
            for (name, value) in [("title", doc.title), ("description", doc.meta_description)] {
                if let Some(value) = value {
                    metadata[name] = value.into();
                }
            }
            Some(json!({"page_content": text, "metadata": metadata}))
        };
        Answered::ok(loaded.filter_map(page).collect())
    }
}
