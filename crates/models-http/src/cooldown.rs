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
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|until| Instant::now() < until)
    }
}
