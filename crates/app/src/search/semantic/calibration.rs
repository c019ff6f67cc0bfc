//! Quality of the model, as a worker has measured it.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use docstore::Docstore;
use retrieval_core::fusion::Calibration;

/// Pause between lookups of a calibration that is not known yet.
const LOOKUP_PAUSE: Duration = Duration::from_secs(1);

/// Calibration of a model, looked up until it is known.
#[derive(Default)]
pub struct KnownCalibration {
    known: OnceLock<Calibration>,
    looked_up: Mutex<Option<Instant>>,
}

impl KnownCalibration {
    /// Returns the calibration of the model; `None` until it is measured. A failure of the docstore is logged.
    pub async fn of(&self, store: &Docstore, model: &str) -> Option<Calibration> {
        if self.known.get().is_none() && self.is_due() {
            match ingest::embed::find_calibration(store, model).await {
                Ok(Some(found)) => return Some(*self.known.get_or_init(|| found)),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "the quality of the model cannot be read");
                }
            }
        }
        self.known.get().copied()
    }

    fn is_due(&self) -> bool {
        let mut looked_up = self.looked_up.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = looked_up.is_none_or(|at| at.elapsed() >= LOOKUP_PAUSE);
        if is_due {
            *looked_up = Some(Instant::now());
        }
        is_due
    }
}
