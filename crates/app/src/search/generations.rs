//! Generations of the indexes, for the records of searches.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use engine::SearchEngine;
use futures_util::future::join_all;
use model::{Generation, IndexName, Timestamp};

/// Time for which a generation is taken as current: an index changes at most about once a second.
const TTL: Duration = Duration::from_secs(1);
/// Time that a search waits for a generation; without it, its record has none.
const TIMEOUT: Duration = Duration::from_millis(200);

/// Generations as of the last second, so that few searches ask the engine.
#[derive(Default)]
pub(crate) struct Generations(Mutex<HashMap<IndexName, (Timestamp, Option<Generation>)>>);

impl Generations {
    /// Returns the generations of these indexes, as far as they are known; without an engine there are none.
    pub async fn of(
        &self,
        engine: Option<&dyn SearchEngine>,
        indexes: impl Iterator<Item = IndexName>,
        now: Timestamp,
    ) -> Vec<(IndexName, Generation)> {
        let Some(engine) = engine else { return Vec::new() };
        let all = join_all(indexes.map(async |index| Some((index, self.one(engine, index, now).await?)))).await;
        all.into_iter().flatten().collect()
    }

    async fn one(&self, engine: &dyn SearchEngine, index: IndexName, now: Timestamp) -> Option<Generation> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&index).copied();
        if let Some((at, generation)) = known
            && (at..at + TTL).contains(&now)
        {
            return generation;
        }
        let asked = tokio::time::timeout(TIMEOUT, engine.generation(index)).await;
        let generation = asked.ok().and_then(Result::ok).flatten();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(index, (now, generation));
        generation
    }
}
