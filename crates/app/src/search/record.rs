//! Batched writes of ranked lists: one transaction stores all searches that end while the previous one commits.
//!
//! A transaction costs the database about as much for twenty lists as for one, and each commit invalidates pages of the
//! database file that readers have cached.

use std::sync::Arc;

use docstore::{Docstore, Grant, Search, StoreError};
use ingest::Supervisor;
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::error::{Error, Result};

/// Maximum number of queued lists; further searches wait for capacity.
const QUEUE: usize = 256;
/// Maximum number of lists in one transaction.
const BATCH: usize = 64;

struct EndedSearch {
    search: Search,
    granted: Vec<Grant>,
    recorded: oneshot::Sender<Result<(), StoreError>>,
}

/// Writes ranked lists in the order of arrival.
pub struct SearchRecorder {
    queue: mpsc::Sender<EndedSearch>,
}

impl SearchRecorder {
    /// Starts the writer, which stops when the recorder is dropped. Must be called on a runtime.
    pub fn start(store: Docstore, supervisor: &Supervisor) -> Self {
        let (queue, ended) = mpsc::channel(QUEUE);
        // Outlives a panic of the writer, with the queued searches.
        let ended = Arc::new(Mutex::new(ended));
        supervisor.spawn("recorder", move || {
            let (store, ended) = (store.clone(), Arc::clone(&ended));
            async move { write(&store, &mut *ended.lock().await).await }
        });
        Self { queue }
    }

    /// Returns once the list is stored.
    pub async fn record(&self, search: Search, granted: Vec<Grant>) -> Result<()> {
        let (recorded, outcome) = oneshot::channel();
        self.queue.send(EndedSearch { search, granted, recorded }).await.map_err(|_| stopped())?;
        Ok(outcome.await.map_err(|_| stopped())??)
    }
}

fn stopped() -> Error {
    Error::internal(std::io::Error::other("the search recorder stopped"))
}

async fn write(store: &Docstore, ended: &mut mpsc::Receiver<EndedSearch>) {
    let mut batch = Vec::with_capacity(BATCH);
    while ended.recv_many(&mut batch, BATCH).await > 0 {
        let searches = batch.iter().map(|one: &EndedSearch| one.search.clone()).collect();
        let granted = batch.iter().flat_map(|one| one.granted.iter().cloned()).collect();
        let together = store.record_searches(searches, granted).await;
        for EndedSearch { search, granted, recorded } in batch.drain(..) {
            let outcome = match &together {
                Ok(()) => Ok(()),
                Err(StoreError::Unavailable(why)) => Err(StoreError::Unavailable(why.clone())),
                // A list that cannot be stored must not fail the others.
                Err(_) => store.record_searches(vec![search], granted).await,
            };
            // The caller may have disconnected; the list is stored regardless.
            let _ = recorded.send(outcome);
        }
    }
}
