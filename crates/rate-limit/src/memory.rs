use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use time::OffsetDateTime;

use crate::limiter::{Decision, RateLimitError, RateLimiter, window_end, window_of};

/// Number of shards: few worker threads contend for one lock, and an empty shard costs less than 100 bytes.
const SHARDS: usize = 16;

/// Counters kept allocated per shard between windows. After a burst of keys the memory is released a second later.
const RETAINED_COUNTERS: usize = 1024;

/// In-process limiter: exact, with memory bounded by the keys of a single second.
#[derive(Debug)]
pub struct MemoryLimiter {
    shards: [Mutex<Shard>; SHARDS],
    hasher: RandomState,
}

/// Counters of one window. Windows are the same for all keys, so a new second clears the whole shard and no sweep is
/// needed.
#[derive(Debug, Default)]
struct Shard {
    window: i64,
    spent: HashMap<String, u32>,
}

impl MemoryLimiter {
    pub fn new() -> Self {
        Self { shards: std::array::from_fn(|_| Mutex::default()), hasher: RandomState::new() }
    }

    /// Returns the current number of counters.
    pub fn counters(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner).spent.len()).sum()
    }

    fn shard(&self, key: &str) -> &Mutex<Shard> {
        &self.shards[self.hasher.hash_one(key) as usize % SHARDS]
    }
}

impl Default for MemoryLimiter {
    fn default() -> Self {
        Self::new()
    }
}

impl Shard {
    fn enter(&mut self, window: i64) {
        // One window older: the caller read the clock just before the boundary. Older than that: the clock was set
        // back, and following it avoids being stuck in a future window.
        if window > self.window || window < self.window - 1 {
            self.window = window;
            self.spent.clear();
            self.spent.shrink_to(RETAINED_COUNTERS);
        }
    }

    fn take(&mut self, key: &str, limit: u32) -> (bool, u32) {
        let spent = match self.spent.get_mut(key) {
            Some(spent) => spent,
            None => self.spent.entry(key.to_owned()).or_insert(0),
        };
        let allowed = *spent < limit;
        if allowed {
            *spent += 1;
        }
        (allowed, limit.saturating_sub(*spent))
    }
}

#[async_trait]
impl RateLimiter for MemoryLimiter {
    async fn take(&self, key: &str, limit: u32, now: OffsetDateTime) -> Result<Decision, RateLimitError> {
        let mut shard = self.shard(key).lock().unwrap_or_else(PoisonError::into_inner);
        shard.enter(window_of(now));
        let (allowed, remaining) = shard.take(key, limit);
        Ok(Decision { allowed, limit, remaining, reset_at: window_end(shard.window) })
    }
}
