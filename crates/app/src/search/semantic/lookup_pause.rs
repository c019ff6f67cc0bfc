use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Pause between lookups of a state that other processes change.
const LOOKUP_PAUSE: Duration = Duration::from_secs(1);

/// Time of the last lookup.
#[derive(Default)]
pub struct LookupPause(Mutex<Option<Instant>>);

impl LookupPause {
    /// Returns true for the first call after the pause. Its caller makes the next lookup.
    pub fn is_over(&self) -> bool {
        let mut looked_up = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = looked_up.is_none_or(|at| at.elapsed() >= LOOKUP_PAUSE);
        if is_over {
            *looked_up = Some(Instant::now());
        }
        is_over
    }
}
