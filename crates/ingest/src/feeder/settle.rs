//! Batches that the engine may have received after another process took the index over.
//!
//! The other process may have applied newer contents before and completed their outbox entries, so the documents of such a batch are
//! queued again.

use std::sync::{MutexGuard, PoisonError};

use docstore::OutboxWork;
use model::{DocId, Generation, IndexName};

use super::{FeedError, Feeder, Ownership};

/// Batch that is sent to the engine.
pub(super) struct Sent {
    pub index: IndexName,
    /// Generation that the index has since the batch started.
    pub generation: Generation,
    pub work: Vec<OutboxWork>,
}

impl Feeder {
    /// Sends a batch to the engine under the lease, which was acquired just now, and completes its outbox entries. Returns false if
    /// another process took the index over meanwhile.
    pub(super) async fn send(
        &self,
        batch: Sent,
        sending: impl Future<Output = Result<(), FeedError>>,
        entries: Vec<i64>,
        unembedded: Vec<DocId>,
    ) -> Result<bool, FeedError> {
        let sent = match self.keep_lease(batch.index, sending).await {
            Ok(()) => self.complete(&batch, entries, unembedded).await,
            Err(error) => Err(error),
        };
        if sent.is_err() && self.ownership == Ownership::Leased {
            self.unsettled().push(batch);
            if let Err(error) = self.settle().await {
                // The next pass tries again.
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "a failed batch was not checked for a takeover"
                );
            }
        }
        sent
    }

    /// Queues the documents of batches that ended in an error again, if another process may have taken over since they were sent.
    ///
    /// A pass begins with it, and ends for an index with an error, so there is at most one such batch of each index.
    pub(super) async fn settle(&self) -> Result<(), FeedError> {
        loop {
            let Some(batch) = self.unsettled().pop() else { return Ok(()) };
            if let Err(error) = self.queue_if_overtaken(&batch).await {
                self.unsettled().push(batch);
                return Err(error);
            }
        }
    }

    async fn queue_if_overtaken(&self, batch: &Sent) -> Result<(), FeedError> {
        if self.acquire_lease(batch.index).await? {
            // Its own entries are pending, unless another process has started a batch since.
            self.complete(batch, Vec::new(), Vec::new()).await?;
        } else {
            // The other process may read the documents before it starts its batch.
            self.store.enqueue_again(batch.index, batch.work.clone(), self.clock.now()).await?;
            report_overtaken(batch);
        }
        Ok(())
    }

    /// Records that the index is in the generation of a batch, and that these entries are done. Returns false if another process has
    /// taken over: then the batch is queued again.
    async fn complete(&self, batch: &Sent, entries: Vec<i64>, unembedded: Vec<DocId>) -> Result<bool, FeedError> {
        let Sent { index, generation, work } = batch;
        let now = self.clock.now();
        let completing = self.store.complete_generation(*index, *generation, entries, work.clone(), unembedded, now);
        let is_current = completing.await?;
        if !is_current {
            report_overtaken(batch);
        }
        Ok(is_current)
    }

    fn unsettled(&self) -> MutexGuard<'_, Vec<Sent>> {
        self.unsettled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn report_overtaken(batch: &Sent) {
    tracing::warn!(
        index = batch.index.as_str(),
        entries = batch.work.len(),
        "another process took the index over during a batch, which is queued again"
    );
}
