//! Requests, hits and documents.

use std::time::Duration;

use api_types::{DocumentResponse, SearchRequest, SearchResult};
use compat::{
    Failure, FailureKind, ForeignRequest, ForeignSearch, Hit, Moment, ReadOutcome, Refusal, SearchPlan, parse,
};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::macros::datetime;
use uuid::Uuid;

pub const NOW: OffsetDateTime = datetime!(2026-06-15 12:00 UTC);
pub const URL: &str = "https://example.com/tides";

pub fn asked<T: ForeignRequest>(body: Value) -> Result<T, Refusal> {
    parse(body.to_string().as_bytes(), T::UNSUPPORTED)
}

pub fn plan<T: ForeignSearch>(body: Value) -> Result<SearchPlan, Refusal> {
    asked::<T>(body)?.plan(NOW)
}

/// The search of a request that is not refused.
#[track_caller]
pub fn search<T: ForeignSearch>(body: Value) -> SearchRequest {
    plan::<T>(body).unwrap().search(Some(Uuid::nil()))
}

/// The field of a refused search.
#[track_caller]
pub fn refused<T: ForeignSearch>(body: Value) -> String {
    plan::<T>(body).unwrap_err().field
}

pub fn moment() -> Moment {
    Moment { started_at: NOW, elapsed: Duration::from_millis(250), request_id: Uuid::nil() }
}

pub fn result() -> SearchResult {
    let passage = |n: u32| json!({"passage_id": Uuid::nil(), "doc_id": Uuid::nil(), "ordinal": n, "text": format!("Passage {n}.\n")});
    let passages: Vec<Value> = (1..=3).map(passage).collect();
    let result = json!({
        "rank": 1, "doc_id": Uuid::nil(), "canonical_url": URL, "title": "Tides", "snippet": "The moon.",
        "passages": passages, "score": {"value": 0.5}, "metadata": {"published_at": "2026-01-05T00:00:00Z"},
    });
    serde_json::from_value(result).unwrap()
}

/// A result without any optional field.
pub fn bare() -> SearchResult {
    serde_json::from_value(json!({"rank": 1, "doc_id": Uuid::nil(), "canonical_url": URL})).unwrap()
}

pub fn hit(documents: Vec<ReadOutcome>) -> Hit {
    Hit { result: result(), documents }
}

fn response(content: Value, warnings: Value) -> DocumentResponse {
    let response = json!({
        "request_id": Uuid::nil(), "session_id": "", "warnings": warnings,
        "access": {"rate_limit": {"limit_rps": 1, "remaining": 1, "reset_at": ""}},
        "doc": {
            "doc_id": Uuid::nil(), "canonical_url": URL, "source_url": URL, "title": "Tides",
            "first_seen_at": "2026-06-01T00:00:00Z", "last_seen_at": "2026-06-01T00:00:00Z",
        },
        "provenance": {"capture_id": Uuid::nil(), "capture_time": "2026-06-15T10:00:00Z"},
        "passages": [{"passage_id": Uuid::nil(), "doc_id": Uuid::nil(), "ordinal": 0, "text": "The moon moves them."}],
    });
    let mut response: DocumentResponse = serde_json::from_value(response).unwrap();
    response.content = serde_json::from_value(content).unwrap();
    response
}

/// A document that was captured two hours ago.
pub fn document() -> ReadOutcome {
    let content = json!({
        "selection": "full_document", "format": "markdown", "text": "# Tides", "truncated": false, "char_count": 7,
    });
    Ok(response(content, json!([])))
}

/// A document that is older than the request permits and could not be read again.
pub fn stale() -> ReadOutcome {
    let mut stale = document();
    if let Ok(document) = &mut stale {
        let warning =
            json!({"code": "stale_content", "message": "the content is old", "details": {"reason": "timeout"}});
        document.warnings = vec![serde_json::from_value(warning).unwrap()];
    }
    stale
}

/// A page that cannot be read.
pub fn unreadable(details: Value) -> ReadOutcome {
    let warning =
        json!({"code": "content_unavailable", "message": "the content could not be fetched", "details": details});
    Ok(response(Value::Null, json!([warning])))
}

pub fn invalid() -> ReadOutcome {
    Err(Failure { kind: FailureKind::Invalid, message: "no URL".to_owned() })
}
