//! Estimate of the time that an organization's requests wait, and of the time that its clients are willing to.

use std::time::Duration;

use tokio::time::Instant;

use crate::departures::Departures;

/// Time over which the interval between grants is averaged. Requests that wait for one commit end together, so single
/// intervals say little.
const AVERAGED: Duration = Duration::from_secs(1);
/// Longest permitted wait, as a share of the time after which a quarter of the clients have left. The remainder is for the work itself,
/// for waits elsewhere, and for the error of the estimate: work for a client that leaves is lost, while a refusal costs little.
const SHARE: f64 = 0.3;
/// Rate at which the permitted wait recovers, in seconds per second. A slow one: at its end clients leave again, some of them just when
/// their answers are sent.
const RECOVERY: f64 = 0.01;
/// Bounds of the time that a refused client is asked to wait.
const SHORTEST_RETRY: Duration = Duration::from_secs(1);
pub const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// Waits of one organization.
#[derive(Debug, Default)]
pub struct Patience {
    /// Time in which further requests waited, and grants within it. Both decay, so that their ratio follows the load.
    waited: f64,
    grants: f64,
    /// Refusals, which decay with the grants.
    refusals: f64,
    /// Last grant with further requests waiting.
    last_grant: Option<Instant>,
    departures: Departures,
    /// Permitted wait and its time, since clients have left.
    lowered: Option<(Duration, Instant)>,
}

impl Patience {
    /// Records a grant to a waiting request; `waiting` others remain.
    pub fn granted(&mut self, now: Instant, waiting: usize) {
        if let Some(last) = self.last_grant {
            let interval = (now - last).as_secs_f64();
            let decay = (-interval / AVERAGED.as_secs_f64()).exp();
            self.waited = self.waited * decay + interval;
            self.grants = self.grants * decay + 1.0;
            self.refusals *= decay;
        }
        // Without a queue, the time to the next grant is that to the next request.
        self.last_grant = (waiting > 0).then_some(now);
    }

    /// Records that a client received its answer after `waited`.
    pub fn stayed(&mut self, waited: Duration, now: Instant) {
        self.departures.record(waited, false, now);
    }

    /// Records that a client left after `waited`.
    pub fn left(&mut self, waited: Duration, now: Instant, max_wait: Duration) {
        self.departures.record(waited, true, now);
        // One that left earlier than most, as if the user went on typing, does not show that the wait is too long.
        let Some(quartile) = self.departures.first_quartile().filter(|quartile| waited >= *quartile) else { return };
        let permitted = quartile.mul_f64(SHARE);
        if permitted < self.permitted(now, max_wait) {
            self.lowered = Some((permitted, now));
        }
    }

    /// Returns the expected wait of a request behind `waiting` others.
    pub fn expected_wait(&self, waiting: usize) -> Duration {
        let interval = if self.grants > 0.0 { self.waited / self.grants } else { 0.0 };
        Duration::try_from_secs_f64(interval * waiting as f64).unwrap_or(Duration::MAX)
    }

    /// Records the refusal of a request behind `waiting` others. Returns the expected time until a retry is granted: the wait, for
    /// each of the attempts that it takes on average if grants and refusals come as often as they did.
    pub fn refused(&mut self, waiting: usize) -> Duration {
        self.refusals += 1.0;
        let attempts = if self.grants > 0.0 { 1.0 + self.refusals / self.grants } else { 1.0 };
        let expected = self.expected_wait(waiting).as_secs_f64() * attempts;
        Duration::try_from_secs_f64(expected).unwrap_or(LONGEST_RETRY).clamp(SHORTEST_RETRY, LONGEST_RETRY)
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
        assert_eq!(patience.expected_wait(100).as_millis(), 400);
    }

    #[tokio::test(start_paused = true)]
    async fn grants_that_come_together_do_not_shorten_the_expected_wait() {
        let mut patience = Patience::default();
        let start = Instant::now();
        for burst in 0..50 {
            for _ in 0..6 {
                patience.granted(start + Duration::from_millis(24 * burst), 10);
            }
        }
        let expected = patience.expected_wait(100).as_millis();
        assert!((360..=400).contains(&expected), "{expected} ms");
    }

    #[tokio::test(start_paused = true)]
    async fn refused_clients_are_asked_to_wait_longer_the_more_they_are() {
        let mut patience = Patience::default();
        let start = Instant::now();
        assert_eq!(patience.refused(10_000), SHORTEST_RETRY, "nothing is known yet");
        let mut retries = Vec::new();
        for grant in 0..5_000 {
            patience.granted(start + Duration::from_millis(4 * grant), 500);
            retries.push(if grant < 2_500 { Duration::ZERO } else { patience.refused(500) });
        }
        let expected = patience.expected_wait(500);
        assert_eq!(expected.as_millis(), 2_000);
        assert!((expected..expected * 11 / 10).contains(&retries[2_500]), "one refusal: {:?}", retries[2_500]);
        let last = retries[4_999];
        assert!((expected * 19 / 10..=expected * 2).contains(&last), "as many refusals as grants: {last:?}");
        for _ in 0..100_000 {
            patience.refused(500);
        }
        assert_eq!(patience.refused(500), LONGEST_RETRY);
    }

    #[tokio::test(start_paused = true)]
    async fn idle_time_is_no_interval() {
        let mut patience = Patience::default();
        let start = Instant::now();
        patience.granted(start, 1);
        patience.granted(start + Duration::from_millis(10), 0);
        patience.granted(start + Duration::from_secs(60), 1);
        assert_eq!(patience.expected_wait(1).as_millis(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn clients_that_leave_shorten_the_permitted_wait_for_a_while() {
        let mut patience = Patience::default();
        let start = Instant::now();
        assert_eq!(patience.permitted(start, MAX), MAX);
        patience.left(Duration::from_millis(20), start, MAX);
        assert_eq!(patience.permitted(start, MAX), MAX, "too early to say anything about the queue");
        patience.left(Duration::from_millis(500), start, MAX);
        let lowered = patience.permitted(start, MAX);
        assert!((120..=150).contains(&lowered.as_millis()), "{lowered:?}");
        patience.left(Duration::from_millis(600), start, MAX);
        assert_eq!(patience.permitted(start, MAX), lowered, "a longer wait does not raise it");
        assert_eq!(patience.permitted(start + Duration::from_secs(10), MAX), lowered + Duration::from_millis(100));
        assert_eq!(patience.permitted(start + Duration::from_secs(600), MAX), MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn few_that_leave_early_do_not_shorten_the_wait_of_the_others() {
        let mut patience = Patience::default();
        let start = Instant::now();
        for _ in 0..100 {
            for _ in 0..5 {
                patience.stayed(Duration::from_millis(400), start);
            }
            patience.left(Duration::from_millis(150), start, MAX);
        }
        assert_eq!(patience.permitted(start, MAX), MAX);
        for _ in 0..400 {
            patience.left(Duration::from_millis(150), start, MAX);
        }
        assert!(patience.permitted(start, MAX) <= Duration::from_millis(45), "most leave");
    }
}
