//! Term vectors of the beginning of documents, stored so that searches rank without reading contents.
//!
//! A stored vector counts only for the capture, the version and the texts beside the content that it was computed from, so it
//! is never stale.

use std::borrow::Cow;

use docstore::{Capture, Document, DocumentToRank, StoreError, StoredTermVector};
use model::{CaptureId, DocId};
use retrieval_core::rerank::{DocumentText, TERMS_VERSION, TermVector};

use crate::prepare::name_beside_title;

/// Bytes at the beginning of a content whose terms are stored. Searches analyse at least as much, so that later ones that read
/// a little more find it analysed.
pub const STORED_BYTES: usize = 64 * 1024;

/// Version of stored vectors as the database has it.
pub const VERSION: i32 = TERMS_VERSION.cast_signed();

/// Texts of a document beside its content.
pub struct TextBeside<'a> {
    title: &'a str,
    /// Description, and the name of a file with another title.
    description: Cow<'a, str>,
    language: Option<&'a str>,
}

impl<'a> TextBeside<'a> {
    pub fn of(document: &'a Document) -> Self {
        let Document { canonical_url, title, description, language, .. } = document;
        Self::new(canonical_url, title.as_deref(), description.as_deref(), language.as_deref())
    }

    fn new(
        canonical_url: &str,
        title: Option<&'a str>,
        description: Option<&'a str>,
        language: Option<&'a str>,
    ) -> Self {
        let described = description.unwrap_or_default();
        let description = match name_beside_title(canonical_url, title) {
            Some(name) => Cow::Owned(format!("{described}\n{name}")),
            None => Cow::Borrowed(described),
        };
        Self { title: title.unwrap_or_default(), description, language }
    }

    /// Returns the texts, without a content.
    pub fn text(&self) -> DocumentText<'_> {
        let Self { title, description, language } = self;
        DocumentText { title, description, language: *language, ..DocumentText::default() }
    }

    /// Returns the key that the database keeps with a vector.
    pub fn key(&self) -> i64 {
        text_key(&self.text())
    }
}

/// Returns the key that the database keeps with a vector.
fn text_key(text: &DocumentText<'_>) -> i64 {
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
    let DocumentToRank { canonical_url, title, description, language, terms, .. } = found;
    let text = TextBeside::new(canonical_url, title.as_deref(), description.as_deref(), language.as_deref());
    let stored = terms.as_ref().filter(|stored| stored.text_key == text.key())?;
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
