//! State of a model, as its calls tell it.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::ModelError;

/// Time for which a failed call counts as an outage. Only another call would tell its end, and there may be none for hours.
pub const OUTAGE: Duration = Duration::from_secs(60);

/// Time of the last failure, unless a later call succeeded.
#[derive(Default)]
pub struct Health(Mutex<Option<Instant>>);

impl Health {
    /// Records the outcome of a call for a number of texts. Calls without a request tell nothing, nor does the rejection of a single
    /// text.
    pub fn note<T>(&self, texts: usize, outcome: &Result<T, ModelError>) {
        let failed = match outcome {
            _ if texts == 0 => return,
            Err(ModelError::CoolingDown) => return,
            Err(ModelError::Status(400 | 413 | 422)) if texts == 1 => return,
            Err(_) => Some(Instant::now()),
            Ok(_) => None,
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = failed;
    }

    /// Returns `true` unless the last call failed less than [`OUTAGE`] ago.
    pub fn is_good(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_none_or(|failed| failed.elapsed() >= OUTAGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: Result<(), ModelError> = Err(ModelError::Status(500));

    #[tokio::test(start_paused = true)]
    async fn failure_counts_until_the_next_success_and_for_a_minute_at_most() {
        let health = Health::default();
        assert!(health.is_good());
        health.note(1, &FAILED);
        assert!(!health.is_good());
        health.note(1, &Ok(()));
        assert!(health.is_good());

        health.note(1, &FAILED);
        tokio::time::advance(OUTAGE - Duration::from_secs(1)).await;
        assert!(!health.is_good());
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(health.is_good());
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_tell_nothing_change_nothing() {
        let health = Health::default();
        for status in [400, 413, 422] {
            health.note(1, &Err::<(), _>(ModelError::Status(status)));
        }
        assert!(health.is_good(), "one text is at fault");
        health.note(2, &Err::<(), _>(ModelError::Status(400)));
        assert!(!health.is_good(), "an endpoint that rejects everything");
        for (texts, outcome) in [(0, Ok(())), (1, Err(ModelError::CoolingDown)), (1, Err(ModelError::Status(400)))] {
            health.note(texts, &outcome);
            assert!(!health.is_good());
        }
    }
}
