use api_types::DocumentRequest;
use serde::Deserialize;
use serde_json::json;

use super::Firecrawl;
use super::document::ScrapeOptions;
use crate::{Answered, FailureKind, ForeignRead, ForeignRequest, Moment, ReadOutcome, Refusal, Refused, Unsupported};

/// The body of `POST /v2/scrape`.
#[derive(Debug, Deserialize)]
pub struct ScrapeRequest {
    #[serde(default)]
    url: String,
    #[serde(flatten)]
    options: ScrapeOptions,
}

/// Unsupported options of a scrape.
pub(super) const UNSUPPORTED_OPTIONS: &[Unsupported] = &[
    Unsupported { field: "includeTags", reason: "the main content of the page is selected" },
    Unsupported { field: "excludeTags", reason: "the main content of the page is selected" },
    Unsupported { field: "headers", reason: "no headers are sent to pages" },
    Unsupported { field: "actions", reason: "pages are not operated" },
    Unsupported { field: "minAge", reason: "pages are read if there is no stored copy" },
    Unsupported { field: "redactPII", reason: "pages are returned as they are" },
    Unsupported { field: "checkPromptInjection", reason: "pages are returned as they are" },
    Unsupported { field: "threatProtection", reason: "pages are returned as they are" },
    Unsupported { field: "zeroDataRetention", reason: "pages are stored for the organization" },
];

impl ForeignRequest for ScrapeRequest {
    type Service = Firecrawl;

    const UNSUPPORTED: &'static [Refused] = &[Refused { object: "", fields: UNSUPPORTED_OPTIONS }];
}

impl ForeignRead for ScrapeRequest {
    fn reads(&self) -> Result<Vec<Vec<DocumentRequest>>, Refusal> {
        self.options.check("formats")?;
        if self.url.trim().is_empty() {
            return Err(Refusal::new("url", "url must not be empty"));
        }
        Ok(vec![vec![self.options.read(&self.url)]])
    }

    fn answer(&self, outcomes: Vec<Vec<ReadOutcome>>, moment: Moment) -> Answered {
        let Some(outcome) = outcomes.into_iter().flatten().next() else {
            return Answered { status: 500, body: json!({"success": false, "error": "the page was not read"}) };
        };
        match self.options.document(&self.url, outcome, moment.request_id) {
            Ok(document) => Answered::ok(json!({"success": true, "data": document})),
            Err(failure) => {
                let (status, code) = error(failure.kind);
                let body = json!({"success": false, "error": failure.message, "code": code});
                Answered { status, body }
            }
        }
    }
}

/// Returns status and code of an unreadable page. 502 would make the clients ask again.
fn error(kind: FailureKind) -> (u16, &'static str) {
    match kind {
        FailureKind::Invalid => (400, "BAD_REQUEST"),
        FailureKind::NotFound => (404, "SCRAPE_SITE_ERROR"),
        FailureKind::Forbidden => (403, "SCRAPE_SITE_ERROR"),
        FailureKind::Timeout => (408, "SCRAPE_TIMEOUT"),
        FailureKind::Unsupported => (422, "SCRAPE_UNSUPPORTED_FILE_ERROR"),
        FailureKind::Unreachable => (422, "SCRAPE_SITE_ERROR"),
        FailureKind::TooOld => (422, "SCRAPE_NO_CACHED_DATA"),
        FailureKind::Internal => (503, "UNKNOWN_ERROR"),
    }
}
