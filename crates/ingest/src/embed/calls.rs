//! Calls of the model for many texts, some of which it may reject.

use std::ops::Range;
use std::time::Duration;

use models::ModelError;
use models::embedding::{Embedder, TextKind};
use retrieval_core::embeddings::QuantizedVector;

/// Text that no model rejects.
const HARMLESS: &str = "text";
/// Wait for a model that pauses after a failure, before it counts as unavailable.
const COOLDOWN: Duration = Duration::from_millis(500);
const COOLDOWNS: usize = 20;

/// Outcome of a call for some texts.
pub enum Called {
    /// Quantized vectors, by text; `None` for rejected texts.
    Vectors(Vec<Option<Box<[i8]>>>),
    /// The model is unavailable, or rejects everything.
    Unavailable(ModelError),
}

/// Embeds texts. If the call fails although the model accepts a harmless text, the texts are bisected down to those at fault.
pub async fn embed(embedder: &dyn Embedder, texts: &[String]) -> Called {
    let mut vectors: Vec<Option<Box<[i8]>>> = vec![None; texts.len()];
    let mut parts: Vec<Range<usize>> = std::iter::once(0..texts.len()).collect();
    while let Some(part) = parts.pop() {
        let mut outcome = call(embedder, &texts[part.clone()]).await;
        if let Err(error) = outcome {
            if let Err(unavailable) = probe(embedder).await {
                tracing::debug!(error = &error as &dyn std::error::Error, "embedding passages failed");
                return Called::Unavailable(unavailable);
            }
            if part.len() > 1 {
                let middle = part.start + part.len() / 2;
                parts.extend([middle..part.end, part.start..middle]);
                continue;
            }
            // Once more, so that one failure by chance rejects nothing.
            outcome = call(embedder, &texts[part.clone()]).await;
        }
        if let Ok(embedded) = outcome {
            for (vector, codes) in vectors[part].iter_mut().zip(embedded) {
                *vector = codes;
            }
        }
    }
    Called::Vectors(vectors)
}

async fn call(embedder: &dyn Embedder, texts: &[String]) -> Result<Vec<Option<Box<[i8]>>>, ModelError> {
    let vectors = embedder.embed(TextKind::Document, texts).await?;
    if vectors.len() != texts.len() {
        return Err(ModelError::InvalidResponse(format!("{} vectors for {} texts", vectors.len(), texts.len())));
    }
    let quantized = |vector: Vec<f32>| QuantizedVector::quantize(&vector).map(|vector| vector.codes().into());
    Ok(vectors.into_iter().map(quantized).collect())
}

/// Returns the error of a model that does not embed a harmless text.
async fn probe(embedder: &dyn Embedder) -> Result<(), ModelError> {
    let texts = [HARMLESS.to_owned()];
    for _ in 0..COOLDOWNS {
        match embedder.embed(TextKind::Document, &texts).await {
            Err(ModelError::CoolingDown) => tokio::time::sleep(COOLDOWN).await,
            outcome => return outcome.map(drop),
        }
    }
    Err(ModelError::CoolingDown)
}
