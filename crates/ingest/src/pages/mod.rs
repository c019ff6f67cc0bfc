//! Web pages read on demand.
//!
//! A page is read for one organization, which alone sees its content. Concurrent requests of the organization are merged
//! into one read, which stops when all of them have left. Pages that could not be read are not retried for a while. A
//! stored page keeps its content until the next successful read.

mod failure;
mod failure_cache;
mod pipeline;
mod reason;
pub mod single_flight;
mod source;

use std::sync::Arc;
use std::time::Duration;

use admission::Compute;
use docstore::{Docstore, StoreError};
use extract_worker::Extractor;
use fetcher::Fetcher;
use model::{CaptureId, Clock, DocId, OrganizationId, Timestamp};
use tokio::runtime::Handle;
use tracing::Instrument;

use failure::Failure;
use failure_cache::FailureCache;
use pipeline::PagePipeline;
pub use reason::UnreadableReason;
use single_flight::SingleFlight;
use source::PageSource;

use crate::scripted::Scripted;

/// Length of a text from which it is prepared in the background, and stored apart: about 20 ms of analysis.
const LONG_BYTES: usize = 512 << 10;

/// Returns true if there is no room for further pages.
pub type IsFull = Arc<dyn Fn() -> bool + Send + Sync>;

#[derive(Clone)]
pub struct PageReaderOptions {
    pub clock: Arc<dyn Clock>,
    /// Threads that prepare pages for storage.
    pub compute: Compute,
    /// Threads that prepare long pages, in the background.
    pub long_compute: Compute,
    /// While true, no page is read.
    pub is_full: IsFull,
    pub scripted: Scripted,
    /// Limit of the CPU time of extracting a page.
    pub extract_timeout: Duration,
    /// Minimum time before a page that could not be read is retried; longer if its server asks for it.
    pub failure_ttl: Duration,
}

/// Identity of a capture that a caller found too old. Of several callers with the same one, only the first fetches.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SeenCapture {
    pub capture_id: CaptureId,
    pub captured_at: Timestamp,
}

/// Identity of a page of one organization.
type PageKey = (OrganizationId, DocId);

/// A page to read.
#[derive(Clone, Debug)]
pub struct PageRequest {
    /// Organization that the content is stored for.
    pub organization_id: OrganizationId,
    pub doc_id: DocId,
    pub canonical_url: String,
    /// URL as given by the caller, tried if the canonical one is refused: some sites need parameters that canonicalization drops
    /// as tracking.
    pub given_url: Option<String>,
    /// Capture that the organization sees and that is too old; `None` if it sees none.
    pub seen: Option<SeenCapture>,
    /// Tries a page again that could not be read a moment ago, unless its server asked for more time.
    pub retries: bool,
}

/// Failure to capture a page.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PageError {
    /// The page cannot be fetched or has no text.
    #[error("the page cannot be read: {0}")]
    Unreadable(UnreadableReason),
    /// Too many pages are being read. Says nothing about this one, which may be read again at any time.
    #[error("too many pages are being read")]
    Overloaded { retry_after: Duration },
    /// There is no room for further pages. Says nothing about this one.
    #[error("the disk is almost full")]
    Full,
    #[error("the database failed")]
    Store(#[source] Arc<StoreError>),
    #[error("reading the page panicked")]
    Panicked,
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        PageError::Store(Arc::new(error))
    }
}

/// Fetches web pages, extracts markdown and stores it as captures.
pub struct PageReader {
    pipeline: Arc<PagePipeline>,
    failures: Arc<FailureCache>,
    is_full: IsFull,
    reads: SingleFlight<PageKey, Result<(), PageError>>,
    /// Runtime of the reads, which other requests may join.
    runtime: Handle,
}

impl PageReader {
    /// Must be called on a tokio runtime.
    pub fn new(store: Docstore, fetcher: Fetcher, extractor: Arc<dyn Extractor>, options: PageReaderOptions) -> Self {
        let PageReaderOptions { clock, compute, long_compute, is_full, scripted, extract_timeout, failure_ttl } =
            options;
        Self {
            failures: Arc::new(FailureCache::new(failure_ttl, Arc::clone(&clock))),
            pipeline: Arc::new(PagePipeline {
                store,
                source: PageSource::new(fetcher, extractor, scripted, extract_timeout),
                clock,
                compute,
                long_compute,
            }),
            is_full,
            reads: SingleFlight::default(),
            runtime: Handle::current(),
        }
    }

    /// Captures the page for the organization, unless it has stored a whole one newer than `request.seen` meanwhile. Dropping the
    /// future stops the read, unless another caller waits for it.
    ///
    /// # Errors
    /// [`PageError::Unreadable`], also without an attempt if a recent one failed. [`PageError::Overloaded`]. [`PageError::Full`].
    /// Stored content is kept.
    pub async fn read(&self, request: PageRequest) -> Result<(), PageError> {
        let key: PageKey = (request.organization_id, request.doc_id);
        if let Some(reason) = self.failures.get(&key, request.retries) {
            return Err(PageError::Unreadable(reason));
        }
        if (self.is_full)() {
            return Err(PageError::Full);
        }
        let outcome = self.reads.join(&key, || {
            let (pipeline, failures) = (Arc::clone(&self.pipeline), Arc::clone(&self.failures));
            let reading = async move {
                let outcome = pipeline.run(&request).await;
                outcome.map_err(|failure| {
                    if let Some(cause) = failure.cause {
                        failures.insert(key, cause);
                    }
                    failure.error
                })
            };
            self.runtime.spawn(trace_context::carried(reading).in_current_span())
        });
        outcome.outcome().await.unwrap_or(Err(PageError::Panicked))
    }
}
