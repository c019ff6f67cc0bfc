//! Number of texts per call, as the model can embed them in time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of texts per call.
const MAX_TEXTS: usize = 64;
/// Calls in time after which calls become larger.
const CALLS_IN_TIME: usize = 8;

/// Number of texts per call: halved when a call is late or ends the model, doubled again after some that did not. Clones share it, so
/// that an endpoint does not get calls again that it cannot answer.
#[derive(Clone, Debug, Default)]
pub struct CallSize(Arc<Mutex<Size>>);

#[derive(Debug)]
struct Size {
    texts: usize,
    /// Calls of this size in time since it changed.
    in_time: usize,
}

impl Default for Size {
    fn default() -> Self {
        Self { texts: MAX_TEXTS, in_time: 0 }
    }
}

impl CallSize {
    /// Returns the number of texts of the next call, at least one.
    pub fn texts(&self) -> usize {
        self.lock().texts
    }

    /// Records a call that the model answered in time.
    pub fn in_time(&self, texts: usize) {
        let mut size = self.lock();
        if texts < size.texts {
            return;
        }
        size.in_time += 1;
        if size.in_time >= CALLS_IN_TIME {
            *size = Size { texts: (size.texts * 2).min(MAX_TEXTS), in_time: 0 };
        }
    }

    /// Records a call that timed out, or after which the model was unavailable. One text cannot be divided.
    pub fn late(&self, texts: usize) {
        if texts > 1 {
            self.limit(texts / 2);
        }
    }

    /// Limits the next calls to this number of texts, at least one.
    pub fn limit(&self, texts: usize) {
        let mut size = self.lock();
        *size = Size { texts: size.texts.min(texts.max(1)), in_time: 0 };
    }

    fn lock(&self) -> MutexGuard<'_, Size> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_shrink_when_they_are_late_and_grow_again() {
        let size = CallSize::default();
        let shared = size.clone();
        size.late(64);
        size.late(32);
        assert_eq!(shared.texts(), 16);
        size.late(60);
        assert_eq!(shared.texts(), 16, "a larger one that began before");
        (0..CALLS_IN_TIME - 1).for_each(|_| size.in_time(16));
        size.in_time(15);
        assert_eq!(shared.texts(), 16, "smaller calls tell nothing");
        size.in_time(16);
        assert_eq!(shared.texts(), 32);
        (0..10 * CALLS_IN_TIME).for_each(|_| size.in_time(size.texts()));
        assert_eq!(shared.texts(), MAX_TEXTS);
    }

    #[test]
    fn calls_have_at_least_one_text() {
        let size = CallSize::default();
        size.late(1);
        assert_eq!(size.texts(), MAX_TEXTS);
        size.late(3);
        size.late(1);
        assert_eq!(size.texts(), 1);
    }

    #[test]
    fn calls_are_limited_until_some_are_in_time() {
        let size = CallSize::default();
        size.limit(4);
        size.limit(9);
        assert_eq!(size.texts(), 4, "a limit never makes calls larger");
        (0..CALLS_IN_TIME).for_each(|_| size.in_time(4));
        assert_eq!(size.texts(), 8);
        size.limit(0);
        assert_eq!(size.texts(), 1);
    }
}
