//! Stored vectors of the documents of a batch.

use std::collections::HashMap;

use docstore::{Capture, CaptureVectors, Docstore, Document, StoreError};
use engine::DocumentVectors;
use model::CaptureId;
use retrieval_core::embeddings::{QuantizedVector, VectorSpace};

/// Captures whose vectors are read at a time: those of a long document take up to 2 MB.
const CAPTURES_PER_READ: usize = 16;

/// Vectors of documents, read in the order of the documents.
pub struct Vectors<'a> {
    store: &'a Docstore,
    /// `None`: documents are indexed without vectors.
    model: Option<&'a str>,
    unread: Vec<CaptureId>,
    read: HashMap<CaptureId, CaptureVectors>,
}

/// Vectors of a document.
pub enum Found {
    Vectors(DocumentVectors),
    /// The document has no passages to embed, or the index has no vectors.
    Nothing,
    Unembedded,
}

impl<'a> Vectors<'a> {
    pub fn new(store: &'a Docstore, model: Option<&'a str>, documents: &[(Document, Capture)]) -> Self {
        let unread = documents.iter().map(|(_, capture)| capture.capture_id).collect();
        Self { store, model, unread, read: HashMap::new() }
    }

    /// Returns the vectors of a capture, once.
    pub async fn take(&mut self, capture_id: CaptureId) -> Result<Found, StoreError> {
        let Some(model) = self.model else { return Ok(Found::Nothing) };
        if let Some(position) = self.unread.iter().position(|unread| *unread == capture_id) {
            let last = self.unread.len().min(position + CAPTURES_PER_READ);
            let group: Vec<CaptureId> = self.unread.drain(position..last).collect();
            let vectors = self.store.list_vectors(group, model.to_owned()).await?;
            self.read.extend(vectors.into_iter().map(|vectors| (vectors.capture_id, vectors)));
        }
        let Some(stored) = self.read.remove(&capture_id) else { return Ok(Found::Unembedded) };
        let passages: Vec<QuantizedVector> =
            stored.passages.into_iter().filter_map(|passage| QuantizedVector::from_codes(passage.codes)).collect();
        if passages.is_empty() {
            return Ok(Found::Nothing);
        }
        Ok(Found::Vectors(DocumentVectors { space: VectorSpace::of(model), passages }))
    }
}
