use std::time::Duration;

use admission::Overloaded;
use extract::ExtractError;

/// Reason for a document without content.
#[derive(Clone, Debug, thiserror::Error)]
pub enum WorkError {
    /// The document cannot be read.
    #[error(transparent)]
    Document(#[from] ExtractError),
    /// Too many documents wait for a worker, or other work had the cores. Says nothing about this one.
    #[error("no extraction worker is free")]
    Overloaded { retry_after: Duration },
    /// No worker could be started, the input could not be read, or the pool has been shut down. Says nothing about this document.
    #[error("extraction is unavailable: {0}")]
    Unavailable(String),
    /// The file takes long and others wait: it starts again in [`Lane::PostponedRuns`](crate::Lane::PostponedRuns).
    #[error("other files come first")]
    Postponed,
}

impl From<Overloaded> for WorkError {
    fn from(refused: Overloaded) -> Self {
        WorkError::Overloaded { retry_after: refused.retry_after }
    }
}
