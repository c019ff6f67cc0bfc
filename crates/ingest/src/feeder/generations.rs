//! Generations: an index and a database of different times are told from each other.
//!
//! Every batch moves the index to a new random generation, which both sides store. The database writes down the step before
//! the index takes it, so at any crash the index is in a generation that the database knows. After a restore of one of them
//! it is not, and the index is rebuilt.

use model::{Generation, IndexName};
use uuid::Uuid;

use super::{FeedError, Feeder};

impl Feeder {
    /// Starts a batch that follows the `previous` generation: stores the one that it leads to, first in the database and then
    /// in the index. Renews the lease.
    ///
    /// # Errors
    /// `LeaseLost` if another process has moved the index on or holds the lease.
    pub(super) async fn start_generation(
        &self,
        index: IndexName,
        previous: Option<Generation>,
    ) -> Result<Generation, FeedError> {
        let current = self.engine.generation(index).await?;
        if !self.store.find_index_generations(index).await?.include(current) {
            return Err(FeedError::UnknownGeneration(index));
        }
        if current != previous {
            return Err(FeedError::LeaseLost(index));
        }
        // The batch may have waited for longer than the lease. To move the index on would spoil the batch that its holder reads.
        self.require_lease(index).await?;
        let generation = self.move_to_new_generation(index, current).await?;
        // The engine may have had other work before this step.
        self.require_lease(index).await?;
        Ok(generation)
    }

    /// Makes both sides agree on a new generation, whatever they had before. Call it once all documents are queued.
    pub(super) async fn adopt_generation(&self, index: IndexName) -> Result<(), FeedError> {
        let current = self.engine.generation(index).await?;
        let generation = self.move_to_new_generation(index, current).await?;
        self.store.complete_generation(index, generation, Vec::new(), Vec::new(), Vec::new(), self.clock.now()).await?;
        Ok(())
    }

    /// Returns true if the database has not left the index in its present generation.
    pub(super) async fn is_of_another_time(&self, index: IndexName) -> Result<bool, FeedError> {
        let current = self.engine.generation(index).await?;
        Ok(!self.store.find_index_generations(index).await?.include(current))
    }

    async fn move_to_new_generation(
        &self,
        index: IndexName,
        current: Option<Generation>,
    ) -> Result<Generation, FeedError> {
        let next = Generation(Uuid::new_v4());
        self.store.start_generation(index, current, next).await?;
        self.engine.set_generation(index, next).await?;
        Ok(next)
    }
}
