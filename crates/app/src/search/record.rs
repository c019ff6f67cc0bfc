//! Ranked lists written together: one transaction for all searches that end while the one before is being written.
//!
//! A transaction costs the database as much for one list as for twenty, and each makes its readers look again at what
//! they know of the file.

use docstore::{Docstore, Grant, Search, StoreError};
use tokio::sync::{mpsc, oneshot};

use crate::error::{Error, Result};

/// Lists that wait at most; who comes then waits for a place.
const QUEUE: usize = 256;
/// Lists of one transaction.
const BATCH: usize = 64;

struct Ended {
    search: Search,
    granted: Vec<Grant>,
    recorded: oneshot::Sender<Result<(), StoreError>>,
}

/// Writes ranked lists, in the order that they come.
pub struct SearchRecorder {
    queue: mpsc::Sender<Ended>,
}

impl SearchRecorder {
    /// Works until it is dropped. Must be called on a runtime.
    pub fn start(store: Docstore) -> Self {
        let (queue, ended) = mpsc::channel(QUEUE);
        tokio::spawn(write(store, ended));
        Self { queue }
    }

    /// Returns once the list is stored.
    pub async fn record(&self, search: Search, granted: Vec<Grant>) -> Result<()> {
        let (recorded, outcome) = oneshot::channel();
        self.queue.send(Ended { search, granted, recorded }).await.map_err(|_| gone())?;
        Ok(outcome.await.map_err(|_| gone())??)
    }
}

fn gone() -> Error {
    Error::internal(std::io::Error::other("the recorder of searches is gone"))
}

async fn write(store: Docstore, mut ended: mpsc::Receiver<Ended>) {
    let mut batch = Vec::with_capacity(BATCH);
    while ended.recv_many(&mut batch, BATCH).await > 0 {
        let searches = batch.iter().map(|one: &Ended| one.search.clone()).collect();
        let granted = batch.iter().flat_map(|one| one.granted.iter().cloned()).collect();
        let together = store.record_searches(searches, granted).await;
        for Ended { search, granted, recorded } in batch.drain(..) {
            let outcome = match &together {
                Ok(()) => Ok(()),
                Err(StoreError::Unavailable(why)) => Err(StoreError::Unavailable(why.clone())),
                // One list that cannot be stored does not fail the others.
                Err(_) => store.record_searches(vec![search], granted).await,
            };
            // Whoever no longer listens has given up on its answer, not on the list.
            let _ = recorded.send(outcome);
        }
    }
}
