//! Stored vectors of the documents of a batch.

use std::collections::HashMap;

use docstore::{Capture, CaptureVectors, Docstore, Document, StoreError};
use engine::DocumentVectors;
use model::CaptureId;
use retrieval_core::embeddings::{QuantizedVector, VectorSpace};

/// Maximum number of captures whose vectors are read at a time.
const CAPTURES_PER_READ: usize = 16;
/// Maximum length of their contents in bytes, unless it is a single one. The vectors of a passage of 1,000 characters take up to 8 kB,
/// and the vectors that a batch has no room for are read again.
const CONTENT_PER_READ: usize = 1 << 20;

/// Capture whose vectors were not read.
struct Unread {
    capture_id: CaptureId,
    content_bytes: usize,
}

impl Unread {
    fn new(capture: &Capture) -> Self {
        let content_bytes = capture.parts.as_ref().map_or(capture.content.len(), |map| map.end().byte);
        Self { capture_id: capture.capture_id, content_bytes }
    }
}

/// Vectors of documents, read in the order of the documents.
pub struct Vectors<'a> {
    store: &'a Docstore,
    /// `None`: documents are indexed without vectors.
    model: Option<&'a str>,
    unread: Vec<Unread>,
    read: HashMap<CaptureId, CaptureVectors>,
}

/// Vectors of a document.
pub enum Found {
    Vectors(DocumentVectors),
    /// The document has no passages to embed or none that the model knows, or the index has no vectors.
    Nothing,
    Unembedded,
}

impl<'a> Vectors<'a> {
    pub fn new(store: &'a Docstore, model: Option<&'a str>, documents: &[(Document, Capture)]) -> Self {
        let unread = documents.iter().map(|(_, capture)| Unread::new(capture)).collect();
        Self { store, model, unread, read: HashMap::new() }
    }

    /// Returns the vectors of a capture, once.
    pub async fn take(&mut self, capture_id: CaptureId) -> Result<Found, StoreError> {
        let Some(model) = self.model else { return Ok(Found::Nothing) };
        if let Some(position) = self.unread.iter().position(|unread| unread.capture_id == capture_id) {
            let last = position + group_length(&self.unread[position..]);
            let group: Vec<CaptureId> = self.unread.drain(position..last).map(|unread| unread.capture_id).collect();
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

/// Returns the number of captures to read at once: the first one, and those behind it while their contents are short together.
fn group_length(unread: &[Unread]) -> usize {
    let mut bytes = 0_usize;
    let fitting = unread.iter().take(CAPTURES_PER_READ).take_while(|capture| {
        bytes = bytes.saturating_add(capture.content_bytes);
        bytes <= CONTENT_PER_READ
    });
    fitting.count().max(1).min(unread.len())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn vectors_of_long_documents_are_read_alone() {
        const SHORT: usize = 10_000;
        const LONG: usize = 3_000_000;
        for (contents, expected) in [
            (vec![], 0),
            (vec![SHORT], 1),
            (vec![SHORT; 40], CAPTURES_PER_READ),
            (vec![LONG; 40], 1),
            (vec![LONG, SHORT], 1),
            (vec![SHORT, SHORT, LONG, SHORT], 2),
            (vec![400_000; 16], 2),
            (vec![usize::MAX; 3], 1),
        ] {
            let unread =
                |content_bytes: &usize| Unread { capture_id: CaptureId(Uuid::nil()), content_bytes: *content_bytes };
            let unread: Vec<Unread> = contents.iter().map(unread).collect();
            assert_eq!(group_length(&unread), expected, "{contents:?}");
        }
    }
}
