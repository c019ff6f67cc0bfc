//! Arguments and results of document operations that span several rows.

use model::{CaptureFormat, CaptureId, DocId, OrganizationId, Timestamp};

use crate::parts::NewParts;
use crate::rows::{Capture, Document, PageRead, Passage};
use crate::visible::VisibleDocument;

/// Document with its latest capture, as needed for ranking.
#[derive(Clone, Debug)]
pub struct LoadedDocument {
    pub document: Document,
    pub capture: Capture,
    /// Passages of `capture.content`, in order of their ordinals.
    pub passages: Vec<Passage>,
}

/// State of a document, for cache validation: it changes with the content and with the metadata.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DocumentState {
    pub doc_id: DocId,
    pub capture_id: CaptureId,
    pub last_seen_at: Timestamp,
}

/// Document with its latest capture, without the content.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DocumentToRank {
    pub state: DocumentState,
    pub canonical_url: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub language: Option<String>,
    pub published_at: Option<Timestamp>,
    pub format: CaptureFormat,
    pub content_digest: String,
    /// Stored terms of this capture, of the requested version. They count only if the key is that of the title, description
    /// and language.
    pub terms: Option<KeyedTerms>,
}

/// Stored terms, with the key of the title, description and language that they were computed from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeyedTerms {
    pub text_key: i64,
    pub terms: Vec<u8>,
}

/// State that a stored term vector was computed from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TermVectorState {
    pub doc_id: DocId,
    pub capture_id: CaptureId,
    pub text_key: i64,
}

#[derive(Clone, Debug)]
pub struct StoredCapture {
    pub capture: Capture,
    /// Passages of `capture.content`, in order of their ordinals.
    pub passages: Vec<Passage>,
}

/// Capture of a document, which may have been replaced.
#[derive(Clone, Debug)]
pub struct ReadCapture {
    pub visible: VisibleDocument,
    pub stored: StoredCapture,
    /// Time at which another capture replaced it; `None` for a capture in use.
    pub superseded_at: Option<Timestamp>,
    /// Latest capture of the document.
    pub latest: Option<CaptureHead>,
}

/// Capture without its content.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CaptureHead {
    pub capture_id: CaptureId,
    pub captured_at: Timestamp,
    pub format: CaptureFormat,
    pub content_digest: String,
}

/// Document with newly read content, to be stored.
#[derive(Clone, Debug)]
pub struct NewDocument {
    /// For a listed document the store keeps its own `first_seen_at`, `latest_capture_id` and `removed_at`, and a known
    /// `last_crawled_at` if there is no new one; `listed` can only be set, never cleared.
    pub document: Document,
    pub capture: Capture,
    pub passages: Vec<Passage>,
    /// Present if and only if `capture.parts` is.
    pub parts: Option<NewParts>,
}

/// Web page to register for an organization that looked it up.
#[derive(Clone, Debug)]
pub struct NewPage {
    pub organization_id: OrganizationId,
    pub doc_id: DocId,
    pub canonical_url: String,
    /// URL before canonicalization.
    pub source_url: String,
}

/// Web page with content newly read for one organization, to be stored.
#[derive(Clone, Debug)]
pub struct NewPageRead {
    pub canonical_url: String,
    /// For a known page the store keeps its own `source_url`, `first_seen_at`, `stale_at` and `latest_capture_id`.
    pub read: PageRead,
    pub capture: Capture,
    pub passages: Vec<Passage>,
    /// Present if and only if `capture.parts` is.
    pub parts: Option<NewParts>,
}

impl NewPageRead {
    /// Creates the reading of a document by an organization.
    pub fn new(organization_id: OrganizationId, new: NewDocument) -> Self {
        let NewDocument { document, capture, passages, parts } = new;
        let read = PageRead {
            organization_id,
            doc_id: document.doc_id,
            source_url: document.source_url,
            title: document.title,
            description: document.description,
            mime: document.mime,
            language: document.language,
            labels: document.labels,
            published_at: document.published_at,
            first_seen_at: document.first_seen_at,
            last_seen_at: document.last_seen_at,
            last_crawled_at: document.last_crawled_at,
            stale_at: None,
            latest_capture_id: Some(capture.capture_id),
        };
        Self { canonical_url: document.canonical_url, read, capture, passages, parts }
    }
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
