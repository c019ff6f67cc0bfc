use model::DocId;
use uuid::Uuid;

/// Pending change of an index.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum OutboxWork {
    /// Reindex the document from the docstore, or remove it from the index if it is gone.
    Document(DocId),
    /// Clear the index before the entries that follow.
    ClearIndex,
}

/// Decodes the stored id. The nil UUID means `ClearIndex`; document ids are of version 5 and never nil.
impl From<Uuid> for OutboxWork {
    fn from(id: Uuid) -> Self {
        if id.is_nil() { Self::ClearIndex } else { Self::Document(DocId(id)) }
    }
}

impl From<OutboxWork> for Uuid {
    fn from(work: OutboxWork) -> Self {
        match work {
            OutboxWork::Document(doc_id) => doc_id.0,
            OutboxWork::ClearIndex => Uuid::nil(),
        }
    }
}
