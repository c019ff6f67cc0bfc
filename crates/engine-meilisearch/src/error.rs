//! Conversion of client errors.

use engine::{EngineError, EngineErrorKind};
use meilisearch_sdk::errors::{Error, ErrorCode, ErrorType};

/// Converts an error of the client library. `action` names the operation that failed.
pub fn from_client(action: &str, error: Error) -> EngineError {
    let kind = match &error {
        Error::Meilisearch(response) => match (response.error_type, &response.error_code) {
            // A filter is refused while a lost index has no settings yet: all filters are on fields that the settings name.
            (_, ErrorCode::IndexNotFound | ErrorCode::InvalidSearchFilter) => EngineErrorKind::Corrupt,
            (ErrorType::InvalidRequest, _) => EngineErrorKind::Rejected,
            // Includes a wrong key, which the operator has to fix. Queued documents are retried, not dropped.
            _ => EngineErrorKind::Unavailable,
        },
        _ => EngineErrorKind::Unavailable,
    };
    EngineError::new(kind, format!("{action} failed")).with_source(error)
}
