//! Arguments and results of document operations that span several rows.

use model::{CaptureId, DocId, Timestamp};

use crate::rows::{Capture, Document, Passage};

/// Document with its latest capture, as needed for ranking.
#[derive(Clone, Debug)]
pub struct LoadedDocument {
    pub document: Document,
    pub capture: Capture,
    /// In order of their ordinals.
    pub passages: Vec<Passage>,
}

/// State of a document, for cache validation: it changes with the content and with the metadata.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DocumentState {
    pub doc_id: DocId,
    pub capture_id: CaptureId,
    pub last_seen_at: Timestamp,
}

#[derive(Clone, Debug)]
pub struct StoredCapture {
    pub capture: Capture,
    /// In order of their ordinals.
    pub passages: Vec<Passage>,
}

/// Document with newly read content, to be stored.
#[derive(Clone, Debug)]
pub struct NewDocument {
    /// For a known document the store keeps its own `first_seen_at`, `latest_capture_id`, `removed_at` and `stale_at`;
    /// `listed` can only be set, never cleared.
    pub document: Document,
    pub capture: Capture,
    pub passages: Vec<Passage>,
}

/// Result of storing one document.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SaveOutcome {
    /// The document or its content is new.
    Stored,
    /// The content is the same; only metadata changed.
    MetadataChanged,
    /// Only the times of the last reading changed.
    Unchanged,
}
