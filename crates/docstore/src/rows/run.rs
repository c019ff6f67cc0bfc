use diesel::prelude::*;

use crate::schema::index_runs;
use crate::types::Id;

#[derive(Clone, Debug, Identifiable, Insertable, Queryable, Selectable)]
#[diesel(table_name = index_runs, primary_key(sync_id), treat_none_as_default_value = false)]
pub struct IndexRun {
    pub sync_id: Id,
    pub organization_id: Id,
    /// `RunMode::as_str`.
    pub mode: String,
    /// `RunState::as_str`.
    pub state: String,
    pub requested_at: i64,
    pub started_at: Option<i64>,
    pub completed_at: Option<i64>,
    pub error: Option<String>,
    pub enumerated: i64,
    pub fetched: i64,
    pub indexed: i64,
    pub failed: i64,
    pub skipped_unsupported: i64,
    pub deleted: i64,
    pub bytes: i64,
    pub lease_owner: Option<String>,
    pub lease_expires_at: Option<i64>,
}

impl IndexRun {
    /// A run that waits for a worker, with all counters at 0. `now`: milliseconds since the Unix epoch.
    pub fn queued(sync_id: Id, organization_id: Id, mode: RunMode, now: i64) -> Self {
        Self {
            sync_id,
            organization_id,
            mode: mode.as_str().to_owned(),
            state: RunState::Queued.as_str().to_owned(),
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

    pub fn mode(&self) -> RunMode {
        if self.mode == RunMode::Full.as_str() { RunMode::Full } else { RunMode::Incremental }
    }

    /// A state that this version does not know counts as in flight.
    pub fn state(&self) -> RunState {
        RunState::ALL.into_iter().find(|state| state.as_str() == self.state).unwrap_or(RunState::Running)
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

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RunMode {
    /// Only what is new or changed.
    Incremental,
    /// Everything.
    Full,
}

impl RunMode {
    pub fn as_str(self) -> &'static str {
        match self {
            RunMode::Incremental => "incremental",
            RunMode::Full => "full",
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RunState {
    Queued,
    Planning,
    Running,
    Completed,
    Failed,
}

impl RunState {
    pub const ALL: [RunState; 5] =
        [RunState::Queued, RunState::Planning, RunState::Running, RunState::Completed, RunState::Failed];

    pub fn as_str(self) -> &'static str {
        match self {
            RunState::Queued => "queued",
            RunState::Planning => "planning",
            RunState::Running => "running",
            RunState::Completed => "completed",
            RunState::Failed => "failed",
        }
    }

    pub fn is_terminal(self) -> bool {
        matches!(self, RunState::Completed | RunState::Failed)
    }
}

/// What a run did, in files (and bytes fetched). Exact once the run is terminal.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RunStats {
    pub enumerated: u64,
    pub fetched: u64,
    pub indexed: u64,
    pub failed: u64,
    pub skipped_unsupported: u64,
    pub deleted: u64,
    pub bytes: u64,
}

impl std::ops::AddAssign for RunStats {
    fn add_assign(&mut self, other: Self) {
        self.enumerated += other.enumerated;
        self.fetched += other.fetched;
        self.indexed += other.indexed;
        self.failed += other.failed;
        self.skipped_unsupported += other.skipped_unsupported;
        self.deleted += other.deleted;
        self.bytes += other.bytes;
    }
}
