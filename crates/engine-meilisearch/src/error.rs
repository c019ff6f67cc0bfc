//! Conversion of client errors.

use engine::{EngineError, EngineErrorKind};
use meilisearch_sdk::errors::{Error, ErrorCode, ErrorType};

/// Converts an error of the client library. `action` names the operation that failed.
pub fn from_client(action: &str, error: Error) -> EngineError {
    let kind = match &error {
        Error::Meilisearch(response) => match (response.error_type, &response.error_code) {
            // Filters and facets are refused while a lost index has no settings yet: all are on fields that the settings name.
            (_, ErrorCode::IndexNotFound | ErrorCode::InvalidSearchFilter | ErrorCode::InvalidSearchFacets) => {
                EngineErrorKind::Corrupt
            }
            // The server may prune a finished task between two polls, so that its outcome is unknown.
            (_, ErrorCode::TaskNotFound) => EngineErrorKind::Unavailable,
            (ErrorType::InvalidRequest, _) => EngineErrorKind::Rejected,
            // Includes a wrong key, which the operator has to fix. Queued documents are retried, not dropped.
            _ => EngineErrorKind::Unavailable,
        },
        _ => EngineErrorKind::Unavailable,
    };
    EngineError::new(kind, format!("{action} failed")).with_source(error)
}

#[cfg(test)]
mod tests {
    use meilisearch_sdk::errors::MeilisearchError;

    use super::*;

    #[test]
    fn only_invalid_requests_are_blamed_on_documents() {
        for (error_type, error_code, kind) in [
            (ErrorType::InvalidRequest, ErrorCode::IndexNotFound, EngineErrorKind::Corrupt),
            (ErrorType::InvalidRequest, ErrorCode::InvalidSearchFilter, EngineErrorKind::Corrupt),
            (ErrorType::InvalidRequest, ErrorCode::InvalidSearchFacets, EngineErrorKind::Corrupt),
            (ErrorType::InvalidRequest, ErrorCode::TaskNotFound, EngineErrorKind::Unavailable),
            (ErrorType::InvalidRequest, ErrorCode::InvalidDocumentId, EngineErrorKind::Rejected),
            (ErrorType::Auth, ErrorCode::InvalidApiKey, EngineErrorKind::Unavailable),
            (ErrorType::Internal, ErrorCode::InternalError, EngineErrorKind::Unavailable),
            (ErrorType::Unknown, ErrorCode::NoSpaceLeftOnDevice, EngineErrorKind::Unavailable),
        ] {
            let (error_message, error_link) = (error_code.to_string(), String::new());
            let error = MeilisearchError { error_message, error_code, error_type, error_link };
            let error = from_client("indexing documents", Error::Meilisearch(error));
            assert_eq!(error.kind, kind, "{:?}", error.source);
        }
    }
}
