//! Batches of changes to an index.

use docstore::{Capture, Document};
use engine::{Change, DocumentVectors, IndexDocument};
use file_types::label;
use model::{Collection, DocId};

use crate::prepare::name_beside_title;

/// Estimated memory of a change beyond its text, in bytes.
const OVERHEAD: usize = 256;
/// Estimated memory of a vector beyond its components, in bytes.
const VECTOR_OVERHEAD: usize = 32;

/// Changes for one call of the engine, and the outbox entries that they complete.
#[derive(Default)]
pub struct Batch {
    pub changes: Vec<Change>,
    pub entries: Vec<i64>,
    /// Documents that lack vectors of the index's model.
    pub unembedded: Vec<DocId>,
    /// Approximate memory in bytes.
    pub bytes: usize,
}

impl Batch {
    pub fn put(&mut self, document: IndexDocument) {
        let vectors = document.vectors.iter().flat_map(|vectors| &vectors.passages);
        let vectors: usize = vectors.map(|vector| vector.dimensions() + VECTOR_OVERHEAD).sum();
        self.bytes += document.body.len() + document.headings.len() + vectors + OVERHEAD;
        self.changes.push(Change::Put(Box::new(document)));
    }

    pub fn remove(&mut self, doc_id: DocId) {
        self.changes.push(Change::Remove { doc_id });
    }
}

/// Converts a document and its capture to the fields that an index stores.
pub fn index_document(document: Document, capture: Capture, vectors: Option<DocumentVectors>) -> IndexDocument {
    let (host, path) = retrieval_core::url::CanonicalUrl::parse(&document.canonical_url)
        .map(|url| (url.host().to_owned(), url.path().to_owned()))
        .unwrap_or_default();
    let mut headings = capture.headings.0.join("\n");
    if let Some(description) = &document.description {
        headings.push('\n');
        headings.push_str(description);
    }
    if let Some(name) = name_beside_title(&document.canonical_url, document.title.as_deref()) {
        headings.push('\n');
        headings.push_str(&name);
    }
    // Only files are found by label.
    let labels = match document.collection {
        Collection::Web => Vec::new(),
        Collection::Workspace(_) => document.labels.0.iter().map(|text| label::fold(text)).collect(),
    };
    IndexDocument {
        doc_id: document.doc_id,
        collection: document.collection,
        host,
        path,
        title: document.title.unwrap_or_default(),
        headings,
        body: capture.content,
        language: document.language,
        country: document.country,
        published_at: document.published_at,
        labels,
        vectors,
    }
}
