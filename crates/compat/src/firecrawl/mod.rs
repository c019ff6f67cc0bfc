//! Firecrawl v2: `/v2/scrape` and `/v2/search`.

mod document;
mod scrape;
mod search;
mod tbs;

use api_types::ErrorCode;
use serde_json::json;
use uuid::Uuid;

pub use scrape::ScrapeRequest;
pub use search::SearchRequest;

use crate::{ErrorReply, Service};

/// The service's errors and names.
pub struct Firecrawl;

impl Service for Firecrawl {
    const FIELDS: &'static [(&'static str, &'static str)] = &[
        ("source_policy.include_domains", "includeDomains"),
        ("source_policy.exclude_domains", "excludeDomains"),
        ("freshness_policy.published_after", "tbs"),
        ("canonical_url", "url"),
    ];
    const KEY_PREFIX: &'static str = "fc-";

    fn error(code: ErrorCode, message: &str, _: Uuid) -> ErrorReply {
        let name = match code.status() {
            400 => "BAD_REQUEST",
            401 => "UNAUTHORIZED",
            402 => "INSUFFICIENT_CREDITS",
            403 => "FORBIDDEN",
            429 => "RATE_LIMITED",
            status if status < 500 => "BAD_REQUEST",
            _ => "UNKNOWN_ERROR",
        };
        ErrorReply { status: code.status(), body: json!({"success": false, "error": message, "code": name}) }
    }
}
