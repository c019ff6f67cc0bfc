//! Passes over the outbox. Each batch is read while the one before is applied.

use std::collections::{HashSet, VecDeque};

use model::IndexName;
use tokio_util::sync::CancellationToken;

use super::read::ReadBatch;
use super::{FeedError, Feeder};

/// Batch that is being applied.
struct InFlight {
    index: IndexName,
    entries: HashSet<i64>,
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
    pub(super) async fn drain_in_turn(
        &self,
        indexes: &[IndexName],
        stop: &CancellationToken,
    ) -> Result<usize, FeedError> {
        self.settle().await?;
        let mut turns = VecDeque::from(indexes.to_vec());
        let mut drained = 0;
        let mut next = self.read_next(&mut turns, None).await?;
        while let Some(batch) = next.take().filter(|_| !stop.is_cancelled()) {
            let in_flight = InFlight { index: batch.index, entries: batch.entries().collect() };
            let (flushed, read) = tokio::join!(self.flush(batch), self.read_next(&mut turns, Some(&in_flight)));
            let generation = flushed?;
            drained += in_flight.entries.len();
            next = read?;
            if let Some(next) = next.as_mut().filter(|next| next.index == in_flight.index) {
                next.generation = generation;
            }
        }
        Ok(drained)
    }

    /// Reads the next batch of the indexes that take turns. An index with more entries than that gets another turn.
    async fn read_next(
        &self,
        turns: &mut VecDeque<IndexName>,
        in_flight: Option<&InFlight>,
    ) -> Result<Option<ReadBatch>, FeedError> {
        let nothing = HashSet::new();
        while let Some(index) = turns.pop_front() {
            let skipped = in_flight.filter(|batch| batch.index == index).map_or(&nothing, |batch| &batch.entries);
            let Some(batch) = self.read_batch(index, skipped).await? else { continue };
            if !batch.is_last {
                turns.push_back(index);
            }
            return Ok(Some(batch));
        }
        Ok(None)
    }
}
