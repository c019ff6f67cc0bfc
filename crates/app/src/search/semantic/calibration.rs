//! Quality of the model, as a worker has measured it.

use std::sync::OnceLock;

use docstore::Docstore;
use retrieval_core::fusion::Calibration;

use super::lookup_pause::LookupPause;

/// Calibration of a model, looked up until it is known.
#[derive(Default)]
pub struct KnownCalibration {
    known: OnceLock<Calibration>,
    pause: LookupPause,
}

impl KnownCalibration {
    /// Returns the calibration of the model; `None` until it is measured. A failure of the docstore is logged.
    pub async fn of(&self, store: &Docstore, model: &str) -> Option<Calibration> {
        if self.known.get().is_none() && self.pause.is_over() {
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
}
