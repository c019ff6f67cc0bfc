//! Term vectors of the beginning of documents, stored so that searches rank without reading contents.
//!
//! A stored vector counts only for the capture, the version and the texts beside the content that it was computed from, so it
//! is never stale.

use docstore::{Capture, Document, DocumentToRank, StoreError, StoredTermVector};
use model::{CaptureId, DocId};
use retrieval_core::rerank::{DocumentText, TERMS_VERSION, TermVector};

/// Bytes at the beginning of a content whose terms are stored. Searches analyse at least as much, so that later ones that read
/// a little more find it analysed.
pub const STORED_BYTES: usize = 64 * 1024;

/// Version of stored vectors as the database has it.
pub const VERSION: i32 = TERMS_VERSION.cast_signed();

/// Returns the texts of a document beside its content.
pub fn text_beside<'a>(
    title: Option<&'a str>,
    description: Option<&'a str>,
    language: Option<&'a str>,
) -> DocumentText<'a> {
    DocumentText {
        title: title.unwrap_or_default(),
        description: description.unwrap_or_default(),
        language,
        ..DocumentText::default()
    }
}

/// Returns the texts of a document beside its content.
pub fn text_of(document: &Document) -> DocumentText<'_> {
    text_beside(document.title.as_deref(), document.description.as_deref(), document.language.as_deref())
}

/// Returns the key that the database keeps with a vector.
pub fn text_key(text: &DocumentText<'_>) -> i64 {
    text.key().cast_signed()
}

/// Returns the row that stores a vector.
pub fn row(doc_id: DocId, capture_id: CaptureId, text_key: i64, terms: &TermVector) -> StoredTermVector {
    StoredTermVector { doc_id, capture_id, version: VERSION, text_key, terms: terms.to_bytes() }
}

/// Logs that vectors are not stored.
pub fn report_unstored(error: &StoreError) {
    tracing::warn!(error = error as &dyn std::error::Error, "term vectors are not stored: searches compute them");
}

/// Decodes the stored vector of a document. `None` if there is none that fits, or if it is damaged.
pub fn decode(found: &DocumentToRank) -> Option<TermVector> {
    let DocumentToRank { title, description, language, terms, .. } = found;
    let text = text_beside(title.as_deref(), description.as_deref(), language.as_deref());
    let stored = terms.as_ref().filter(|stored| stored.text_key == text_key(&text))?;
    TermVector::from_bytes(&stored.terms)
}

/// Beginning of a content that is analysed for storage.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Beginning {
    /// Its end in the content; behind that of the analysed text.
    pub byte_end: usize,
    /// Number of passages in it; `usize::MAX` for all.
    pub passages: usize,
}

impl Beginning {
    /// Returns the beginning that a search loads of a content, which is in `capture` as a whole.
    pub fn of(capture: &Capture) -> Self {
        match &capture.parts {
            None => Self { byte_end: capture.content.len(), passages: usize::MAX },
            Some(map) => {
                let end = map.start(map.first_parts(STORED_BYTES));
                Self { byte_end: capture.content.floor_char_boundary(end.byte), passages: end.passage }
            }
        }
    }
}
