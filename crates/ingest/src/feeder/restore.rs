//! Rebuilds of indexes that do not have what the database says.

use model::IndexName;

use super::{FeedError, Feeder};

impl Feeder {
    /// Queues a rebuild of all indexes that are new, lost, damaged, of another version, or of another time than the database.
    pub async fn restore(&self) -> Result<(), FeedError> {
        let mut lost = Vec::new();
        for index in self.engine.needs_rebuild().await? {
            if self.acquire_lease(index).await? {
                lost.push(index);
            }
        }
        if !lost.is_empty() {
            self.keep_leases(&lost, self.start_over(&lost)).await?;
        }
        for index in IndexName::ALL {
            if !self.is_of_another_time(*index).await? || !self.acquire_lease(*index).await? {
                continue;
            }
            // Once more under the lease: a batch of another process may have been between its steps.
            if self.is_of_another_time(*index).await? {
                self.queue_all(*index, "of another time than the database").await?;
                self.adopt_generation(*index).await?;
            }
        }
        Ok(())
    }

    /// Queues the documents of lost indexes and creates the indexes anew.
    async fn start_over(&self, lost: &[IndexName]) -> Result<(), FeedError> {
        for index in lost {
            self.queue_all(*index, "new, lost, damaged or of another version").await?;
        }
        // The outbox now holds all the work, so a restart resumes the rebuild.
        self.engine.mark_rebuilt(lost).await?;
        for index in lost {
            self.adopt_generation(*index).await?;
        }
        Ok(())
    }

    /// Queues a rebuild, unless one is queued already: by a command, or by an attempt that failed later.
    async fn queue_all(&self, index: IndexName, reason: &str) -> Result<(), FeedError> {
        let documents = self.store.enqueue_missing_rebuild(index, self.clock.now()).await?;
        // A new index for a new database is not worth a warning.
        if documents > 0 {
            tracing::warn!(index = index.as_str(), documents, reason, "rebuilding the index from the database");
        }
        Ok(())
    }
}
