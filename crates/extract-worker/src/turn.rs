use std::time::Duration;

use model::OrganizationId;

use crate::Compartment;

/// Kind of work that has workers of its own: the load of one kind never delays the other.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Lane {
    /// Pages that somebody waits for.
    Pages,
    /// Files of runs.
    Runs,
    /// Files of runs that were [postponed](crate::WorkError::Postponed).
    PostponedRuns,
}

/// Place of a document among the others: documents of one lane are read in turn for their organizations.
#[derive(Clone, Debug)]
pub struct Turn {
    pub organization_id: OrganizationId,
    pub lane: Lane,
    pub compartment: Compartment,
    /// CPU time of the document, if shorter than that of the pool.
    pub time_limit: Option<Duration>,
}
