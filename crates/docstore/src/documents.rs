//! What callers hand in and get back of documents, beyond single rows.

use crate::rows::{Capture, Document, Passage};

/// A document with its latest capture, as ranking reads it.
#[derive(Clone, Debug)]
pub struct LoadedDocument {
    pub document: Document,
    pub capture: Capture,
    /// In order.
    pub passages: Vec<Passage>,
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
    /// `first_seen_at` and `latest_capture_id` of a known document are kept as they are stored.
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
