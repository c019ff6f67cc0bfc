use diesel::prelude::*;
use model::{IndexName, Timestamp};

use crate::outbox_work::OutboxWork;
use crate::schema::outbox;
use crate::types::row;

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
