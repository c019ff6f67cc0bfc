//! Conversion of client errors.

use engine::{EngineError, EngineErrorKind};
use qdrant_client::QdrantError;
use tonic::Code;

/// Converts an error of the client library. `action` names the operation that failed.
pub fn from_client(action: &str, error: QdrantError) -> EngineError {
    let kind = match code(&error) {
        Some(Code::NotFound) => EngineErrorKind::Corrupt,
        Some(Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange | Code::Unimplemented) => {
            EngineErrorKind::Rejected
        }
        // Includes a wrong key, which the operator has to fix. Queued documents are retried, not dropped.
        _ => EngineErrorKind::Unavailable,
    };
    EngineError::new(kind, format!("{action} failed")).with_source(error)
}

pub fn unavailable(message: String) -> EngineError {
    EngineError::new(EngineErrorKind::Unavailable, message)
}

/// Returns true if another node may answer what this one could not.
pub fn is_of_the_node(error: &QdrantError) -> bool {
    match code(error) {
        Some(code) => matches!(
            code,
            Code::Unavailable
                | Code::Internal
                | Code::Unknown
                | Code::Cancelled
                | Code::Aborted
                | Code::DeadlineExceeded
                | Code::ResourceExhausted
        ),
        None => matches!(error, QdrantError::Io(_)),
    }
}

fn code(error: &QdrantError) -> Option<Code> {
    match error {
        QdrantError::ResponseError { status } | QdrantError::ResourceExhaustedError { status, .. } => {
            Some(status.code())
        }
        _ => None,
    }
}
