//! The client library's errors as the seam's.

use engine::{EngineError, EngineErrorKind};
use meilisearch_sdk::errors::{Error, ErrorCode, ErrorType};

/// What failed, and what can be done about it.
pub fn from_client(doing: &str, error: Error) -> EngineError {
    let kind = match &error {
        Error::Meilisearch(refusal) => match (refusal.error_type, &refusal.error_code) {
            (_, ErrorCode::IndexNotFound) => EngineErrorKind::Corrupt,
            (ErrorType::InvalidRequest, _) => EngineErrorKind::Rejected,
            // A wrong key is the operator's to mend: what is waiting goes on waiting.
            _ => EngineErrorKind::Unavailable,
        },
        _ => EngineErrorKind::Unavailable,
    };
    EngineError::new(kind, format!("{doing} failed")).with_source(error)
}
