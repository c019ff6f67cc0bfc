//! Targets that every scenario is judged by.

use std::time::Duration;

/// Memory of the server and its workers during a load, in MB.
pub const PEAK_MB: f64 = 1_000.0;
/// Memory of the server and its workers after a load, in MB.
pub const HELD_MB: f64 = 300.0;
/// Throughput under overload, in percent of the best.
pub const GOODPUT_PERCENT: f64 = 90.0;

/// Permitted noise of a latency.
const NOISE: Duration = Duration::from_millis(20);
/// Share of answers that a client may miss because they arrive while it disconnects.
const MISSED_SHARE: f64 = 0.002;

/// Returns the limit of a tenant's 95th percentile beside another one, from its own without the other.
pub fn beside(alone: Duration) -> Duration {
    alone * 2 + NOISE
}

/// Returns a throughput in percent of the best.
pub fn percent(reached: f64, best: f64) -> f64 {
    if best > 0.0 { 100.0 * reached / best } else { 0.0 }
}

/// Searches that an organization paid for, and those that its clients received.
pub struct Billing {
    /// Charges minus refunds, in searches.
    pub charged: i64,
    pub answered: usize,
}

impl Billing {
    /// Returns the number of searches charged without an answer.
    pub fn unanswered(&self) -> f64 {
        let answered = i64::try_from(self.answered).unwrap_or(i64::MAX);
        self.charged.saturating_sub(answered).max(0) as f64
    }

    /// Returns the limit of this number, at least one: an answer may arrive at the moment at which its client gives up.
    pub fn limit(&self) -> f64 {
        (self.answered as f64 * MISSED_SHARE).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Billing, beside, percent};
    use std::time::Duration;

    #[test]
    fn limit_beside_others_is_twice_the_own_latency_and_noise() {
        assert_eq!(beside(Duration::from_millis(7)), Duration::from_millis(34));
        assert_eq!(beside(Duration::ZERO), Duration::from_millis(20));
    }

    #[test]
    fn throughput_is_relative_to_the_best() {
        assert!((percent(360.0, 400.0) - 90.0).abs() < 1e-9);
        assert!(percent(1.0, 0.0).abs() < f64::EPSILON);
    }

    #[test]
    fn charges_without_answers_are_counted() {
        let abandoned = Billing { charged: 300, answered: 12 };
        assert!(abandoned.unanswered() >= 288.0 && abandoned.unanswered() > abandoned.limit());
        let refunded = Billing { charged: 10, answered: 12 };
        assert!(refunded.unanswered() < refunded.limit());
        let busy = Billing { charged: 4_005, answered: 4_000 };
        assert!(busy.unanswered() < busy.limit());
    }
}
