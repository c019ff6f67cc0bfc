use diesel::prelude::*;

use crate::schema::outbox;
use crate::types::Id;

/// One document whose index entry must be made anew from the docstore.
#[derive(Clone, Debug, Identifiable, Queryable, Selectable)]
#[diesel(table_name = outbox)]
pub struct OutboxEntry {
    pub id: i64,
    pub index_name: String,
    pub doc_id: Id,
}

#[derive(Clone, Debug, Insertable)]
#[diesel(table_name = outbox)]
pub struct NewOutboxEntry {
    pub index_name: String,
    pub doc_id: Id,
    pub created_at: i64,
}
