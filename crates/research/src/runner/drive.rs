//! Execution of one run, step by step.

use std::sync::Arc;
use std::time::Duration;

use app::{Charge, Identity, Viewer};
use docstore::{ClaimedResearch, Details, NewResearchEvent, ResearchRun, ResearchStep, StoreError};
use model::{ApiKeyId, SearchId};
use serde_json::{Map, Value};
use tokio::time::Instant;
use uuid::Uuid;

use super::Stopped;
use super::position::{Position, Stopwatch, is_long};
use super::step::{Executed, Order};
use crate::engine::{Ending, Event, Step};
use crate::runs::{Research, StoredRequest, StoredState, progress_of};

/// Attempts without a stored step, after which a run ends: it seems to kill its servers.
const MAX_ATTEMPTS: i32 = 4;
/// Delay before a failed write is repeated.
const RETRY_DELAY: Duration = Duration::from_millis(200);

/// Result of the steps of a run, before its end is stored.
pub(super) struct Conclusion {
    state: StoredState,
    ending: Ending,
    /// Sequence of the last stored event.
    last_sequence: i64,
    /// Events of the last step.
    events: Vec<NewResearchEvent>,
    is_billed: bool,
}

impl Research {
    /// Executes a claimed run up to its end, which is left to [`conclude`](Self::conclude). Returns `None` if the run was interrupted.
    ///
    /// `charges` are the prices of searches whose outcome is not known to be stored.
    pub(super) async fn drive(
        &self,
        claimed: &ClaimedResearch,
        owner: &str,
        charges: &mut Vec<Charge>,
    ) -> Result<Option<Conclusion>, Stopped> {
        let run = &claimed.run;
        if run.attempts > 1 || !claimed.state.is_empty() {
            self.persistently(|| self.refund_unstored(run.organization_id, run.research_id)).await?;
        }
        if run.attempts > MAX_ATTEMPTS {
            return self.interrupt_run(run, owner).await.map(|()| None);
        }
        let request: StoredRequest = serde_json::from_str(&run.request).map_err(Stopped::Unreadable)?;
        let request = Arc::new(request);
        let stored: Option<StoredState> = match claimed.state.as_str() {
            "" => None,
            stored => Some(serde_json::from_str(stored).map_err(Stopped::Unreadable)?),
        };
        let viewer = self.viewer(run).await?;
        // The time of former attempts and between them. From here on a change of the clock uses up no budget.
        let before = self.clock.now().since(run.started_at.unwrap_or(run.created_at));
        let watch = Stopwatch::start(&self.timer, before);
        let is_long = is_long(&request, stored.as_ref());
        let begin = {
            let (request, watch) = (Arc::clone(&request), watch.clone());
            move || Position::new(request, stored, &watch)
        };
        let mut position = self.compute(run, is_long, begin).await?;
        let mut events = Vec::new();
        let mut last_sequence = run.last_sequence;
        while !matches!(position.step, Step::Finish(_)) {
            let left = position.state.engine.time_for(&position.assignment, &position.step, watch.elapsed());
            let order = Order { run, request: &request, viewer: &viewer, left };
            let executed = self.execute_step(&order, &position.step).await;
            let watch = watch.clone();
            let Some(Executed { outcome, charge, search_id }) = executed else {
                // The balance is used up: continue with what was found.
                position = self.compute(run, position.is_long(), move || position.without_balance(&watch)).await?;
                continue;
            };
            charges.extend(charge);
            let is_long = position.is_long();
            let (next, happened) = self.compute(run, is_long, move || position.after(outcome, &watch)).await?;
            position = next;
            events.extend(happened.into_iter().map(|event| stored_event(event, search_id)));
            // The last step is stored with the end.
            if !matches!(position.step, Step::Finish(_)) {
                let recorded = events.len() as i64;
                self.record(run, owner, &position.state, last_sequence, std::mem::take(&mut events)).await?;
                last_sequence += recorded;
                charges.drain(..).for_each(Charge::keep);
            }
        }
        let Position { state, step, .. } = position;
        let Step::Finish(ending) = step else { return Ok(None) };
        Ok(Some(Conclusion { state, ending, last_sequence, events, is_billed: viewer.billed }))
    }

