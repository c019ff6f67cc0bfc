use engine::{EngineError, EngineErrorKind};
use tantivy::TantivyError;
use tantivy::directory::error::OpenDirectoryError;

/// Converts an error of tantivy.
pub fn from_tantivy(error: TantivyError) -> EngineError {
    let kind = match &error {
        TantivyError::DataCorruption(_)
        | TantivyError::IncompatibleIndex(_)
        | TantivyError::OpenReadError(_)
        | TantivyError::SchemaError(_)
        | TantivyError::FieldNotFound(_) => EngineErrorKind::Corrupt,
        TantivyError::InvalidArgument(_) => EngineErrorKind::Rejected,
        TantivyError::ErrorInThread(_) => EngineErrorKind::Panicked,
        _ => EngineErrorKind::Unavailable,
    };
    EngineError::new(kind, "embedded index failed").with_source(error)
}

pub fn from_directory(error: OpenDirectoryError) -> EngineError {
    EngineError::new(EngineErrorKind::Unavailable, "cannot open the index directory").with_source(error)
}

pub fn from_io(message: impl Into<String>) -> impl FnOnce(std::io::Error) -> EngineError {
    |error| EngineError::new(EngineErrorKind::Unavailable, message).with_source(error)
}
