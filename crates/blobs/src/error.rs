use std::error::Error;
use std::fmt;

/// Classification of errors by the possible reaction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BlobErrorKind {
    /// Storage is down, slow, overloaded or returns 5xx. The same call may succeed later. Implementations have already
    /// retried as configured.
    Unavailable,
    /// Credentials or policy deny access: the operator must act.
    Denied,
    /// The object exceeds the caller's size limit.
    TooLarge,
    /// The bytes are not those that were stored: their length or checksum differs. A retry rarely helps, and the operator
    /// must know.
    Corrupt,
    /// Invalid key (see [`check_key`](crate::check_key)), unexpected response, or failure to write a local file. A
    /// retry does not help.
    Failed,
}

impl fmt::Display for BlobErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Unavailable => "unavailable",
            Self::Denied => "access denied",
            Self::TooLarge => "object too large",
            Self::Corrupt => "object corrupt",
            Self::Failed => "failed",
        })
    }
}

/// Error of a store, with its cause as the source.
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

    /// Creates the error for an object of `size` bytes at `key` with a limit of `max_bytes`.
    pub fn too_large(key: &str, size: u64, max_bytes: u64) -> Self {
        Self::new(BlobErrorKind::TooLarge, format!("`{key}` has {size} bytes, more than the limit of {max_bytes}"))
    }
}
