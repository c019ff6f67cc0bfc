use crate::names::named_enum;

named_enum! {
    /// The files that an indexing run reads.
    RunMode: "run mode" {
        /// New and changed files.
        Incremental = "incremental",
        /// All files.
        Full = "full",
    }
}

named_enum! {
    /// The state of an indexing run.
    RunState: "run state" {
        Queued = "queued",
        Planning = "planning",
        Running = "running",
        Completed = "completed",
        Failed = "failed",
    }
}

impl RunState {
    /// True for states that a run never leaves.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}

/// Counters of an indexing run: files, and bytes fetched. Exact once the run is terminal.
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
