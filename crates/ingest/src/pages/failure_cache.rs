//! Negative cache of pages that could not be read.

use std::sync::Arc;
use std::time::Duration;

use model::{Clock, Timestamp};
use moka::sync::Cache;

use super::{PageKey, UnreadableReason};

/// Capacity; further entries evict others, whose pages are then retried early.
const MAX_ENTRIES: u64 = 50_000;
/// Maximum `retry_after` that is honoured.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);

/// Cause of a failure.
#[derive(Clone, Copy, Debug)]
pub struct Cause {
    pub reason: UnreadableReason,
    /// Delay that the server asked for.
    pub retry_after: Option<Duration>,
}

impl From<UnreadableReason> for Cause {
    fn from(reason: UnreadableReason) -> Self {
        Self { reason, retry_after: None }
    }
}

/// Pages that are not retried for now.
pub struct FailureCache {
    /// Time of the next attempt, and the reason of the last failure.
    pages: Cache<PageKey, (Timestamp, UnreadableReason)>,
    ttl: Duration,
    clock: Arc<dyn Clock>,
}

impl FailureCache {
    /// Creates a cache that keeps failures for `ttl`, or for the server's `retry_after` up to an hour.
    pub fn new(ttl: Duration, clock: Arc<dyn Clock>) -> Self {
        let pages = Cache::builder().max_capacity(MAX_ENTRIES).time_to_live(MAX_RETRY_AFTER.max(ttl)).build();
        Self { pages, ttl, clock }
    }

    /// Returns the reason of a failure that is not to be retried yet.
    pub fn get(&self, page: &PageKey) -> Option<UnreadableReason> {
        self.pages.get(page).filter(|(until, _)| self.clock.now() < *until).map(|(_, reason)| reason)
    }

    pub fn insert(&self, page: PageKey, cause: Cause) {
        let ttl = cause.retry_after.map_or(self.ttl, |delay| delay.clamp(self.ttl, MAX_RETRY_AFTER.max(self.ttl)));
        self.pages.insert(page, (self.clock.now() + ttl, cause.reason));
    }
}

#[cfg(test)]
mod tests {
    use model::{DocId, ManualClock, OrganizationId};
    use uuid::Uuid;

    use super::*;

    fn page(organization: u128, document: u128) -> PageKey {
        (OrganizationId(Uuid::from_u128(organization)), DocId(Uuid::from_u128(document)))
    }

    #[test]
    fn failures_keep_their_reason_until_their_ttl_expires() {
        let clock = Arc::new(ManualClock::default());
        let failures = FailureCache::new(Duration::from_secs(50), Arc::clone(&clock) as Arc<dyn Clock>);
        let (short, asked, hasty) = (page(1, 1), page(1, 2), page(1, 3));
        let cause = |seconds| Cause {
            reason: UnreadableReason::HttpStatus(429),
            retry_after: Some(Duration::from_secs(seconds)),
        };
        failures.insert(short, UnreadableReason::Robots.into());
        failures.insert(asked, cause(60));
        failures.insert(hasty, cause(0));
        clock.advance(Duration::from_secs(49));
        assert_eq!(failures.get(&short), Some(UnreadableReason::Robots));
        assert_eq!(failures.get(&asked), Some(UnreadableReason::HttpStatus(429)));
        assert!(failures.get(&hasty).is_some());
        assert_eq!(failures.get(&page(2, 1)), None, "another organization tries for itself");
        clock.advance(Duration::from_secs(1));
        assert!(failures.get(&short).is_none() && failures.get(&asked).is_some() && failures.get(&hasty).is_none());
        clock.advance(Duration::from_secs(10));
        assert!(failures.get(&asked).is_none());
    }
}
