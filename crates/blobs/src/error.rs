use std::error::Error;

/// What a caller can do about it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BlobErrorKind {
    /// Storage is down, slow or answers 5xx: try again later.
    Unavailable,
    /// Credentials or policy refuse us: the operator must act.
    Denied,
    /// The object is larger than the caller allowed.
    TooLarge,
    /// Storage answered what we do not understand, or a local file could not be written.
    Failed,
}

/// A failure of the store, with its cause as the source.
#[derive(Debug, thiserror::Error)]
#[error("object storage {kind:?}: {message}")]
pub struct BlobError {
    pub kind: BlobErrorKind,
    pub message: String,
    #[source]
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

impl BlobError {
    pub fn new(kind: BlobErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}
