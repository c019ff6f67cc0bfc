//! Pages of the web, read when somebody asks for them.
//!
//! Many who want one page make one fetch, which goes on when they leave. What could not be read is left alone for a
//! while. A page that was read before keeps its content until it is read again with success.

mod failures;
mod flights;
mod reading;

use std::sync::Arc;
use std::time::Duration;

use docstore::{Docstore, StoreError};
use extract_worker::Extractor;
use fetcher::Fetcher;
use model::{CaptureId, Clock, Timestamp};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use failures::Failures;
use flights::Flights;
use reading::Reading;

#[derive(Clone)]
pub struct PageReaderOptions {
    pub clock: Arc<dyn Clock>,
    /// Pages that are read at a time; more wait for as long as one may take. Bounds the memory that pages take.
    pub concurrent: usize,
    /// Time for making markdown of a page, waiting for a free worker included.
    pub extract_timeout: Duration,
    /// How long a page that could not be read is left alone; longer where its server asks for it.
    pub failure_ttl: Duration,
}

/// The capture that a reader found too old, so that of several who found the same one fetches.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Seen {
    pub capture_id: CaptureId,
    pub captured_at: Timestamp,
}

/// A page to read.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub canonical_url: String,
    /// The address as it was given. It is tried where the canonical one is answered with an error: there are sites to
    /// whom a parameter says more than where a visitor came from.
    pub given_url: Option<String>,
    /// `None` where nothing is stored of it.
    pub seen: Option<Seen>,
}

/// Why a page has no new capture.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PageError {
    /// It cannot be fetched, or there is no text in it. Why is in the log alone: the reasons map the network that this
    /// service runs in.
    #[error("the page cannot be read")]
    Unreadable,
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

/// Fetches pages, makes markdown of them and stores it as captures of the shared web.
pub struct PageReader {
    reading: Arc<Reading>,
    failures: Arc<Failures>,
    flights: Flights<Result<(), PageError>>,
    /// Pages are read on this runtime, whatever runtime a reader is on.
    runtime: Handle,
}

impl PageReader {
    /// Must be called on a tokio runtime.
    pub fn new(store: Docstore, fetcher: Fetcher, extractor: Arc<dyn Extractor>, options: PageReaderOptions) -> Self {
        let PageReaderOptions { clock, concurrent, extract_timeout, failure_ttl } = options;
        let turns = Semaphore::new(concurrent.max(1));
        Self {
            failures: Arc::new(Failures::new(failure_ttl, Arc::clone(&clock))),
            reading: Arc::new(Reading { store, fetcher, extractor, clock, extract_timeout, turns }),
            flights: Flights::default(),
            runtime: Handle::current(),
        }
    }

    /// Makes a new capture of the page, unless there is another than the one that was seen by now.
    ///
    /// # Errors
    /// [`PageError::Unreadable`] also without any attempt, shortly after one that failed. What is stored of the page
    /// stays.
    pub async fn read(&self, wanted: Wanted) -> Result<(), PageError> {
        if self.failures.knows(&wanted.canonical_url) {
            return Err(PageError::Unreadable);
        }
        let key = wanted.canonical_url.clone();
        let flight = self.flights.join(&key, || {
            let (reading, failures) = (Arc::clone(&self.reading), Arc::clone(&self.failures));
            self.runtime.spawn(async move {
                let outcome = reading.read(&wanted).await;
                outcome.map_err(|failure| {
                    if let Some(cause) = failure.cause {
                        failures.remember(wanted.canonical_url, &cause);
                    }
                    failure.error
                })
            })
        });
        flight.await.unwrap_or(Err(PageError::Panicked))
    }
}
