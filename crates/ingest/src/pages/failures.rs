//! Pages that could not be read a moment ago.

use std::time::{Duration, Instant};

use moka::Expiry;
use moka::sync::Cache;

/// Entries beyond this push out the oldest: their pages are tried again early.
const MAX_FAILURES: u64 = 50_000;
/// A server that asks to be left alone for longer is asked again after this.
const LONGEST: Duration = Duration::from_hours(1);

/// What is known of a failure, for those who decide when to try again.
#[derive(Clone, Debug, Default)]
pub struct Cause {
    /// How long the server asked to be left alone.
    pub retry_after: Option<Duration>,
}

pub struct Failures {
    urls: Cache<String, Duration>,
    ttl: Duration,
}

impl Failures {
    /// A failure is remembered for `ttl`, or for as long as the server asked for, up to an hour.
    pub fn new(ttl: Duration) -> Self {
        Self { urls: Cache::builder().max_capacity(MAX_FAILURES).expire_after(TheirOwn).build(), ttl }
    }

    pub fn knows(&self, url: &str) -> bool {
        self.urls.contains_key(url)
    }

    pub fn remember(&self, url: String, cause: &Cause) {
        let ttl = cause.retry_after.map_or(self.ttl, |asked| asked.clamp(self.ttl, LONGEST.max(self.ttl)));
        self.urls.insert(url, ttl);
    }
}

/// Each entry lives as long as its value says.
struct TheirOwn;

impl Expiry<String, Duration> for TheirOwn {
    fn expire_after_create(&self, _url: &String, ttl: &Duration, _now: Instant) -> Option<Duration> {
        Some(*ttl)
    }

    fn expire_after_update(
        &self,
        _url: &String,
        ttl: &Duration,
        _now: Instant,
        _left: Option<Duration>,
    ) -> Option<Duration> {
        Some(*ttl)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_forgotten_in_their_time() {
        let failures = Failures::new(Duration::from_millis(50));
        failures.remember("a".to_owned(), &Cause::default());
        failures.remember("b".to_owned(), &Cause { retry_after: Some(Duration::from_secs(60)) });
        failures.remember("c".to_owned(), &Cause { retry_after: Some(Duration::ZERO) });
        assert!(failures.knows("a") && failures.knows("b") && failures.knows("c") && !failures.knows("d"));
        std::thread::sleep(Duration::from_millis(80));
        assert!(!failures.knows("a") && failures.knows("b") && !failures.knows("c"));
    }
}
