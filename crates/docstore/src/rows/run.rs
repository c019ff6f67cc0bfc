use diesel::prelude::*;
use model::{OrganizationId, RunMode, RunState, RunStats, SyncId, Timestamp};

use crate::schema::index_runs;
use crate::types::row;

row! {
    #[derive(Clone, Debug, Insertable, Queryable, Selectable)]
    #[diesel(table_name = index_runs, treat_none_as_default_value = false)]
    pub struct IndexRun {
        pub sync_id: SyncId,
        pub organization_id: OrganizationId,
        pub mode: RunMode,
        pub state: RunState,
        pub requested_at: Timestamp,
        pub started_at: Option<Timestamp>,
        pub completed_at: Option<Timestamp>,
        pub error: Option<String>,
        pub enumerated: i64,
        pub fetched: i64,
        pub indexed: i64,
        pub failed: i64,
        pub skipped_unsupported: i64,
        pub deleted: i64,
        pub bytes: i64,
        pub lease_owner: Option<String>,
        pub lease_expires_at: Option<Timestamp>,
    }
}

impl IndexRun {
    /// Returns a queued run with all counters at 0.
    pub fn queued(sync_id: SyncId, organization_id: OrganizationId, mode: RunMode, now: Timestamp) -> Self {
        Self {
            sync_id,
            organization_id,
            mode,
            state: RunState::Queued,
            requested_at: now,
            started_at: None,
            completed_at: None,
            error: None,
            enumerated: 0,
            fetched: 0,
            indexed: 0,
            failed: 0,
            skipped_unsupported: 0,
            deleted: 0,
            bytes: 0,
            lease_owner: None,
            lease_expires_at: None,
        }
    }

    pub fn stats(&self) -> RunStats {
        let count = |n: i64| u64::try_from(n).unwrap_or(0);
        RunStats {
            enumerated: count(self.enumerated),
            fetched: count(self.fetched),
            indexed: count(self.indexed),
            failed: count(self.failed),
            skipped_unsupported: count(self.skipped_unsupported),
            deleted: count(self.deleted),
            bytes: count(self.bytes),
        }
    }
}
