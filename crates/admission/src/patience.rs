//! Estimate of the time that an organization's requests wait, and of the time that its clients are willing to.

use std::time::Duration;

use tokio::time::Instant;

/// Weight of the latest interval in the average.
const WEIGHT: f64 = 0.1;
/// Share of the time after which a client left that later requests may wait: the rest is for their work, and for waits that
/// nobody here sees.
const SHARE: f64 = 0.5;
/// Clients that leave earlier than this say nothing about a queue.
const SHORTEST: Duration = Duration::from_millis(100);
/// Rate at which the permitted wait recovers, in seconds per second.
const RECOVERY: f64 = 0.05;

/// Waits of one organization.
#[derive(Debug, Default)]
pub struct Patience {
    /// Average time between two grants while further requests wait.
    interval: Option<Duration>,
    /// Last grant with further requests waiting.
    last_grant: Option<Instant>,
    /// Permitted wait and its time, since clients have left.
    lowered: Option<(Duration, Instant)>,
}

impl Patience {
    /// Records a grant to a waiting request; `waiting` others remain.
    pub fn granted(&mut self, now: Instant, waiting: usize) {
        if let Some(last) = self.last_grant {
            let latest = now - last;
            let average =
                self.interval.map_or(latest, |interval| interval.mul_f64(1.0 - WEIGHT) + latest.mul_f64(WEIGHT));
            self.interval = Some(average);
        }
        // Without a queue, the time to the next grant is that to the next request.
        self.last_grant = (waiting > 0).then_some(now);
    }

    /// Records that a client left after it has waited for `waited`.
    pub fn left(&mut self, waited: Duration, now: Instant, max_wait: Duration) {
        let permitted = waited.mul_f64(SHARE);
        if waited >= SHORTEST && permitted < self.permitted(now, max_wait) {
            self.lowered = Some((permitted, now));
        }
    }

    /// Returns the expected wait of a request behind `waiting` others.
    pub fn expected_wait(&self, waiting: usize) -> Duration {
        let waiting = u32::try_from(waiting).unwrap_or(u32::MAX);
        self.interval.unwrap_or_default().saturating_mul(waiting)
    }

    /// Returns the wait beyond which a request is refused.
    pub fn permitted(&self, now: Instant, max_wait: Duration) -> Duration {
        let Some((lowered, since)) = self.lowered else { return max_wait };
        max_wait.min(lowered + (now - since).mul_f64(RECOVERY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: Duration = Duration::from_secs(2);

    #[tokio::test(start_paused = true)]
    async fn wait_is_the_queue_times_the_average_interval() {
        let mut patience = Patience::default();
        let start = Instant::now();
        assert_eq!(patience.expected_wait(100), Duration::ZERO, "nothing is known yet");
        for grant in 0..50 {
            patience.granted(start + Duration::from_millis(4 * grant), 10);
        }
        assert_eq!(patience.expected_wait(100), Duration::from_millis(400));
    }

    #[tokio::test(start_paused = true)]
    async fn idle_time_is_no_interval() {
        let mut patience = Patience::default();
        let start = Instant::now();
        patience.granted(start, 1);
        patience.granted(start + Duration::from_millis(10), 0);
        patience.granted(start + Duration::from_secs(60), 1);
        assert_eq!(patience.expected_wait(1), Duration::from_millis(10));
    }

    #[tokio::test(start_paused = true)]
    async fn clients_that_leave_shorten_the_permitted_wait_for_a_while() {
        let mut patience = Patience::default();
        let start = Instant::now();
        assert_eq!(patience.permitted(start, MAX), MAX);
        patience.left(Duration::from_millis(20), start, MAX);
        assert_eq!(patience.permitted(start, MAX), MAX, "too early to say anything about the queue");
        patience.left(Duration::from_millis(400), start, MAX);
        assert_eq!(patience.permitted(start, MAX), Duration::from_millis(200));
        patience.left(Duration::from_millis(600), start, MAX);
        assert_eq!(patience.permitted(start, MAX), Duration::from_millis(200), "a longer wait does not raise it");
        assert_eq!(patience.permitted(start + Duration::from_secs(2), MAX), Duration::from_millis(300));
        assert_eq!(patience.permitted(start + Duration::from_secs(600), MAX), MAX);
    }
}
