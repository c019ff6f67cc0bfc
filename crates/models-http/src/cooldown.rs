use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Period during which the endpoint gets no requests.
#[derive(Default)]
pub struct Cooldown(Mutex<Option<Instant>>);

impl Cooldown {
    pub fn start(&self, length: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now().checked_add(length);
    }

    pub fn is_active(&self) -> bool {
        self.remaining().is_some()
    }

    /// Returns the time until the end; `None` after it.
    pub fn remaining(&self) -> Option<Duration> {
        let until = (*self.0.lock().unwrap_or_else(PoisonError::into_inner))?;
        until.checked_duration_since(Instant::now()).filter(|remaining| !remaining.is_zero())
    }
}
