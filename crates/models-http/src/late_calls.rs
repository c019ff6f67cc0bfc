use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::cooldown::Cooldown;

/// Late calls in a row after which the endpoint pauses. A single one may be late for its texts, which others do not have.
const LATE: u32 = 2;
/// Length of a pause.
const PAUSE: Duration = Duration::from_secs(1);

/// Pause of an endpoint whose calls are late in a row. A hanging endpoint would cost every search the whole timeout.
#[derive(Default)]
pub struct LateCalls {
    pause: Cooldown,
    calls: Mutex<Calls>,
}

#[derive(Default)]
struct Calls {
    answered: Option<Instant>,
    /// Number of late calls since the last answer.
    late: u32,
}

impl LateCalls {
    pub fn are_paused(&self) -> bool {
        self.pause.is_active()
    }

    /// Notes an answer.
    pub fn note_answer(&self) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        *calls = Calls { answered: Some(Instant::now()), late: 0 };
    }

    /// Notes a late call that was sent at this time. It does not count if another call was answered meanwhile.
    pub fn note_late(&self, sent: Instant) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.answered.is_some_and(|answered| answered >= sent) {
            return;
        }
        calls.late = calls.late.saturating_add(1);
        if calls.late >= LATE {
            self.pause.start(PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_calls_in_a_row_start_a_pause() {
        let calls = LateCalls::default();
        calls.note_late(Instant::now());
        assert!(!calls.are_paused());
        calls.note_late(Instant::now());
        assert!(calls.are_paused());
    }

    #[test]
    fn late_calls_beside_answered_ones_start_no_pause() {
        let calls = LateCalls::default();
        for _ in 0..5 {
            let sent = Instant::now();
            calls.note_answer();
            // Both were sent before the answer.
            calls.note_late(sent);
            calls.note_late(sent);
            calls.note_late(Instant::now() + Duration::from_millis(1));
        }
        assert!(!calls.are_paused());
    }
}
