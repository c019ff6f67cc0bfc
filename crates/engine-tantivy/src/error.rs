use engine::{EngineError, EngineErrorKind};
use tantivy::TantivyError;
use tantivy::directory::error::OpenDirectoryError;

/// What a failure of the library means to a caller of the seam.
pub fn from_tantivy(error: TantivyError) -> EngineError {
    let kind = match &error {
        TantivyError::DataCorruption(_)
        | TantivyError::IncompatibleIndex(_)
        | TantivyError::OpenReadError(_)
        | TantivyError::SchemaError(_)
        | TantivyError::FieldNotFound(_) => EngineErrorKind::Corrupt,
        TantivyError::InvalidArgument(_) => EngineErrorKind::Rejected,
        _ => EngineErrorKind::Unavailable,
    };
    EngineError::new(kind, "the embedded index failed").with_source(error)
}

pub fn from_directory(error: OpenDirectoryError) -> EngineError {
    EngineError::new(EngineErrorKind::Unavailable, "the index folder does not open").with_source(error)
}

pub fn from_io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> EngineError {
    |error| EngineError::new(EngineErrorKind::Unavailable, what).with_source(error)
}
