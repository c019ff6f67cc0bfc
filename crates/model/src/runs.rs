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

/// Counters of an indexing run: files, and bytes fetched. Exact once the run is terminal. `fetched` and `bytes` count every reading of a
/// file: a run that another worker continues reads some files again. All others count its last outcome.
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
