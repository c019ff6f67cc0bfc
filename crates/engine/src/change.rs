use model::{Collection, DocId, Timestamp};

use crate::DocumentVectors;

/// Change of an index.
#[derive(Clone, Debug)]
pub enum Change {
    /// Adds a document or replaces the document with the same id.
    Put(Box<IndexDocument>),
    Remove {
        doc_id: DocId,
    },
}

impl Change {
    pub fn doc_id(&self) -> DocId {
        match self {
            Change::Put(document) => document.doc_id,
            Change::Remove { doc_id } => *doc_id,
        }
    }
}

/// Document as indexed.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexDocument {
    pub doc_id: DocId,
    pub collection: Collection,
    /// Lowercase ASCII host of the canonical URL; empty for workspace documents.
    pub host: String,
    /// Path of the canonical URL, as it is written there; empty for workspace documents.
    pub path: String,
    pub title: String,
    /// Headings and description, one per line.
    pub headings: String,
    pub body: String,
    /// Two-letter ISO 639-1 code, which selects the stemmer. `None` if unknown.
    pub language: Option<String>,
    /// Two-letter ISO 3166-1 code, lowercase.
    pub country: Option<String>,
    pub published_at: Option<Timestamp>,
    /// Labels that filters name, matched exactly.
    pub labels: Vec<String>,
    /// Vectors of the passages; `None` while they are not embedded.
    pub vectors: Option<DocumentVectors>,
}

impl IndexDocument {
    /// Returns an empty document.
    pub fn new(doc_id: DocId, collection: Collection) -> Self {
        Self {
            doc_id,
            collection,
            host: String::new(),
            path: String::new(),
            title: String::new(),
            headings: String::new(),
            body: String::new(),
            language: None,
            country: None,
            published_at: None,
            labels: Vec::new(),
            vectors: None,
        }
    }
}
