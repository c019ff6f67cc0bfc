use std::error::Error;
use std::fmt;

/// What a caller can do about it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BlobErrorKind {
    /// Storage is down, slow, overloaded or answers 5xx: the same call may succeed later. Adapters have already
    /// retried for as long as they are configured to.
    Unavailable,
    /// Credentials or policy refuse us: the operator must act.
    Denied,
    /// The object is larger than the caller allowed.
    TooLarge,
    /// The key is not one that every store can hold (see [`check_key`](crate::check_key)), storage answered what we
    /// do not understand, or a local file could not be written. Trying again does not help.
    Failed,
}

impl fmt::Display for BlobErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Unavailable => "unavailable",
            Self::Denied => "access denied",
            Self::TooLarge => "object too large",
            Self::Failed => "failed",
        })
    }
}

/// A failure of the store, with its cause as the source.
#[derive(Debug, thiserror::Error)]
#[error("object storage: {kind}: {message}")]
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

    /// The object at `key` has `size` bytes and the caller took at most `max_bytes`.
    pub fn too_large(key: &str, size: u64, max_bytes: u64) -> Self {
        Self::new(BlobErrorKind::TooLarge, format!("`{key}` has {size} bytes, more than the {max_bytes} allowed"))
    }
}
