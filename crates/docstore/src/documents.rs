//! What callers hand in and get back of documents, beyond single rows.

use model::{CaptureId, DocId, Timestamp};

use crate::rows::{Capture, Document, Passage};

/// A document with its latest capture, as ranking reads it.
#[derive(Clone, Debug)]
pub struct LoadedDocument {
    pub document: Document,
    pub capture: Capture,
    /// In order.
    pub passages: Vec<Passage>,
}

/// Tells whether what was once read of a document still holds: any change of its content or of what is said of it makes
/// another state.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DocumentState {
    pub doc_id: DocId,
    pub capture_id: CaptureId,
    pub last_seen_at: Timestamp,
}

#[derive(Clone, Debug)]
pub struct StoredCapture {
    pub capture: Capture,
    /// In order.
    pub passages: Vec<Passage>,
}

/// A document as it was just read, to be stored with its content.
#[derive(Clone, Debug)]
pub struct NewDocument {
    /// `first_seen_at`, `latest_capture_id`, `removed_at` and `stale_at` of a known document are the store's to say;
    /// `listed` only adds.
    pub document: Document,
    pub capture: Capture,
    pub passages: Vec<Passage>,
}

/// What storing one document changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Saved {
    /// New content or a new document.
    Stored,
    /// The same content; only what is said of it changed.
    Described,
    /// Nothing but the times of its last reading.
    Unchanged,
}
