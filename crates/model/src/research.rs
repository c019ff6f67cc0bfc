use crate::names::named_enum;

named_enum! {
    /// The status of a research run.
    ResearchStatus: "research status" {
        Queued = "queued",
        Running = "running",
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

impl ResearchStatus {
    /// True for statuses that a run never leaves.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

named_enum! {
    /// The reason for the end of a research run.
    ResearchStop: "research stop reason" {
        Answered = "answered",
        BudgetReached = "budget_reached",
        NoSources = "no_sources",
        Cancelled = "cancelled",
        Error = "error",
        /// Servers died repeatedly while they executed it.
        Interrupted = "interrupted",
    }
}
