//! Pages that could not be read a moment ago.

use std::sync::Arc;
use std::time::Duration;

use model::{Clock, Timestamp};
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
    /// The time from which each page may be tried again.
    urls: Cache<String, Timestamp>,
    ttl: Duration,
    clock: Arc<dyn Clock>,
}

impl Failures {
    /// A failure is remembered for `ttl`, or for as long as the server asked for, up to an hour.
    pub fn new(ttl: Duration, clock: Arc<dyn Clock>) -> Self {
        let urls = Cache::builder().max_capacity(MAX_FAILURES).time_to_live(LONGEST.max(ttl)).build();
        Self { urls, ttl, clock }
    }

    pub fn knows(&self, url: &str) -> bool {
        self.urls.get(url).is_some_and(|until| self.clock.now() < until)
    }

    pub fn remember(&self, url: String, cause: &Cause) {
        let ttl = cause.retry_after.map_or(self.ttl, |asked| asked.clamp(self.ttl, LONGEST.max(self.ttl)));
        self.urls.insert(url, self.clock.now() + ttl);
    }
}

#[cfg(test)]
mod tests {
    use model::ManualClock;

    use super::*;

    #[test]
    fn failures_are_forgotten_in_their_time() {
        let clock = Arc::new(ManualClock::default());
        let failures = Failures::new(Duration::from_secs(50), Arc::clone(&clock) as Arc<dyn Clock>);
        failures.remember("a".to_owned(), &Cause::default());
        failures.remember("b".to_owned(), &Cause { retry_after: Some(Duration::from_secs(60)) });
        failures.remember("c".to_owned(), &Cause { retry_after: Some(Duration::ZERO) });
        clock.advance(Duration::from_secs(49));
        assert!(failures.knows("a") && failures.knows("b") && failures.knows("c") && !failures.knows("d"));
        clock.advance(Duration::from_secs(1));
        assert!(!failures.knows("a") && failures.knows("b") && !failures.knows("c"));
        clock.advance(Duration::from_secs(10));
        assert!(!failures.knows("b"));
    }
}
