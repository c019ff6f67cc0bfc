//! Calibration of the model: its quality is measured once, and stored.

use docstore::{ModelCalibration, StoreError};
use retrieval_core::embeddings::QuantizedVector;
use retrieval_core::fusion::{CALIBRATION_VERSION, Calibration};

use super::calls::{self, Called};
use super::round::{EmbedError, Embedding};

impl Embedding {
    /// Returns the calibration of the model. Embeds the texts for it, unless it is stored.
    ///
    /// # Errors
    /// Failures of the model or the database.
    pub async fn calibrate(&self) -> Result<Calibration, EmbedError> {
        if let Some(known) = self.store.find_calibration(self.model(), CALIBRATION_VERSION).await? {
            return Ok(Calibration { meaning: known.meaning, repetition: known.repetition });
        }
        let texts = Calibration::texts();
        let Called { vectors, unavailable } = calls::embed(self.embedder.as_ref(), &texts, &self.call_size).await;
        if let Some(error) = unavailable {
            return Err(error.into());
        }
        let mut by_text = vec![None; texts.len()];
        for (text, codes) in vectors {
            by_text[text] = codes.and_then(QuantizedVector::from_codes);
        }
        let calibration = Calibration::of(&by_text);
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
