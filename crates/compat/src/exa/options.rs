//! Contents of results, as `/search` and `/contents` take them.

use std::time::Duration;

use api_types::{ContentFormat, DocumentRequest};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::ReadOutcome;
use crate::document::{self, Freshness, cut, passage_texts, too_old};
use crate::request::Switch;

/// Contents of a result.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Contents {
    pub text: Option<Switch<Text>>,
    pub highlights: Option<Switch<Highlights>>,
    livecrawl: Option<String>,
    /// Milliseconds.
    livecrawl_timeout: Option<i64>,
    max_age_hours: Option<i64>,
}

/// Options of the text.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Text {
    max_characters: Option<i64>,
}

/// Options of highlights.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Highlights {
    pub query: Option<String>,
    pub highlights_per_url: Option<usize>,
    pub max_characters: Option<usize>,
}

impl Highlights {
    /// Returns as many passages as the options permit; the last one may be cut.
    pub fn of(&self, passages: Vec<&str>) -> Vec<String> {
        let mut left = self.max_characters.unwrap_or(usize::MAX);
        let mut chosen = Vec::new();
        for passage in passages.into_iter().take(self.highlights_per_url.unwrap_or(usize::MAX).max(1)) {
            let text = cut(passage, left);
            left -= text.chars().count();
            if !text.is_empty() {
                chosen.push(text.to_owned());
            }
        }
        chosen
    }
}

impl Contents {
    /// Returns the maximum age of the content; `None` for the server's own.
    pub fn max_age(&self) -> Option<Duration> {
        match (self.max_age_hours, self.livecrawl.as_deref()) {
            (Some(hours), _) => u64::try_from(hours).ok().map(|hours| Duration::from_secs(hours.saturating_mul(3_600))),
            (None, Some("always")) => Some(Duration::ZERO),
            (None, _) => None,
        }
    }

    /// Returns the age of stored copies from which a page is read again.
    fn freshness(&self) -> Freshness {
        let mut freshness = match (self.max_age_hours, self.livecrawl.as_deref()) {
            (Some(-1), _) | (None, Some("never")) => Freshness { cache_only: true, ..Freshness::default() },
            // A stored copy will do if the page cannot be read.
            (None, Some("preferred")) => Freshness { max_age: Some(Duration::ZERO), ..Freshness::default() },
            _ => Freshness { max_age: self.max_age(), ..Freshness::default() },
        };
        freshness.timeout_ms = self.livecrawl_timeout;
        freshness
    }

    /// A read of the text of a document.
    pub fn read_text(&self, address: &str, text: &Text) -> DocumentRequest {
        let max_chars = text.max_characters.filter(|max| *max > 0);
        self.freshness().apply(document::whole(address, ContentFormat::Markdown, max_chars))
    }

    /// A read of the highlights of a document.
    pub fn read_highlights(&self, address: &str, highlights: &Highlights) -> DocumentRequest {
        self.freshness().apply(document::passages(address, highlights.query.as_deref()))
    }

    /// Returns the options of the text; `None` if no text is asked for.
    pub fn text(&self) -> Option<Text> {
        Switch::options(&self.text)
    }

    /// Returns the options of highlights; `None` if no highlights are asked for.
    pub fn highlights(&self) -> Option<Highlights> {
        Switch::options(&self.highlights)
    }

    /// Adds `text` to a result.
    pub fn add_text(&self, outcome: &ReadOutcome, result: &mut Map<String, Value>) {
        let is_too_old = outcome.as_ref().is_ok_and(|document| too_old(document, self.max_age()).is_some());
        let text = if is_too_old { "" } else { document::text(outcome).unwrap_or_default() };
        result.insert("text".to_owned(), text.into());
    }
}

/// Adds `highlights` to a result.
pub(super) fn add_highlights(highlights: &Highlights, outcome: &ReadOutcome, result: &mut Map<String, Value>) {
    result.insert("highlights".to_owned(), highlights.of(passage_texts(outcome)).into());
}
