use diesel::prelude::*;
use model::{Generation, IndexName, OrganizationId, Timestamp};

use crate::arrays::array_row;
use crate::outbox_work::OutboxWork;
use crate::schema::{index_generations, outbox};
use crate::types::row;

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = outbox)]
pub struct OutboxEntry {
    pub id: i64,
    pub index_name: IndexName,
    #[diesel(column_name = doc_id)]
    pub work: OutboxWork,
    /// Organization whose turn the entry is; `None` for the web.
    pub organization_id: Option<OrganizationId>,
}

/// Entries that wait for an index.
#[derive(Clone, Debug)]
pub struct PendingOutbox {
    /// In the order of their ids.
    pub entries: Vec<OutboxEntry>,
    /// True if there may be more.
    pub has_more: bool,
}

row! {
    #[derive(Clone, Debug, Insertable)]
    #[diesel(table_name = outbox, treat_none_as_default_value = false)]
    pub struct NewOutboxEntry {
        pub index_name: IndexName,
        #[diesel(column_name = doc_id)]
        pub work: OutboxWork,
        pub created_at: Timestamp,
        pub organization_id: Option<OrganizationId>,
    }
}

array_row!(NewOutboxEntry => outbox {
    index_name: index_name, doc_id: work, created_at: created_at, organization_id: organization_id,
});

/// Generations in which the database may have left an index.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Queryable, Selectable)]
#[diesel(table_name = index_generations)]
pub struct IndexGenerations {
    /// State after the last complete batch; `None` before the first one.
    pub completed: Option<Generation>,
    /// State after the batch that has started.
    pub started: Option<Generation>,
}

impl IndexGenerations {
    /// Returns true if an index in this generation contains what the database has fed into it, and nothing else.
    pub fn include(&self, generation: Option<Generation>) -> bool {
        generation == self.completed || (generation.is_some() && generation == self.started)
    }
}
