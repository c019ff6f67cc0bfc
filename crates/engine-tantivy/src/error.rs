use engine::{EngineError, EngineErrorKind};
use tantivy::TantivyError;
use tantivy::directory::error::{OpenDirectoryError, OpenReadError};

/// Converts an error of tantivy.
pub fn from_tantivy(error: TantivyError) -> EngineError {
    let kind = match &error {
        // An error of the operating system, such as too many open files, is no damage.
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. }) if io_error.raw_os_error().is_some() => {
            EngineErrorKind::Unavailable
        }
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

/// Converts an error of opening an index, where an I/O error that the operating system does not know comes from reading damaged files.
pub fn from_opening(error: TantivyError) -> EngineError {
    let is_damage = matches!(&error, TantivyError::IoError(error) if error.raw_os_error().is_none());
    let mut error = from_tantivy(error);
    if is_damage {
        error.kind = EngineErrorKind::Corrupt;
    }
    error
}

pub fn from_directory(error: OpenDirectoryError) -> EngineError {
    EngineError::new(EngineErrorKind::Unavailable, "cannot open the index directory").with_source(error)
}

pub fn from_io(message: impl Into<String>) -> impl FnOnce(std::io::Error) -> EngineError {
    |error| EngineError::new(EngineErrorKind::Unavailable, message).with_source(error)
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::*;

    #[test]
    fn damaged_files_are_told_from_those_that_cannot_be_opened() {
        let kind = |error| from_tantivy(OpenReadError::wrap_io_error(error, "segment.idx".into()).into()).kind;
        assert_eq!(kind(ErrorKind::UnexpectedEof.into()), EngineErrorKind::Corrupt);
        let too_many_open_files = Error::from_raw_os_error(24);
        assert_eq!(kind(too_many_open_files), EngineErrorKind::Unavailable);
    }

    #[test]
    fn index_that_cannot_be_decoded_is_damaged_and_one_that_cannot_be_read_is_not() {
        let kind = |error: Error| from_opening(error.into()).kind;
        assert_eq!(kind(Error::other("unknown format")), EngineErrorKind::Corrupt);
        assert_eq!(kind(Error::from_raw_os_error(5)), EngineErrorKind::Unavailable);
    }
}
