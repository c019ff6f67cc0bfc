//! Ends of runs.

use ::webhooks::research_ended;
use docstore::{NewResearchEvent, ResearchEnd, ResearchRun};
use metrics::{counter, histogram};
use model::{CaptureId, ResearchStatus, ResearchStop};

use super::Stopped;
use crate::engine::{Ending, Report, StopReason};
use crate::runs::{Research, RunError, StoredState, progress_of};

const RUNS: &str = "retrieval_research_runs_total";
const DURATION: &str = "retrieval_research_duration_seconds";
const OUT_OF_BALANCE: &str = "the prepaid balance does not cover a search";
const INTERRUPTED: &str = "the servers that executed the run died repeatedly";
const INTERNAL: &str = "the server failed to execute the run";

/// Makes the metrics of runs known to the first scrape.
pub fn register_metrics() {
    let (completed, failed) = (ResearchStatus::Completed.as_str(), ResearchStatus::Failed.as_str());
    for (status, stop_reason) in [
        (completed, ResearchStop::Answered),
        (completed, ResearchStop::BudgetReached),
        (completed, ResearchStop::NoSources),
        (failed, ResearchStop::BudgetReached),
        (failed, ResearchStop::Error),
        (failed, ResearchStop::Interrupted),
    ] {
        counter!(RUNS, "status" => status, "stop_reason" => stop_reason.as_str()).increment(0);
    }
    let _ = histogram!(DURATION);
}

impl Research {
    /// Stores the end that the engine decided, with the events of the last step, which follow `last_sequence`.
    pub(super) async fn finish(
        &self,
        run: &ResearchRun,
        owner: &str,
        state: &StoredState,
        ending: Ending,
        last_sequence: i64,
        events: Vec<NewResearchEvent>,
    ) -> Result<(), Stopped> {
        let stop_reason = match ending.stop_reason {
            StopReason::Answered => ResearchStop::Answered,
            StopReason::BudgetReached => ResearchStop::BudgetReached,
            StopReason::NoSources => ResearchStop::NoSources,
            StopReason::Error => ResearchStop::Error,
        };
        let mut end = self.end(ResearchStatus::Completed, stop_reason);
        end.progress = Some(progress_of(&state.engine));
        (end.last_sequence, end.events) = (Some(last_sequence), events);
        if state.out_of_balance && state.engine.spent.searches == 0 {
            end.status = ResearchStatus::Failed;
            end.stop_reason = ResearchStop::Error;
            end.error = error("insufficient_balance", OUT_OF_BALANCE);
        } else if ending.failed {
            end.status = ResearchStatus::Failed;
            let code =
                if stop_reason == ResearchStop::BudgetReached { "budget_reached" } else { "provider_unavailable" };
            end.error = error(code, ending.message.as_deref().unwrap_or("the run failed"));
        } else if let Some(report) = state.engine.report() {
            end.cited = cited(&report);
            end.output = Some(serde_json::to_string(&report).map_err(Stopped::Unreadable)?);
        }
        self.store_end(run, owner, end).await
    }

    /// Ends a run that does not get on.
    pub(super) async fn interrupt_run(&self, run: &ResearchRun, owner: &str) -> Result<(), Stopped> {
        let mut end = self.end(ResearchStatus::Failed, ResearchStop::Interrupted);
        end.error = error("interrupted", INTERRUPTED);
        self.store_end(run, owner, end).await
    }

    /// Ends a run after a fault of the service.
    pub(super) async fn fail(&self, run: &ResearchRun, owner: String) -> Result<(), Stopped> {
        let mut end = self.end(ResearchStatus::Failed, ResearchStop::Error);
        end.error = error("internal_error", INTERNAL);
        self.store_end(run, &owner, end).await
    }

    fn end(&self, status: ResearchStatus, stop_reason: ResearchStop) -> ResearchEnd {
        ResearchEnd {
            status,
            stop_reason,
            error: None,
            output: None,
            progress: None,
            last_sequence: None,
            events: Vec::new(),
            cited: Vec::new(),
            cited_until: self.clock.now() + self.options.evidence,
            expires_at: self.clock.now() + self.options.retention,
        }
    }

    async fn store_end(&self, run: &ResearchRun, owner: &str, end: ResearchEnd) -> Result<(), Stopped> {
        let (status, stop_reason) = (end.status.as_str(), end.stop_reason.as_str());
        let stored = self.persistently(|| {
            let now = self.clock.now();
            self.store.finish_research(run.research_id, owner.to_owned(), end.clone(), now, research_ended)
        });
        if !stored.await? {
            return Err(Stopped::LeaseLost);
        }
        self.changes.notify(run.research_id);
        let elapsed = self.clock.now().since(run.started_at.unwrap_or(run.created_at));
        counter!(RUNS, "status" => status, "stop_reason" => stop_reason).increment(1);
        histogram!(DURATION).record(elapsed);
        tracing::info!(research_id = %run.research_id, status, stop_reason, ?elapsed, "research run ended");
        Ok(())
    }
}

fn error(code: &str, message: &str) -> Option<String> {
    serde_json::to_string(&RunError { code: code.to_owned(), message: message.to_owned() }).ok()
}

/// Returns the captures that a report cites, each once.
fn cited(report: &Report) -> Vec<CaptureId> {
    let mut cited: Vec<CaptureId> = report.citations.iter().map(|citation| citation.capture_id).collect();
    cited.sort_unstable();
    cited.dedup();
    cited
}
