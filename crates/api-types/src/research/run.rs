use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::output::ResearchOutput;
use crate::Warning;

/// A research run.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ResearchRun {
    /// Id of the run.
    pub research_id: Uuid,
    /// Session of the request that created the run.
    pub session_id: Uuid,
    /// The question.
    pub query: String,
    /// Status of the run.
    pub status: ResearchStatus,
    /// Reason for the end; null before it.
    pub stop_reason: Option<ResearchStopReason>,
    /// Time of creation (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    /// Start of the execution (RFC 3339); null before it.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: Option<String>,
    /// End of the execution (RFC 3339); null before it.
    #[schemars(extend("format" = "date-time"))]
    pub completed_at: Option<String>,
    /// Time at which the run is deleted (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub expires_at: String,
    /// Suggested pause before the next poll; absent after the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 0))]
    pub poll_after_ms: Option<i64>,
    /// Progress so far.
    pub progress: ResearchProgress,
    /// Questions of the run.
    pub plan: Vec<ResearchPlanStep>,
    /// The report; null without one.
    pub output: Option<ResearchOutput>,
    /// Error of a failed run; null otherwise.
    pub error: Option<ResearchError>,
    /// Warnings about the report.
    pub warnings: Vec<Warning>,
    /// Labels of the caller.
    pub metadata: Map<String, Value>,
    /// Address that receives the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ResearchWebhook")]
    pub webhook: Option<ResearchWebhook>,
}

/// Status of a run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResearchStatus {
    /// Waits for a worker.
    Queued,
    /// A worker executes it.
    Running,
    /// The run ended, with a report.
    Completed,
    /// The run ended without a report.
    Failed,
    /// The caller cancelled it.
    Cancelled,
    /// A status of a newer server; never sent.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

impl ResearchStatus {
    /// True for statuses that a run never leaves.
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// Reason for the end of a run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResearchStopReason {
    /// The sources say no more about the questions.
    Answered,
    /// The budget or the balance is used up.
    BudgetReached,
    /// No source has anything to say about the questions.
    NoSources,
    /// The caller cancelled it.
    Cancelled,
    /// A part of the service failed.
    Error,
    /// Servers died repeatedly while they executed it.
    Interrupted,
    /// A reason of a newer server; never sent.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// Progress of a run.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ResearchProgress {
    /// Work of the last step: `planning`, `searching`, `reading`, `judging`, `writing`, `verifying` or `done`.
    pub phase: String,
    /// Searches made.
    #[schemars(range(min = 0))]
    pub searches: i64,
    /// Documents read.
    #[schemars(range(min = 0))]
    pub documents_read: i64,
    /// Passages kept.
    #[schemars(range(min = 0))]
    pub passages_kept: i64,
    /// Milliseconds since the start of the execution.
    #[schemars(range(min = 0))]
    pub elapsed_ms: i64,
}

/// A question of a run.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ResearchPlanStep {
    /// Number of the question, from 1.
    #[schemars(range(min = 1))]
    pub step: i64,
    /// The question.
    pub question: String,
    /// State of the question: `pending`, `running`, `done` or `unanswered`.
    pub status: String,
}

/// Error of a failed run.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ResearchError {
    /// Stable snake_case code: `budget_reached`, `insufficient_balance`, `provider_unavailable`, `interrupted` or
    /// `internal_error`. Newer servers may send others.
    pub code: String,
    /// Human-readable; may change.
    pub message: String,
}

/// Address that receives the end of a run.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ResearchWebhook {
    /// The address.
    pub url: String,
    /// Types of the events.
    pub event_types: Vec<String>,
    /// Secret that signs the deliveries. It is shown in the response of the creation only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub secret: Option<String>,
}
