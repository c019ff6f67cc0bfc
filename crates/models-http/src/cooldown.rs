use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long an endpoint that was late is left alone.
const LENGTH: Duration = Duration::from_secs(1);

/// The moment until which nobody is to be asked.
#[derive(Default)]
pub struct Pause(Mutex<Option<Instant>>);

impl Pause {
    pub fn start(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now().checked_add(LENGTH);
    }

    pub fn is_on(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|until| Instant::now() < until)
    }
}
