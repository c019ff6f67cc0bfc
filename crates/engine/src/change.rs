use uuid::Uuid;

/// One step of feeding an index.
#[derive(Clone, Debug)]
pub enum Change {
    /// Adds the document, or replaces the one with the same id.
    Put(Box<IndexDocument>),
    Remove {
        doc_id: Uuid,
    },
}

impl Change {
    pub fn doc_id(&self) -> Uuid {
        match self {
            Change::Put(document) => document.doc_id,
            Change::Remove { doc_id } => *doc_id,
        }
    }
}

/// What an index knows of one document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexDocument {
    pub doc_id: Uuid,
    /// `None` for web documents, the owner for workspace documents.
    pub organization_id: Option<Uuid>,
    /// Lowercase ASCII host of the canonical URL; empty for workspace documents.
    pub host: String,
    pub title: String,
    /// Headings and description, one a line.
    pub headings: String,
    pub body: String,
    /// Two-letter ISO 639-1 code; decides the stemmer. `None` when it is not known.
    pub language: Option<String>,
    /// Two-letter ISO 3166-1 code, lowercase.
    pub country: Option<String>,
    /// Milliseconds since the Unix epoch.
    pub published_at: Option<i64>,
}
