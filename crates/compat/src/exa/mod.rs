//! Exa: `/search` and `/contents`.

mod contents;
mod options;
mod search;

use api_types::ErrorCode;
use serde_json::json;
use uuid::Uuid;

pub use contents::ContentsRequest;
pub use search::SearchRequest;

use crate::{ErrorReply, Service};

/// The service's errors and names.
pub struct Exa;

impl Service for Exa {
    const FIELDS: &'static [(&'static str, &'static str)] = &[
        ("source_policy.include_domains", "includeDomains"),
        ("source_policy.exclude_domains", "excludeDomains"),
        ("freshness_policy.published_after", "startPublishedDate"),
        ("search_queries", "additionalQueries"),
        ("canonical_url", "urls"),
    ];

    fn error(code: ErrorCode, message: &str, request_id: Uuid) -> ErrorReply {
        let mut body = json!({"requestId": request_id, "error": message});
        if let Some(tag) = tag(code) {
            body["tag"] = tag.into();
        }
        ErrorReply { status: code.status(), body }
    }
}

/// Returns the kind of an error. The original names none of an unknown path or a wrong method.
fn tag(code: ErrorCode) -> Option<&'static str> {
    Some(match code {
        ErrorCode::MissingApiKey | ErrorCode::InvalidApiKey => "INVALID_API_KEY",
        ErrorCode::InsufficientBalance => "NO_MORE_CREDITS",
        ErrorCode::InsufficientScope => "ACCESS_DENIED",
        ErrorCode::RateLimited => "RATE_LIMIT_EXCEEDED",
        ErrorCode::NotFound | ErrorCode::MethodNotAllowed => return None,
        ErrorCode::ProviderUnavailable | ErrorCode::RetrievalNotConfigured | ErrorCode::Overloaded => {
            "SERVICE_UNAVAILABLE"
        }
        _ if code.status() < 500 => "INVALID_REQUEST_BODY",
        _ => "INTERNAL_ERROR",
    })
}
