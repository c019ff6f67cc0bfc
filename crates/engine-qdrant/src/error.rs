//! Conversion of client errors.

use engine::{EngineError, EngineErrorKind};
use qdrant_client::QdrantError;
use tonic::Code;

/// Converts an error of the client library. `action` names the operation that failed.
pub fn from_client(action: &str, error: QdrantError) -> EngineError {
    let kind = match code(&error) {
        Some(Code::NotFound) => EngineErrorKind::Corrupt,
        Some(Code::InvalidArgument | Code::OutOfRange) => EngineErrorKind::Rejected,
        // Includes a wrong key, which the operator has to fix, a precondition, such as a shard that the node does not know yet, and an
        // unknown method, which is a 404 of a proxy. Queued documents are retried, not dropped.
        _ => EngineErrorKind::Unavailable,
    };
    EngineError::new(kind, format!("{action} failed")).with_source(error)
}

pub fn unavailable(message: String) -> EngineError {
    EngineError::new(EngineErrorKind::Unavailable, message)
}

/// Returns true if the node does not have what the call names. One that was just started knows of no collection yet.
pub fn is_not_found(error: &QdrantError) -> bool {
    code(error) == Some(Code::NotFound)
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
                | Code::FailedPrecondition
                | Code::Unimplemented
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

#[cfg(test)]
mod tests {
    use tonic::Status;

    use super::*;

    #[test]
    fn only_invalid_requests_are_blamed_on_documents() {
        let of_nodes = [
            Code::Unavailable,
            Code::Internal,
            Code::Unknown,
            Code::Cancelled,
            Code::Aborted,
            Code::DeadlineExceeded,
            Code::ResourceExhausted,
            Code::FailedPrecondition,
            Code::Unimplemented,
        ];
        let others = [Code::AlreadyExists, Code::DataLoss, Code::PermissionDenied, Code::Unauthenticated];
        let of_nodes = of_nodes.map(|code| (code, EngineErrorKind::Unavailable, true));
        let others = others.map(|code| (code, EngineErrorKind::Unavailable, false));
        let rejected = [Code::InvalidArgument, Code::OutOfRange].map(|code| (code, EngineErrorKind::Rejected, false));
        let missing = [(Code::NotFound, EngineErrorKind::Corrupt, false)];
        for (code, kind, is_of_node) in of_nodes.into_iter().chain(others).chain(rejected).chain(missing) {
            let error = QdrantError::from(Status::new(code, "no"));
            assert_eq!(is_of_the_node(&error), is_of_node, "{code:?}");
            assert_eq!(is_not_found(&error), code == Code::NotFound, "{code:?}");
            assert_eq!(from_client("storing documents", error).kind, kind, "{code:?}");
        }
    }
}
