use std::collections::HashMap;

use model::{Collection, DocId, Timestamp};

use crate::{DocumentVectors, VectorKind};

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

/// Returns the documents to store and those to remove after all changes, each ordered by id. The last change of a document counts.
pub fn last_changes(changes: Vec<Change>) -> (Vec<IndexDocument>, Vec<DocId>) {
    let last: HashMap<DocId, Change> = changes.into_iter().map(|change| (change.doc_id(), change)).collect();
    let (mut documents, mut removed) = (Vec::new(), Vec::new());
    for (doc_id, change) in last {
        match change {
            Change::Put(document) => documents.push(*document),
            Change::Remove { .. } => removed.push(doc_id),
        }
    }
    documents.sort_unstable_by_key(|document| document.doc_id);
    removed.sort_unstable();
    (documents, removed)
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

    /// Returns the kind of its vectors; `None` if it has none.
    pub fn vector_kind(&self) -> Option<VectorKind> {
        self.vectors.as_ref()?.kind()
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn last_change_of_a_document_counts() {
        let id = |number| DocId(Uuid::from_u128(number));
        let put = |number, title: &str| {
            let document = IndexDocument { title: title.to_owned(), ..IndexDocument::new(id(number), Collection::Web) };
            Change::Put(Box::new(document))
        };
        let remove = |number| Change::Remove { doc_id: id(number) };
        let (documents, removed) =
            last_changes(vec![put(3, "old"), put(2, ""), remove(4), remove(1), put(1, ""), remove(2), put(3, "new")]);
        let stored: Vec<_> = documents.iter().map(|document| (document.doc_id, &*document.title)).collect();
        assert_eq!(stored, [(id(1), ""), (id(3), "new")]);
        assert_eq!(removed, [id(2), id(4)]);
    }
}
