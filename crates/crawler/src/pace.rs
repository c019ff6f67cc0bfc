//! Delay between two requests to a host.
//!
//! The delay is twice the smoothed response time, at least [`PaceLimits::min_delay`] and at most [`PaceLimits::max_delay`].
//! `Crawl-delay` raises it, up to [`PaceLimits::max_crawl_delay`]. Failures that call for back-off double a pause of one second,
//! up to [`PaceLimits::max_back_off`]; `Retry-After` raises it.

use std::time::Duration;

/// Response times that the delay lasts.
const FACTOR: u32 = 2;
/// Weight of the last response time, in percent.
const WEIGHT: u64 = 30;
/// First pause after a failure.
const FIRST_BACK_OFF: Duration = Duration::from_secs(1);
/// Minimum delay on networks that the operator permits: those sites are the operator's own.
const OWN_DELAY: Duration = Duration::from_millis(5);
/// Longest delay that is waited for under the lease of a host.
pub const MAX_WAIT: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug)]
pub struct PaceLimits {
    /// Minimum delay at hosts on the internet.
    pub min_delay: Duration,
    pub max_delay: Duration,
    pub max_crawl_delay: Duration,
    pub max_back_off: Duration,
}

/// Pace of one host.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub limits: PaceLimits,
    /// Smoothed response time; zero if unknown.
    pub response: Duration,
    pub crawl_delay: Option<Duration>,
    /// Failures in a row.
    pub failures: i32,
    pub is_public: bool,
}

impl Pace {
    /// Records a response.
    pub fn responded(&mut self, after: Duration) {
        self.failures = 0;
        let micros = |duration: Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        self.response = if self.response.is_zero() {
            after
        } else {
            let smoothed =
                micros(self.response).saturating_mul(100 - WEIGHT).saturating_add(micros(after).saturating_mul(WEIGHT));
            Duration::from_micros(smoothed / 100)
        };
    }

    /// Records a failure that calls for back-off, and returns the pause.
    pub fn failed(&mut self, retry_after: Option<Duration>) -> Duration {
        let pause = FIRST_BACK_OFF.saturating_mul(1 << self.failures.clamp(0, 20)).min(self.limits.max_back_off);
        self.failures = self.failures.saturating_add(1);
        pause.max(retry_after.unwrap_or_default()).max(self.delay())
    }

    /// Returns the delay from the end of one request to the start of the next.
    pub fn delay(&self) -> Duration {
        let min = if self.is_public { self.limits.min_delay } else { OWN_DELAY.min(self.limits.min_delay) };
        let delay = self.response.saturating_mul(FACTOR).min(self.limits.max_delay).max(min);
        delay.max(self.crawl_delay.unwrap_or_default().min(self.limits.max_crawl_delay))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace() -> Pace {
        let limits = PaceLimits {
            min_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(30),
            max_crawl_delay: Duration::from_secs(60),
            max_back_off: Duration::from_secs(300),
        };
        Pace { limits, response: Duration::ZERO, crawl_delay: None, failures: 0, is_public: true }
    }

    #[test]
    fn delay_follows_the_response_times_within_bounds() {
        let mut pace = pace();
        assert_eq!(pace.delay(), Duration::from_millis(500));
        pace.responded(Duration::from_secs(1));
        assert_eq!(pace.delay(), Duration::from_secs(2));
        pace.responded(Duration::from_secs(2));
        assert_eq!(pace.delay(), Duration::from_millis(2_600));
        pace.responded(Duration::from_secs(1_000));
        assert_eq!(pace.delay(), Duration::from_secs(30));
        for _ in 0..60 {
            pace.responded(Duration::from_millis(1));
        }
        assert_eq!(pace.delay(), Duration::from_millis(500));
        pace.is_public = false;
        assert!(pace.delay() < Duration::from_millis(10));
    }

    #[test]
    fn crawl_delay_is_honoured_up_to_its_bound() {
        let mut pace = Pace { crawl_delay: Some(Duration::from_secs(5)), is_public: false, ..pace() };
        assert_eq!(pace.delay(), Duration::from_secs(5));
        pace.crawl_delay = Some(Duration::from_secs(86_400));
        assert_eq!(pace.delay(), Duration::from_secs(60));
    }

    #[test]
    fn failures_double_the_pause_until_a_response() {
        let mut pace = pace();
        let pauses: Vec<u64> = (0..4).map(|_| pace.failed(None).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8]);
        assert_eq!(pace.failed(Some(Duration::from_secs(90))), Duration::from_secs(90));
        for _ in 0..40 {
            pace.failed(None);
        }
        assert_eq!(pace.failed(None), Duration::from_secs(300));
        pace.responded(Duration::from_millis(10));
        assert_eq!(pace.failed(None), Duration::from_secs(1));
    }
}
