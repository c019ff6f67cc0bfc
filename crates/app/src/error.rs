use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use admission::Overloaded;
use blobs::{BlobError, BlobErrorKind};
use docstore::StoreError;
use engine::{EngineError, EngineErrorKind};

/// The boxed cause of an error.
pub type BoxError = Box<dyn StdError + Send + Sync>;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Failure of a use case. The HTTP layer maps each variant to one error code.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Invalid value in the request. `field` is a dotted path.
    #[error("{message}")]
    Invalid { field: String, message: String },
    #[error("the document does not exist or is not granted to this organization")]
    DocumentNotFound,
    #[error("the search does not exist or belongs to another organization")]
    SearchNotFound,
    #[error("the indexing run does not exist or belongs to another organization")]
    SyncNotFound,
    #[error("no file has this name")]
    FileNotFound,
    #[error("no API key of this organization has this id")]
    KeyNotFound,
    /// The credential was revoked or has expired since the request was admitted.
    #[error("the credential is no longer valid")]
    InvalidCredential,
    #[error("no webhook of this organization has this id")]
    WebhookNotFound,
    #[error("no crawl has the name `{name}`")]
    CrawlNotFound { name: String },
    #[error("the research run does not exist or belongs to another organization")]
    ResearchNotFound,
    #[error("the organization has {limit} research runs in progress, which is the limit")]
    ResearchConcurrency { limit: u32 },
    #[error("the organization has {limit} requests that wait for research runs, which is the limit")]
    ResearchReaders { limit: usize },
    #[error("the file has {size} bytes; the maximum is {max_object_bytes}")]
    FileTooLarge { size: u64, max_object_bytes: u64 },
    #[error("files of type `{extension}` are not supported; supported are {supported}")]
    UnsupportedFileType { extension: String, supported: String },
    #[error("the prepaid balance does not cover this search")]
    InsufficientBalance,
    #[error("{0}")]
    QuotaExceeded(Quota),
    /// A backend that the request needs is unavailable; retries may succeed.
    #[error("the {backend} backend is unavailable")]
    Unavailable {
        backend: &'static str,
        #[source]
        source: BoxError,
    },
    /// The deployment runs without a search index.
    #[error("this deployment has no retrieval configured")]
    NoRetrieval,
    /// Too much work is waiting, or the request took too long.
    #[error("{message}")]
    Overloaded { message: String, retry_after: Duration },
    /// Bug or broken invariant. The cause is logged and never sent to the caller.
    #[error("internal error")]
    Internal(#[source] BoxError),
}

/// Limit that a request would exceed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Quota {
    #[error("the organization has {used} files; the quota is {limit}")]
    Files { used: u64, limit: u64 },
    #[error("the file has {size} bytes, and the organization has {used}; the quota is {limit}")]
    Bytes { size: u64, used: u64, limit: u64 },
    #[error("the organization has {used} valid API keys; the quota is {limit}")]
    Keys { used: u64, limit: u64 },
    #[error("{used} API keys of the organization were created in the last 24 hours; the quota is {limit}")]
    DailyKeys { used: u64, limit: u64 },
    #[error("the organization has {limit} webhooks, which is the quota")]
    Webhooks { limit: u64 },
    /// The server has too little free disk space.
    #[error("the disk of the server is almost full: uploads, indexing and research are paused, searches continue")]
    Disk,
}

impl Error {
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Error::Invalid { field: field.into(), message: message.into() }
    }

    pub fn internal(source: impl Into<BoxError>) -> Self {
        Error::Internal(source.into())
    }

    /// Returns true if the database was unavailable, or aborted a transaction.
    pub fn is_database_outage(&self) -> bool {
        let Error::Internal(source) = self else { return false };
        let shared = || source.downcast_ref::<Arc<StoreError>>().map(Arc::as_ref);
        let error = source.downcast_ref::<StoreError>().or_else(shared);
        matches!(error, Some(StoreError::Unavailable(_) | StoreError::Aborted(_)))
    }

    /// Returns true if the request failed through no fault of the caller.
    pub fn is_server_fault(&self) -> bool {
        matches!(self, Error::Unavailable { .. } | Error::NoRetrieval | Error::Overloaded { .. } | Error::Internal(_))
    }
}

impl From<Overloaded> for Error {
    fn from(refused: Overloaded) -> Self {
        Error::Overloaded { message: format!("the server is busy: {refused}"), retry_after: refused.retry_after }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Error::internal(error)
    }
}

impl From<Arc<StoreError>> for Error {
    fn from(error: Arc<StoreError>) -> Self {
        Error::internal(error)
    }
}

impl From<BlobError> for Error {
    fn from(error: BlobError) -> Self {
        match error.kind {
            BlobErrorKind::Unavailable => Error::Unavailable { backend: "storage", source: error.into() },
            BlobErrorKind::Denied | BlobErrorKind::TooLarge | BlobErrorKind::Corrupt | BlobErrorKind::Failed => {
                Error::internal(error)
            }
        }
    }
}

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Self {
        match error.kind {
            // A corrupt index is being rebuilt and will be available again.
            EngineErrorKind::Unavailable | EngineErrorKind::Corrupt => {
                Error::Unavailable { backend: "search", source: error.into() }
            }
            EngineErrorKind::Rejected | EngineErrorKind::Panicked => Error::internal(error),
        }
    }
}
