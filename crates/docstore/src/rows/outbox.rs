use diesel::prelude::*;
use model::{DocId, IndexName, Timestamp};
use uuid::Uuid;

use crate::schema::outbox;
use crate::types::row;

/// A change that an index still lacks.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum OutboxWork {
    /// Index the document anew from the docstore, or remove it from the index.
    Document(DocId),
    /// Empty the index before the entries that follow.
    ClearIndex,
}

/// The stored form is an id. The nil UUID means `ClearIndex`: ids of documents are of version 5.
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

/// An entry of the outbox.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = outbox)]
pub struct OutboxEntry {
    pub id: i64,
    pub index_name: IndexName,
    #[diesel(column_name = doc_id)]
    pub work: OutboxWork,
}

row! {
    #[derive(Clone, Debug, Insertable)]
    #[diesel(table_name = outbox)]
    pub struct NewOutboxEntry {
        pub index_name: IndexName,
        #[diesel(column_name = doc_id)]
        pub work: OutboxWork,
        pub created_at: Timestamp,
    }
}
