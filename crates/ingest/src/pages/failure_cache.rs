//! Negative cache of pages that could not be read.

use std::sync::Arc;
use std::time::Duration;

use model::{Clock, Timestamp};
use moka::sync::Cache;

/// Capacity; further entries evict others, whose pages are then retried early.
const MAX_ENTRIES: u64 = 50_000;
/// Maximum `retry_after` that is honoured.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);

/// Details of a failure that determine the time of the next attempt.
#[derive(Clone, Debug, Default)]
pub struct Cause {
    /// Delay that the server asked for.
    pub retry_after: Option<Duration>,
}

/// URLs that are not retried for now.
pub struct FailureCache {
    /// Time of the next attempt by URL.
    urls: Cache<String, Timestamp>,
    ttl: Duration,
    clock: Arc<dyn Clock>,
}

impl FailureCache {
    /// Creates a cache that keeps failures for `ttl`, or for the server's `retry_after` up to an hour.
    pub fn new(ttl: Duration, clock: Arc<dyn Clock>) -> Self {
        let urls = Cache::builder().max_capacity(MAX_ENTRIES).time_to_live(MAX_RETRY_AFTER.max(ttl)).build();
        Self { urls, ttl, clock }
    }

    pub fn contains(&self, url: &str) -> bool {
        self.urls.get(url).is_some_and(|until| self.clock.now() < until)
    }

    pub fn insert(&self, url: String, cause: &Cause) {
        let ttl = cause.retry_after.map_or(self.ttl, |delay| delay.clamp(self.ttl, MAX_RETRY_AFTER.max(self.ttl)));
        self.urls.insert(url, self.clock.now() + ttl);
    }
}

#[cfg(test)]
mod tests {
    use model::ManualClock;

    use super::*;

    #[test]
    fn failures_expire_after_their_ttl() {
        let clock = Arc::new(ManualClock::default());
        let failures = FailureCache::new(Duration::from_secs(50), Arc::clone(&clock) as Arc<dyn Clock>);
        failures.insert("a".to_owned(), &Cause::default());
        failures.insert("b".to_owned(), &Cause { retry_after: Some(Duration::from_secs(60)) });
        failures.insert("c".to_owned(), &Cause { retry_after: Some(Duration::ZERO) });
        clock.advance(Duration::from_secs(49));
        assert!(failures.contains("a") && failures.contains("b") && failures.contains("c") && !failures.contains("d"));
        clock.advance(Duration::from_secs(1));
        assert!(!failures.contains("a") && failures.contains("b") && !failures.contains("c"));
        clock.advance(Duration::from_secs(10));
        assert!(!failures.contains("b"));
    }
}
