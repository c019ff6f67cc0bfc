//! Arguments and results of operations on vectors.

use model::{CaptureId, DocId, Timestamp};

use crate::passage_vectors::{PassageVector, decode};

/// Vectors of the passages of a capture, of one model.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CaptureVectors {
    pub capture_id: CaptureId,
    /// In order of the ordinals. Passages that the model rejects have none, nor have those beyond the limit per document.
    pub passages: Vec<PassageVector>,
    /// False if passages still wait to be embedded, or if the vectors are those of an earlier content.
    pub complete: bool,
}

impl CaptureVectors {
    /// Decodes stored vectors. `None` for damaged ones.
    pub(crate) fn decode((capture_id, bytes, complete): (CaptureId, Vec<u8>, bool)) -> Option<Self> {
        Some(Self { capture_id, passages: decode(&bytes)?, complete })
    }
}

/// Vectors to store.
#[derive(Clone, Debug)]
pub struct NewVectors {
    pub doc_id: DocId,
    /// Title that was embedded with the passages.
    pub title: Option<String>,
    pub capture_id: CaptureId,
    /// Digest of the content of the capture.
    pub content_digest: String,
    /// In order of the ordinals, all with the same number of components.
    pub passages: Vec<PassageVector>,
    /// State of the document's job.
    pub progress: EmbeddingProgress,
}

/// State of a job after its passages were embedded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EmbeddingProgress {
    Complete,
    /// Passages are left to embed, at this time at the earliest, after this many attempts at which the model rejected a text.
    Partial {
        attempts: i32,
        not_before: Timestamp,
    },
}

/// Returns the first 8 bytes of a digest such as `sha256:...`, in hexadecimal; 0 for any other text.
pub(crate) fn content_key(digest: &str) -> i64 {
    let hex = digest.strip_prefix("sha256:").and_then(|hex| hex.get(..16));
    hex.and_then(|hex| u64::from_str_radix(hex, 16).ok()).map_or(0, u64::cast_signed)
}
