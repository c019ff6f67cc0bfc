//! Passes over the outbox. Each batch is read while the one before is applied.

use std::collections::{HashSet, VecDeque};
use std::time::Instant;

use model::IndexName;
use tokio_util::sync::CancellationToken;

use super::read::ReadBatch;
use super::{FeedError, Feeder, MAX_BACKOFF};

/// Batch that is being applied.
struct InFlight {
    index: IndexName,
    entries: HashSet<i64>,
}

/// Progress of a pass.
struct Pass {
    /// Indexes that take turns. An index that failed is out of the pass, so that its failures do not stop the others.
    turns: VecDeque<IndexName>,
    /// First error and its time.
    failure: Option<(FeedError, Instant)>,
}

impl Pass {
    fn over(indexes: &[IndexName]) -> Self {
        Self { turns: indexes.iter().copied().collect(), failure: None }
    }

    fn fail(&mut self, index: IndexName, error: FeedError) {
        self.turns.retain(|other| *other != index);
        if self.failure.is_none() {
            self.failure = Some((error, Instant::now()));
        } else {
            // The pass returns only the first one.
            tracing::warn!(
                index = index.as_str(),
                error = &error as &dyn std::error::Error,
                "feeding another index failed as well"
            );
        }
    }

    /// Returns true if an index that failed has waited long enough for its next attempt. The others may have hours of work.
    fn is_overdue(&self) -> bool {
        self.failure.as_ref().is_some_and(|(_, at)| at.elapsed() >= MAX_BACKOFF)
    }
}

impl Feeder {
    /// Drains the outbox of every index. Returns the number of entries.
    pub async fn drain_all(&self) -> Result<usize, FeedError> {
        self.drain_all_until(&CancellationToken::new()).await
    }

    /// Drains all indexes in turn, one batch at a time: none waits for the whole backlog of another.
    pub(super) async fn drain_all_until(&self, stop: &CancellationToken) -> Result<usize, FeedError> {
        self.drain_in_turn(IndexName::ALL, stop).await
    }

    /// Drains the outbox of one index. Returns the number of entries; 0 if another process holds the lease.
    pub async fn drain(&self, index: IndexName) -> Result<usize, FeedError> {
        self.drain_in_turn(&[index], &CancellationToken::new()).await
    }

    /// Drains these indexes until `stop`, which lets the batch in progress end.
    ///
    /// # Errors
    /// The first error of any index. The other indexes are drained nevertheless, for about `MAX_BACKOFF` if they have much work.
    pub(super) async fn drain_in_turn(
        &self,
        indexes: &[IndexName],
        stop: &CancellationToken,
    ) -> Result<usize, FeedError> {
        self.settle().await?;
        let mut pass = Pass::over(indexes);
        let mut drained = 0;
        let mut next = self.read_next(&mut pass, None).await;
        while let Some(batch) = next.take().filter(|_| !stop.is_cancelled() && !pass.is_overdue()) {
            let in_flight = InFlight { index: batch.index, entries: batch.entries().collect() };
            let (flushed, read) = tokio::join!(self.flush(batch), self.read_next(&mut pass, Some(&in_flight)));
            next = read;
            match flushed {
                Ok(generation) => {
                    drained += in_flight.entries.len();
                    if let Some(next) = next.as_mut().filter(|next| next.index == in_flight.index) {
                        next.generation = generation;
                    }
                }
                Err(error) => {
                    pass.fail(in_flight.index, error);
                    // It must not overtake the batch that failed, which may have to clear the index.
                    if next.as_ref().is_some_and(|next| next.index == in_flight.index) {
                        next = self.read_next(&mut pass, None).await;
                    }
                }
            }
        }
        pass.failure.map_or(Ok(drained), |(error, _)| Err(error))
    }

    /// Reads the next batch of the indexes that take turns. An index with more entries than that gets another turn.
    async fn read_next(&self, pass: &mut Pass, in_flight: Option<&InFlight>) -> Option<ReadBatch> {
        let nothing = HashSet::new();
        while let Some(index) = pass.turns.pop_front() {
            let skipped = in_flight.filter(|batch| batch.index == index).map_or(&nothing, |batch| &batch.entries);
            match self.read_batch(index, skipped).await {
                Ok(None) => {}
                Ok(Some(batch)) => {
                    if !batch.is_last {
                        pass.turns.push_back(index);
                    }
                    return Some(batch);
                }
                Err(error) => pass.fail(index, error),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_that_failed_waits_for_the_others_as_long_as_for_a_backoff() {
        let mut pass = Pass::over(IndexName::ALL);
        assert!(!pass.is_overdue());
        pass.fail(IndexName::Web, FeedError::LeaseLost(IndexName::Web));
        assert_eq!(pass.turns, [IndexName::Workspace]);
        assert!(!pass.is_overdue());
        if let Some((_, at)) = &mut pass.failure {
            *at -= MAX_BACKOFF;
        }
        assert!(pass.is_overdue());
        pass.fail(IndexName::Workspace, FeedError::LeaseLost(IndexName::Workspace));
        assert!(pass.turns.is_empty() && pass.is_overdue());
        assert!(matches!(pass.failure, Some((FeedError::LeaseLost(IndexName::Web), _))), "the first error counts");
    }
}
