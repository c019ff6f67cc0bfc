//! Calibration of the model: its quality is measured once, and stored.

use docstore::{Docstore, ModelCalibration, StoreError};
use models::ModelError;
use models::embedding::Embedder;
use retrieval_core::embeddings::QuantizedVector;
use retrieval_core::fusion::{CALIBRATION_VERSION, Calibration};

use super::call_size::CallSize;
use super::calls::{self, Called};
use super::round::{EmbedError, Embedding};

impl Embedding {
    /// Returns the calibration of the model. Embeds the texts for it, unless it is stored.
    ///
    /// # Errors
    /// Failures of the model or the database.
    pub async fn calibrate(&self) -> Result<Calibration, EmbedError> {
        if let Some(known) = find_calibration(&self.store, &self.model()).await? {
            return Ok(known);
        }
        let calibration = measure_with(self.embedder.as_ref(), &self.call_size).await?;
        self.store_calibration(calibration).await?;
        Ok(calibration)
    }

    async fn store_calibration(&self, calibration: Calibration) -> Result<(), StoreError> {
        let (model, Calibration { meaning, repetition }) = (self.model(), calibration);
        tracing::info!(model, meaning, repetition, "measured the embedding model");
        let version = CALIBRATION_VERSION;
        self.store.store_calibration(ModelCalibration { model, version, meaning, repetition }).await
    }
}

/// Returns the stored calibration of a model; `None` until it is measured.
///
/// # Errors
/// Failures of the database.
pub async fn find_calibration(store: &Docstore, model: &str) -> Result<Option<Calibration>, StoreError> {
    let found = store.find_calibration(model.to_owned(), CALIBRATION_VERSION).await?;
    Ok(found.map(|ModelCalibration { meaning, repetition, .. }| Calibration { meaning, repetition }))
}

/// Measures the quality of a model.
///
/// # Errors
/// Failures of the model.
pub async fn measure(embedder: &dyn Embedder) -> Result<Calibration, ModelError> {
    measure_with(embedder, &CallSize::default()).await
}

async fn measure_with(embedder: &dyn Embedder, size: &CallSize) -> Result<Calibration, ModelError> {
    let texts = Calibration::texts();
    let Called { vectors, unavailable, .. } = calls::embed(embedder, &texts, size, None).await;
    if let Some(error) = unavailable {
        return Err(error);
    }
    let mut by_text = vec![None; texts.len()];
    for (text, codes) in vectors {
        by_text[text] = codes.and_then(QuantizedVector::from_codes);
    }
    Ok(Calibration::of(&by_text))
}
