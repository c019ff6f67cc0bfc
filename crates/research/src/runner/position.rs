//! The place of a run between two steps, and the computation of the next one.

use std::sync::Arc;
use std::time::Duration;

use docstore::ResearchRun;
use model::{Clock, Timestamp};

use super::Stopped;
use crate::engine::{Assignment, Event, Outcome, Step};
use crate::runs::{Research, StoredRequest, StoredState};

/// A run between two steps.
pub(super) struct Position {
    request: Arc<StoredRequest>,
    pub state: StoredState,
    /// The assignment with the budget that is left to it.
    pub assignment: Assignment,
    pub step: Step,
}

impl Position {
    /// Decides the first step of a new run, or the next one of a stored state.
    pub fn new(request: Arc<StoredRequest>, stored: Option<StoredState>, watch: &Stopwatch) -> Self {
        let state = stored.unwrap_or_else(|| StoredState::new(&request));
        let assignment = state.assignment(&request);
        let step = state.engine.next(&assignment, watch.elapsed());
        Self { request, state, assignment, step }
    }

    /// Adds the outcome of the step, and decides the next one. Returns the events of the outcome, too.
    pub fn after(mut self, outcome: Outcome, watch: &Stopwatch) -> (Self, Vec<Event>) {
        let events = self.state.engine.apply(&self.assignment, &self.step, outcome);
        self.step = self.state.engine.next(&self.assignment, watch.elapsed());
        (self, events)
    }

    /// Returns true if the computation after the step can take seconds.
    pub fn is_long(&self) -> bool {
        matches!(self.step, Step::Generate(_)) || is_long(&self.request, Some(&self.state))
    }

    /// Decides another step than a search, for which the balance does not suffice.
    pub fn without_balance(mut self, watch: &Stopwatch) -> Self {
        self.state.out_of_balance = true;
        Self::new(self.request, Some(self.state), watch)
    }
}

/// Returns true if each computation of a run can take seconds: it fills a schema, or compares a model's report with the notes.
pub(super) fn is_long(request: &StoredRequest, state: Option<&StoredState>) -> bool {
    request.assignment.output.schema.is_some() || state.is_some_and(|state| state.engine.written.is_some())
}

/// Measures the time of a run. Changes of the wall clock do not move it.
#[derive(Clone)]
pub(super) struct Stopwatch {
    timer: Arc<dyn Clock>,
    started_at: Timestamp,
    before: Duration,
}

impl Stopwatch {
    /// Starts with the time that is over already.
    pub fn start(timer: &Arc<dyn Clock>, before: Duration) -> Self {
        Self { timer: Arc::clone(timer), started_at: timer.now(), before }
    }

    /// Returns the time since the start of the run.
    pub fn elapsed(&self) -> Duration {
        self.before + self.timer.now().since(self.started_at)
    }
}

impl Research {
    /// Computes on the threads for it, organizations in turn: on those of connections, a long query or a large schema
    /// would delay the requests of all others. Long computations yield to everything else.
    pub(super) async fn compute<T: Send + 'static>(
        &self,
        run: &ResearchRun,
        is_long: bool,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Stopped> {
        let bytes = if is_long { usize::MAX } else { 0 };
        self.app.compute_for(run.organization_id, bytes, work).await.map_err(|_| Stopped::Panicked)
    }
}
