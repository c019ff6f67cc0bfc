//! Options of a scrape, and the document that it returns.

use std::time::Duration;

use api_types::{ContentFormat, DocumentRequest, DocumentResponse};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::document::{self, Failure, Freshness, check_age};
use crate::{ReadOutcome, Refusal};

/// Options of a scrape.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScrapeOptions {
    formats: Option<Vec<Format>>,
    /// Maximum age of the content in milliseconds.
    max_age: Option<u64>,
    /// Milliseconds.
    timeout: Option<i64>,
    /// Stored copies only.
    lockdown: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "expected a name or an object with `type`")]
enum Format {
    Name(String),
    Options {
        #[serde(rename = "type")]
        name: String,
    },
}

impl Format {
    fn name(&self) -> &str {
        match self {
            Format::Name(name) | Format::Options { name } => name,
        }
    }
}

impl ScrapeOptions {
    /// Returns true if formats are named.
    pub fn has_formats(&self) -> bool {
        self.formats.as_ref().is_some_and(|formats| !formats.is_empty())
    }

    /// Refuses formats other than markdown. `field` is the path of the list.
    pub fn check(&self, field: &str) -> Result<(), Refusal> {
        let mut others = self.formats.iter().flatten().filter(|format| format.name() != "markdown");
        match others.next() {
            None => Ok(()),
            Some(format) => {
                let name = document::cut(format.name(), 50);
                let message = format!("{field}: the format `{name}` is not supported; pages are kept as markdown");
                Err(Refusal::new(field, message))
            }
        }
    }

    fn max_age(&self) -> Option<Duration> {
        self.max_age.map(Duration::from_millis)
    }

    pub fn read(&self, address: &str) -> DocumentRequest {
        let cache_only = self.lockdown == Some(true);
        let freshness = Freshness { max_age: self.max_age(), cache_only, timeout_ms: self.timeout };
        freshness.apply(document::whole(address, ContentFormat::Markdown, None))
    }

    /// Returns the document with its markdown.
    pub fn document(
        &self,
        requested: &str,
        outcome: ReadOutcome,
        scrape_id: Uuid,
    ) -> Result<Map<String, Value>, Failure> {
        let outcome = check_age(outcome, self.max_age());
        let markdown = document::text(&outcome)?.to_owned();
        let DocumentResponse { doc, provenance, .. } = outcome?;
        let mut metadata = Map::new();
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                metadata.insert(name.to_owned(), value.into());
            }
        };
        add("cachedAt", provenance.map(|capture| capture.capture_time));
        add("title", doc.title);
        add("description", doc.meta_description);
        add("publishedTime", doc.published_at);
        add("url", Some(doc.canonical_url));
        add("sourceURL", Some(requested.to_owned()));
        add("scrapeId", Some(scrape_id.to_string()));
        metadata.insert("statusCode".to_owned(), json!(200));
        Ok(Map::from_iter([("markdown".to_owned(), markdown.into()), ("metadata".to_owned(), metadata.into())]))
    }
}
