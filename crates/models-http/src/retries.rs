use std::time::Duration;

use models::ModelError;

/// Attempts of one call.
const ATTEMPTS: u32 = 5;
const MAX_DELAY: Duration = Duration::from_secs(10);

/// Failed attempt, with the delay that the endpoint asked for.
pub struct Failure {
    pub error: ModelError,
    pub retry_after: Option<Duration>,
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self { error, retry_after: None }
    }
}

/// Attempts of one call so far.
pub struct Retries {
    attempts: u32,
    delay: Duration,
}

impl Retries {
    pub fn new(first_delay: Duration) -> Self {
        Self { attempts: 0, delay: first_delay }
    }

    /// Returns the delay before the next attempt; `None` if there is none.
    pub fn delay_after(&mut self, failure: &Failure) -> Option<Duration> {
        self.attempts += 1;
        if self.attempts >= ATTEMPTS || !is_temporary(&failure.error) {
            return None;
        }
        let delay = self.delay.min(MAX_DELAY);
        self.delay = delay * 2;
        // Jitter, so that clients that failed together do not return together.
        let own = delay.mul_f64(rand::random_range(0.5..1.0));
        // An endpoint may ask for no delay at all.
        Some(failure.retry_after.map_or(own, |asked| asked.max(own)))
    }
}

fn is_temporary(error: &ModelError) -> bool {
    match error {
        ModelError::Timeout | ModelError::Unreachable(_) => true,
        ModelError::Status(status) => matches!(status, 408 | 425 | 429 | 500 | 502..=504 | 520..=530),
        ModelError::CoolingDown
        | ModelError::InvalidResponse(_)
        | ModelError::Refused { .. }
        | ModelError::Empty { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_and_end() {
        let mut retries = Retries::new(Duration::from_secs(1));
        let failure = Failure::from(ModelError::Status(503));
        let delays: Vec<f64> =
            std::iter::from_fn(|| retries.delay_after(&failure)).map(|at| at.as_secs_f64()).collect();
        assert_eq!(delays.len(), 4);
        for (delay, limit) in delays.iter().zip([1.0, 2.0, 4.0, 8.0]) {
            assert!((limit / 2.0..limit).contains(delay), "{delays:?}");
        }
    }

    #[test]
    fn only_temporary_failures_are_retried() {
        let delay = |error| Retries::new(Duration::ZERO).delay_after(&Failure::from(error));
        for status in [301, 400, 401, 403, 404, 422, 501] {
            assert_eq!(delay(ModelError::Status(status)), None, "{status}");
        }
        assert_eq!(delay(ModelError::Refused { tokens: None }), None);
        assert_eq!(delay(ModelError::Status(429)), Some(Duration::ZERO));
        let asked = Failure { error: ModelError::Status(429), retry_after: Some(Duration::from_secs(9)) };
        assert_eq!(Retries::new(Duration::ZERO).delay_after(&asked), Some(Duration::from_secs(9)));
        let at_once = Failure { error: ModelError::Status(429), retry_after: Some(Duration::ZERO) };
        assert!(Retries::new(Duration::from_secs(1)).delay_after(&at_once) >= Some(Duration::from_millis(500)));
    }
}
