use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use models::ModelError;
use tokio::time::sleep;

/// Period during which the endpoint gets no requests.
#[derive(Default)]
pub struct Cooldown(Mutex<Option<Instant>>);

impl Cooldown {
    /// Starts a period of this length, unless the current one ends later.
    pub fn start(&self, length: Duration) {
        let mut until = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *until = (*until).max(Instant::now().checked_add(length));
    }

    pub fn is_active(&self) -> bool {
        self.remaining().is_some()
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// `CoolingDown` at once if it is not before the deadline.
    pub async fn wait_until(&self, deadline: tokio::time::Instant) -> Result<(), ModelError> {
        // Another request may extend the period meanwhile.
        while let Some(remaining) = self.remaining() {
            if tokio::time::Instant::now() + remaining >= deadline {
                return Err(ModelError::CoolingDown);
            }
            sleep(remaining).await;
        }
        Ok(())
    }

    /// Returns the time until the end; `None` after it.
    fn remaining(&self) -> Option<Duration> {
        let until = (*self.0.lock().unwrap_or_else(PoisonError::into_inner))?;
        until.checked_duration_since(Instant::now()).filter(|remaining| !remaining.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_period_does_not_end_a_longer_one() {
        let cooldown = Cooldown::default();
        assert!(!cooldown.is_active());
        cooldown.start(Duration::from_mins(1));
        cooldown.start(Duration::ZERO);
        cooldown.start(Duration::from_secs(1));
        assert!(cooldown.remaining() > Some(Duration::from_secs(50)));
    }
}
