//! Lifetime of cached statistics, which other processes may change with the index.

use std::time::{Duration, Instant};

/// Lifetime that begins with the request of the statistics.
#[derive(Clone, Copy, Debug)]
pub struct Lifetime {
    requested: Instant,
    /// Time at which a search began to renew the statistics.
    renewed: Option<Instant>,
}

impl Lifetime {
    /// Time for which statistics are current.
    pub const TTL: Duration = Duration::from_secs(10);
    /// Time for which the others use expired statistics while one search renews them: the server reads every document for them.
    pub const RENEWAL: Duration = Duration::from_secs(1);
    /// Age from which statistics are not used by any search: those of a scope that was not searched for a while.
    pub const MAX_AGE: Duration = Duration::from_secs(15);

    pub fn start() -> Self {
        Self { requested: Instant::now(), renewed: None }
    }

    /// Returns true if a search may use the statistics. Of concurrent searches that find them expired, one gets false and is to
    /// renew them.
    pub fn is_current(&mut self) -> bool {
        let age = self.requested.elapsed();
        let is_renewed = self.renewed.is_some_and(|since| since.elapsed() < Self::RENEWAL);
        if age < Self::TTL || (age < Self::MAX_AGE && is_renewed) {
            return true;
        }
        self.renewed = Some(Instant::now());
        false
    }

    /// Makes the statistics older.
    #[cfg(any(test, feature = "testing"))]
    pub fn age(&mut self, by: Duration) {
        let earlier = |at: Instant| at.checked_sub(by).unwrap_or(at);
        (self.requested, self.renewed) = (earlier(self.requested), self.renewed.map(earlier));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_search_renews_expired_statistics() {
        let mut lifetime = Lifetime::start();
        assert!(lifetime.is_current());
        lifetime.age(Lifetime::TTL);
        assert_eq!([lifetime.is_current(), lifetime.is_current()], [false, true]);
        lifetime.age(Lifetime::RENEWAL);
        assert_eq!([lifetime.is_current(), lifetime.is_current()], [false, true], "that search has failed");
    }

    #[test]
    fn old_statistics_are_used_by_no_search() {
        let mut lifetime = Lifetime::start();
        lifetime.age(Lifetime::MAX_AGE);
        assert_eq!([lifetime.is_current(), lifetime.is_current()], [false, false]);
    }
}
