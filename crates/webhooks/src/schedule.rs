//! Times of attempts. Pure but for the jitter, which is an argument.

use std::time::Duration;

use docstore::AfterFailure;
use model::Timestamp;

/// Delay before the first retry; it quadruples with each further one.
const FIRST_DELAY: Duration = Duration::from_secs(5);
const MAX_DELAY: Duration = Duration::from_hours(8);
/// Age at which a delivery is abandoned.
const MAX_AGE: Duration = Duration::from_hours(3 * 24);
/// Time without a success after which an abandoned delivery disables its webhook.
const MAX_FAILING: Duration = Duration::from_hours(2 * 24);

/// Attempt that failed.
pub struct FailedAttempt {
    /// Failed attempts before this one.
    pub attempts: i32,
    pub created_at: Timestamp,
    /// First failure of the webhook since its last success.
    pub failing_since: Option<Timestamp>,
    /// The target answered that it is gone for good.
    pub gone: bool,
    /// Delay that the target asks for.
    pub retry_after: Option<Duration>,
}

/// Decides about a failed attempt. `jitter` is between 0 and 1.
pub fn after(failed: &FailedAttempt, now: Timestamp, jitter: f64) -> AfterFailure {
    if failed.gone {
        return AfterFailure::Disable("the target answered with status 410".to_owned());
    }
    if now - MAX_AGE < failed.created_at {
        return AfterFailure::Retry(now + delay(failed, jitter));
    }
    if failed.failing_since.is_some_and(|since| since <= now - MAX_FAILING) {
        let days = MAX_FAILING.as_secs() / (24 * 60 * 60);
        return AfterFailure::Disable(format!("every attempt of the last {days} days failed"));
    }
    AfterFailure::GiveUp
}

fn delay(failed: &FailedAttempt, jitter: f64) -> Duration {
    let factor = 4_u32.saturating_pow(u32::try_from(failed.attempts).unwrap_or(0));
    let delay = FIRST_DELAY.saturating_mul(factor).min(MAX_DELAY).mul_f64(0.8 + 0.4 * jitter);
    failed.retry_after.map_or(delay, |asked| asked.max(delay))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

    fn failed(attempts: i32, age: Duration) -> FailedAttempt {
        let failing_since = Some(NOW - age).filter(|_| attempts > 0);
        FailedAttempt { attempts, created_at: NOW - age, failing_since, gone: false, retry_after: None }
    }

    #[test]
    fn delays_grow_to_hours() {
        let delays: Vec<i64> = (0..8)
            .map(|attempts| match after(&failed(attempts, Duration::from_secs(1)), NOW, 0.5) {
                AfterFailure::Retry(at) => (at.as_millis() - NOW.as_millis()) / 1_000,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(delays, [5, 20, 80, 320, 1_280, 5_120, 20_480, 28_800]);
        let at = |jitter| after(&failed(0, Duration::ZERO), NOW, jitter);
        assert_eq!(at(0.0), AfterFailure::Retry(NOW + Duration::from_secs(4)));
        assert_eq!(at(1.0), AfterFailure::Retry(NOW + Duration::from_secs(6)));
    }

    #[test]
    fn longer_delay_of_the_target_is_honoured() {
        for (asked, expected) in [(60, 60), (1, 5)] {
            let retry_after = Some(Duration::from_secs(asked));
            let failed = FailedAttempt { retry_after, ..failed(0, Duration::ZERO) };
            assert_eq!(after(&failed, NOW, 0.5), AfterFailure::Retry(NOW + Duration::from_secs(expected)));
        }
    }

    #[test]
    fn old_deliveries_are_abandoned_and_disable_targets_that_never_answered() {
        assert!(matches!(after(&failed(14, MAX_AGE), NOW, 0.5), AfterFailure::Disable(_)));
        // The server was down; the target has had one chance only.
        assert_eq!(after(&failed(0, MAX_AGE), NOW, 0.5), AfterFailure::GiveUp);
        let recovered = FailedAttempt { failing_since: Some(NOW - Duration::from_hours(1)), ..failed(14, MAX_AGE) };
        assert_eq!(after(&recovered, NOW, 0.5), AfterFailure::GiveUp);
    }

    #[test]
    fn target_that_is_gone_is_disabled_at_once() {
        let gone = FailedAttempt { gone: true, ..failed(0, Duration::ZERO) };
        assert!(matches!(after(&gone, NOW, 0.5), AfterFailure::Disable(_)));
    }
}