    /// Stores the end of a run.
    pub(super) async fn conclude(
        &self,
        run: &ResearchRun,
        owner: &str,
        conclusion: Conclusion,
        charges: &mut Vec<Charge>,
    ) -> Result<(), Stopped> {
        let Conclusion { state, ending, last_sequence, events, is_billed } = conclusion;
        self.finish(run, owner, &state, ending, last_sequence, events).await?;
        charges.drain(..).for_each(Charge::keep);
        if is_billed {
            // Debits whose outcome was unknown in an outage of the database. If this fails, the sweep for lost searches refunds them.
            let _ = self.persistently(|| self.refund_unstored(run.organization_id, run.research_id)).await;
        }
        Ok(())
    }

    /// Settles the charges of an execution that was cut off. A write without an answer may have been stored, so what the run
    /// contains decides: the searches in it stay paid, and the others are refunded.
    pub(super) async fn settle(&self, run: &ResearchRun, charges: Vec<Charge>) {
        if charges.is_empty() {
            return;
        }
        let unstored =
            self.persistently(|| self.store.find_unstored_searches(run.organization_id, run.research_id)).await;
        let Ok(unstored) = unstored else {
            // The step may be stored. The next worker of the run finds out.
            charges.into_iter().for_each(Charge::keep);
            return;
        };
        // These are the searches of the last step, which nobody gets to see if the run is deleted.
        let is_stored = |id: SearchId| unstored.as_ref().is_some_and(|unstored| !unstored.contains(&id));
        charges.into_iter().filter(|charge| charge.search_id().is_some_and(is_stored)).for_each(Charge::keep);
    }

    /// Returns the caller on whose behalf the run works.
    async fn viewer(&self, run: &ResearchRun) -> Result<Viewer, Stopped> {
        let organization = self.store.find_organization(run.organization_id).await?;
        let organization =
            organization.filter(|organization| organization.deleted_at.is_none()).ok_or(Stopped::NoOrganization)?;
        let unknown = || Identity::ApiKey(ApiKeyId(Uuid::nil()));
        Ok(Viewer {
            organization_id: run.organization_id,
            identity: Identity::from_rate_key(&run.identity).unwrap_or_else(unknown),
            scopes: Vec::new(),
            limit_rps: 0,
            billed: organization.billed,
        })
    }

    async fn record(
        &self,
        run: &ResearchRun,
        owner: &str,
        state: &StoredState,
        last_sequence: i64,
        events: Vec<NewResearchEvent>,
    ) -> Result<(), Stopped> {
        let step = ResearchStep {
            last_sequence,
            state: serde_json::to_string(state).map_err(Stopped::Unreadable)?,
            progress: progress_of(&state.engine),
            events,
        };
        let stored = self.persistently(|| {
            let now = self.clock.now();
            let lease = now + self.options.lease;
            self.store.record_research_step(run.research_id, owner.to_owned(), step.clone(), now, lease)
        });
        if !stored.await? {
            return Err(Stopped::LeaseLost);
        }
        self.changes.notify(run.research_id);
        Ok(())
    }

    /// Repeats a write that fails until the lease would expire.
    pub(super) async fn persistently<T, F>(&self, write: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let end = Instant::now() + self.options.lease / 2;
        loop {
            match write().await {
                Err(StoreError::Unavailable(why) | StoreError::Aborted(why)) if Instant::now() < end => {
                    tracing::warn!(why, "storing a research run failed, retrying");
                    tokio::time::sleep(RETRY_DELAY).await;
                }
                outcome => return outcome,
            }
        }
    }
}

/// Converts an event of the engine. Questions are numbered from 1, as in the plan.
pub(super) fn stored_event(event: Event, search_id: Option<SearchId>) -> NewResearchEvent {
    let kind = event.name();
    let mut data = match serde_json::to_value(&event) {
        Ok(Value::Object(data)) => data,
        Ok(_) | Err(_) => Map::new(),
    };
    data.remove("kind");
    let numbered = |at: &usize| Value::from(at + 1);
    match &event {
        Event::Search { question, .. } => {
            data.insert("question".to_owned(), numbered(question));
            if let Some(search_id) = search_id {
                data.insert("search_id".to_owned(), search_id.to_string().into());
            }
        }
        Event::Document { question, .. } => {
            data.insert("question".to_owned(), numbered(question));
        }
        Event::Note { note, questions, .. } => {
            data.insert("note".to_owned(), numbered(note));
            data.insert("questions".to_owned(), questions.iter().map(numbered).collect());
        }
        Event::Plan { .. } | Event::OutputDelta { .. } => {}
    }
    data.retain(|_, value| !value.is_null());
    NewResearchEvent { kind, data: Details(data) }
}
