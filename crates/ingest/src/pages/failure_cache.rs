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
/// Maximum lifetime in memory. The cache panics beyond a thousand years, which settings may ask for.
const MAX_TTL: Duration = Duration::from_hours(365 * 24);

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

/// A page that could not be read.
#[derive(Clone, Copy)]
struct Entry {
    reason: UnreadableReason,
    since: Timestamp,
    /// Time of the next attempt.
    until: Timestamp,
    /// Time until which the server asked to be left alone.
    asked_until: Option<Timestamp>,
}

/// Pages that are not retried for now.
pub struct FailureCache {
    pages: Cache<PageKey, Entry>,
    ttl: Duration,
    clock: Arc<dyn Clock>,
}

impl FailureCache {
    /// Creates a cache that keeps failures for `ttl` up to a year, or for the server's `retry_after` up to an hour.
    pub fn new(ttl: Duration, clock: Arc<dyn Clock>) -> Self {
        let in_memory = ttl.clamp(MAX_RETRY_AFTER, MAX_TTL);
        let pages = Cache::builder().max_capacity(MAX_ENTRIES).time_to_live(in_memory).build();
        Self { pages, ttl, clock }
    }

    /// Returns the reason of a failure that is not to be retried yet. With `insists`, only what the server asked for counts.
    pub fn get(&self, page: &PageKey, insists: bool) -> Option<UnreadableReason> {
        let Entry { reason, since, until, asked_until } = self.pages.get(page)?;
        let until = if insists { asked_until? } else { until };
        // After the clock was set back, a failure in the future counts as past.
        (since..until).contains(&self.clock.now()).then_some(reason)
    }

    pub fn insert(&self, page: PageKey, cause: Cause) {
        let now = self.clock.now();
        let asked = cause.retry_after.map(|delay| delay.min(MAX_RETRY_AFTER));
        let until = now + asked.map_or(self.ttl, |delay| delay.max(self.ttl));
        let asked_until = asked.map(|delay| now + delay);
        self.pages.insert(page, Entry { reason: cause.reason, since: now, until, asked_until });
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
        assert_eq!(failures.get(&short, false), Some(UnreadableReason::Robots));
        assert_eq!(failures.get(&asked, false), Some(UnreadableReason::HttpStatus(429)));
        assert!(failures.get(&hasty, false).is_some());
        assert_eq!(failures.get(&page(2, 1), false), None, "another organization tries for itself");
        assert_eq!((failures.get(&short, true), failures.get(&hasty, true)), (None, None), "insisted on");
        assert!(failures.get(&asked, true).is_some(), "the server asked for it");
        clock.advance(Duration::from_secs(1));
        assert!(
            failures.get(&short, false).is_none()
                && failures.get(&asked, false).is_some()
                && failures.get(&hasty, false).is_none()
        );
        clock.advance(Duration::from_secs(10));
        assert!(failures.get(&asked, false).is_none());
    }

    #[test]
    fn failures_are_forgotten_when_the_clock_is_set_back() {
        let clock = Arc::new(ManualClock::starting_at(Timestamp::from_millis(3_600_000)));
        let failures = FailureCache::new(Duration::from_secs(50), Arc::clone(&clock) as Arc<dyn Clock>);
        failures.insert(page(1, 1), UnreadableReason::Robots.into());
        clock.set(Timestamp::UNIX_EPOCH);
        assert!(failures.get(&page(1, 1), false).is_none());
    }
    #[test]
    fn endless_ttl_is_accepted() {
        let clock = Arc::new(ManualClock::default());
        let failures = FailureCache::new(Duration::from_secs(u64::MAX), Arc::clone(&clock) as Arc<dyn Clock>);
        failures.insert(page(1, 1), UnreadableReason::Robots.into());
        clock.advance(Duration::from_hours(24));
        assert_eq!(failures.get(&page(1, 1), false), Some(UnreadableReason::Robots));
    }
}
