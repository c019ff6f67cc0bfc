//! Tavily: `/search` and `/extract`.

mod extract;
mod search;

use api_types::ErrorCode;
use serde_json::json;
use uuid::Uuid;

pub use extract::ExtractRequest;
pub use search::SearchRequest;

use crate::{ErrorReply, Service};

/// Separator of the chunks of one source.
const CHUNK_SEPARATOR: &str = "\n[...]\n";

/// The service's errors and names.
pub struct Tavily;

impl Service for Tavily {
    const FIELDS: &'static [(&'static str, &'static str)] = &[
        ("source_policy.", ""),
        ("freshness_policy.published_after", "start_date"),
        ("filters.language", "language"),
        ("canonical_url", "urls"),
    ];
    const KEY_PREFIX: &'static str = "tvly-";

    fn error(code: ErrorCode, message: &str, _: Uuid) -> ErrorReply {
        let status = match code {
            // The clients tell a spent plan by this status.
            ErrorCode::InsufficientBalance => 432,
            other => other.status(),
        };
        ErrorReply { status, body: json!({"detail": {"error": message}}) }
    }
}
