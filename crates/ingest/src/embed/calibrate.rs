//! Calibration of the model: its quality is measured once, and stored.

use docstore::{Docstore, ModelCalibration, StoreError};
use models::ModelError;
use models::embedding::Embedder;
use retrieval_core::analysis::Language;
use retrieval_core::embeddings::QuantizedVector;
use retrieval_core::fusion::{CALIBRATION_VERSION, Calibration, CalibrationVector, Meaning};

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
        let (meaning, by_language, version) = (meaning.best(), encode(&meaning), CALIBRATION_VERSION);
        tracing::info!(model, meaning, by_language, repetition, "measured the embedding model");
        self.store.store_calibration(ModelCalibration { model, version, meaning, repetition, by_language }).await
    }
}

/// Returns the stored calibration of a model; `None` until it is measured.
///
/// # Errors
/// Failures of the database.
pub async fn find_calibration(store: &Docstore, model: &str) -> Result<Option<Calibration>, StoreError> {
    let found = store.find_calibration(model.to_owned(), CALIBRATION_VERSION).await?;
    Ok(found.and_then(|ModelCalibration { repetition, by_language, .. }| {
        Some(Calibration { meaning: decode(&by_language)?, repetition })
    }))
}

/// Writes the values as `en=7.7 de=0.6`.
fn encode(meaning: &Meaning) -> String {
    let values = meaning.by_language().map(|(language, value)| format!("{}={value}", language.code()));
    values.collect::<Vec<String>>().join(" ")
}

/// Reads the values that [`encode`] has written. Others are left out; `None` if nothing is left.
fn decode(text: &str) -> Option<Meaning> {
    Meaning::of(text.split(' ').filter_map(|entry| {
        let (code, value) = entry.split_once('=')?;
        Some((Language::from_code(code)?, value.parse().ok()?))
    }))
}

/// Measures the quality of a model.
///
/// # Errors
/// Failures of the model, and `InvalidResponse` if it rejects too many of the texts.
pub async fn measure(embedder: &dyn Embedder) -> Result<Calibration, ModelError> {
    measure_with(embedder, &CallSize::default()).await
}

async fn measure_with(embedder: &dyn Embedder, size: &CallSize) -> Result<Calibration, ModelError> {
    let texts = Calibration::texts();
    let Called { vectors, unavailable, .. } = calls::embed(embedder, &texts, size, None).await;
    if let Some(error) = unavailable {
        return Err(error);
    }
    let mut by_text = vec![CalibrationVector::Rejected; texts.len()];
    for (text, codes) in vectors {
        if let Some(codes) = codes {
            by_text[text] =
                QuantizedVector::from_codes(codes).map_or(CalibrationVector::Unknown, CalibrationVector::Known);
        }
    }
    let rejected = || ModelError::InvalidResponse("too many texts that measure the model are rejected".to_owned());
    Calibration::of(&by_text).ok_or_else(rejected)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use async_trait::async_trait;
    use models::embedding::TextKind;
    use retrieval_core::embeddings::VectorSpace;

    use super::*;

    const DIMENSIONS: usize = 384;
    /// Component that all texts have in common, with four times the square of all others together.
    const COMMON: f32 = 32.0;

    /// Anisotropic model that knows English, and rejects some texts.
    struct Model {
        texts: Vec<String>,
        rejected: fn(&str) -> bool,
    }

    impl Model {
        fn new(rejected: fn(&str) -> bool) -> Self {
            Self { texts: Calibration::texts(), rejected }
        }

        fn vector(&self, text: &str) -> Vec<f32> {
            // Texts with the words of the English questions come last, one per pair.
            let repetitions = self.texts.iter().rposition(|text| text.starts_with(&self.texts[0])).unwrap();
            let english = &self.texts[..2 * (self.texts.len() - repetitions)];
            let place = english.iter().position(|known| known == text);
            let meaning = place.map_or(text.to_owned(), |place| format!("pair {}", place / 2));
            let sum = random(&meaning).into_iter().zip(random(&format!("text {text}"))).map(|(one, other)| one + other);
            std::iter::once(COMMON).chain(sum).collect()
        }
    }

    /// Nearly normal components that depend on a text only.
    fn random(text: &str) -> Vec<f32> {
        let mut state = VectorSpace::of(text).0;
        let mut unit = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1_u64 << 24) as f32
        };
        (0..DIMENSIONS).map(|_| (0..4).map(|_| unit()).sum::<f32>() - 2.0).collect()
    }

    #[async_trait]
    impl Embedder for Model {
        async fn embed(&self, _: TextKind, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
            if texts.iter().any(|text| (self.rejected)(text)) {
                return Err(ModelError::InvalidResponse("a vector is zero".to_owned()));
            }
            Ok(texts.iter().map(|text| self.vector(text)).collect())
        }

        fn dimensions(&self) -> Option<usize> {
            Some(DIMENSIONS + 1)
        }

        fn version(&self) -> &str {
            "anisotropic"
        }

        fn is_healthy(&self) -> bool {
            true
        }
    }

    #[tokio::test]
    async fn rejected_text_does_not_spoil_the_quality() {
        let whole = Model::new(|_| false);
        let vectors = whole.texts.iter().map(|text| QuantizedVector::quantize(&whole.vector(text)).unwrap());
        let vectors: Vec<QuantizedVector> = vectors.collect();
        assert!(vectors[1..].iter().all(|vector| vector.cosine(&vectors[0]) >= 0.7));
        let whole = measure(&whole).await.unwrap();
        assert!(whole.meaning.best() > 6.0, "{whole:?}");
        assert_eq!(decode(&encode(&whole.meaning)), Some(whole.meaning));
        let without = measure(&Model::new(|text| text == "cheap flights")).await.unwrap();
        assert!((without.meaning.best() - whole.meaning.best()).abs() < 0.5, "{without:?} {whole:?}");
        assert!((without.repetition - whole.repetition).abs() < 0.5, "{without:?} {whole:?}");
    }

    #[test]
    fn stored_values_are_read_as_far_as_they_are_known() {
        let known = |values: &[(Language, f64)]| Meaning::of(values.iter().copied());
        let (english, german) = ((Language::English, 7.7), (Language::German, -0.25));
        assert_eq!(decode("en=7.7 de=-0.25"), known(&[english, german]));
        assert_eq!(decode(" en=7.7  xx=1 it=2 fr=NaN de=-0.25 ja= ko"), known(&[english, german]));
        for text in ["", " ", "7.7", "=", "en=inf", "xx=1"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    #[tokio::test]
    async fn model_that_rejects_the_texts_is_not_measured() {
        // The probe is accepted.
        let outcome = measure(&Model::new(|text| text != "text")).await;
        assert!(matches!(outcome, Err(ModelError::InvalidResponse(_))), "{outcome:?}");
    }
}
