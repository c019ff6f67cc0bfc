//! Runs and events as readers see them.

use docstore::{Details, ListedResearch, ResearchEvent, ResearchProgress, ResearchRun};
use model::{ResearchId, ResearchStatus, ResearchStop, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::StoredRequest;
use crate::engine::{Depth, Report, State, Warning};

/// A research run.
#[derive(Clone, Debug)]
pub struct RunView {
    pub research_id: ResearchId,
    pub session_id: SessionId,
    pub query: String,
    /// Known of unfinished runs only: afterwards it is the default.
    pub depth: Depth,
    pub status: ResearchStatus,
    pub stop_reason: Option<ResearchStop>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub expires_at: Timestamp,
    pub progress: Progress,
    pub report: Option<Report>,
    pub error: Option<RunError>,
    pub metadata: Map<String, Value>,
    pub webhook: Option<WebhookView>,
    pub searches: u32,
    pub documents: u32,
    pub tokens: u64,
}

/// A research run of a list, without progress and report.
#[derive(Clone, Debug)]
pub struct RunEntry {
    pub research_id: ResearchId,
    pub session_id: SessionId,
    pub query: String,
    pub status: ResearchStatus,
    pub stop_reason: Option<ResearchStop>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub expires_at: Timestamp,
    pub metadata: Map<String, Value>,
}

/// Error of a failed run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct RunError {
    pub code: String,
    pub message: String,
}

/// Address that receives the end of a run.
#[derive(Clone, Debug)]
pub struct WebhookView {
    pub url: String,
    pub events: Vec<String>,
}

/// Progress of a run.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Progress {
    pub phase: String,
    pub passages_kept: usize,
    pub plan: Vec<PlanEntry>,
}

/// A question of the plan.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PlanEntry {
    pub step: usize,
    pub question: String,
    pub status: String,
}

/// An event of a run.
#[derive(Clone, Debug)]
pub struct RunEvent {
    pub research_id: ResearchId,
    pub sequence: i64,
    /// Last part of the name of its type.
    pub kind: String,
    pub at: Timestamp,
    pub data: Map<String, Value>,
}

impl RunEvent {
    /// True for the last event of a run.
    pub fn is_last(&self) -> bool {
        self.kind.parse().is_ok_and(ResearchStatus::is_terminal)
    }
}

impl From<ResearchEvent> for RunEvent {
    fn from(event: ResearchEvent) -> Self {
        let ResearchEvent { research_id, sequence, organization_id: _, kind, at, data } = event;
        Self { research_id, sequence, kind, at, data: data.0 }
    }
}

impl From<ListedResearch> for RunEntry {
    fn from(run: ListedResearch) -> Self {
        Self {
            research_id: run.research_id,
            session_id: run.session_id,
            query: run.query,
            status: run.status,
            stop_reason: run.stop_reason,
            created_at: run.created_at,
            started_at: run.started_at,
            completed_at: run.completed_at,
            expires_at: run.expires_at,
            metadata: run.metadata.0,
        }
    }
}

impl RunView {
    /// Builds the view from a row and the JSON of the report. Text that cannot be read counts as absent.
    pub fn new(run: ResearchRun, output: Option<&str>) -> Self {
        let request: Option<StoredRequest> = serde_json::from_str(&run.request).ok();
        let unsigned = |number: i32| u32::try_from(number).unwrap_or(0);
        Self {
            research_id: run.research_id,
            session_id: run.session_id,
            query: run.query,
            depth: request.map(|request| request.assignment.depth).unwrap_or_default(),
            status: run.status,
            stop_reason: run.stop_reason,
            created_at: run.created_at,
            started_at: run.started_at,
            completed_at: run.completed_at,
            expires_at: run.expires_at,
            progress: serde_json::from_value(Value::Object(run.progress.0)).unwrap_or_default(),
            report: output.and_then(|output| serde_json::from_str(output).ok()),
            error: run.error.and_then(|error| serde_json::from_str(&error).ok()),
            metadata: run.metadata.0,
            webhook: run.webhook_url.map(|url| WebhookView { url, events: run.webhook_events.unwrap_or_default().0 }),
            searches: unsigned(run.searches),
            documents: unsigned(run.documents),
            tokens: u64::try_from(run.tokens).unwrap_or(0),
        }
    }

    /// Returns true if the report lacks something for want of budget.
    pub fn is_partial(&self) -> bool {
        self.stop_reason == Some(ResearchStop::BudgetReached) && self.status == ResearchStatus::Completed
    }

    /// Returns the warnings of the report.
    pub fn warnings(&self) -> &[Warning] {
        self.report.as_ref().map_or(&[], |report| &report.warnings)
    }
}

/// Returns the progress of a run to store.
pub fn progress_of(state: &State) -> ResearchProgress {
    let progress = state.progress();
    let plan = progress.plan.into_iter().map(|step| PlanEntry {
        step: step.step,
        question: step.question,
        status: step.status.as_str().to_owned(),
    });
    let shown = Progress {
        phase: progress.phase.as_str().to_owned(),
        passages_kept: progress.passages_kept,
        plan: plan.collect(),
    };
    let shown = match serde_json::to_value(shown) {
        Ok(Value::Object(shown)) => shown,
        Ok(_) | Err(_) => Map::new(),
    };
    let signed = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    ResearchProgress {
        progress: Details(shown),
        searches: signed(progress.searches),
        documents: signed(progress.documents_read),
        tokens: i64::try_from(state.spent.tokens).unwrap_or(i64::MAX),
    }
}
