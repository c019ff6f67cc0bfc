use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;
use validator::Validate;

use crate::search_request::{Filters, FreshnessPolicy, SearchIndex, SearchScope, SourcePolicy};
use crate::strict::{integer, is_default, not_null, object, optional_integer, optional_object, optional_words, word};
use crate::{Access, IgnoredSchema, Usage, Warning, validation};

/// The body of `POST /v1/research`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct ResearchRequest {
    /// Accepted and ignored.
    #[serde(rename = "$schema", default, skip_serializing)]
    pub schema: IgnoredSchema,
    /// Question in natural language, or several questions.
    #[validate(length(min = 1, max = 8000))]
    pub query: String,
    /// Thoroughness: presets of the budget.
    #[serde(default, deserialize_with = "word", skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "standard"))]
    pub depth: ResearchDepth,
    /// Wishes for the report, such as its readers or language. Only a model can follow them.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    #[validate(length(max = 4000))]
    pub instructions: Option<String>,
    /// Indexes to search, as in a search. Default: the web index.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub scope: SearchScope,
    /// Filters on sources, as in a search.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub filters: Filters,
    /// Bounds on publication time, as in a search.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    pub freshness_policy: FreshnessPolicy,
    /// Allowed and excluded web sites, as in a search.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub source_policy: SourcePolicy,
    /// Form of the report.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub output: ResearchOutputRequest,
    /// Limits of the run. Unset ones take the preset of the depth.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub budget: ResearchBudget,
    /// Completed run to continue: short questions are understood in its context.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub previous_research_id: Option<String>,
    /// Labels of the caller, returned with the run: at most 16, with keys of 1 to 64 characters and values of at most 512.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = validation::MAX_METADATA))]
    #[validate(custom(function = "validation::metadata"))]
    pub metadata: BTreeMap<String, String>,
    /// Groups the requests of one task. Takes precedence over the header `X-Session-ID`.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub session_id: Option<String>,
    /// Name of the calling model. Reserved for analytics; not stored.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub client_model: Option<String>,
    /// Address that receives the end of this run, in addition to the webhooks of the organization.
    #[serde(default, deserialize_with = "optional_object", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ResearchWebhookRequest")]
    #[validate(nested)]
    pub webhook: Option<ResearchWebhookRequest>,
}

/// Thoroughness of a run.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResearchDepth {
    /// Up to 6 searches, 8 documents, 30 seconds, 20,000 tokens.
    Quick,
    /// Up to 24 searches, 40 documents, 300 seconds, 150,000 tokens.
    #[default]
    Standard,
    /// Up to 60 searches, 120 documents, 900 seconds, 500,000 tokens.
    Deep,
}

/// Form of the report.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct ResearchOutputRequest {
    /// Format of the report.
    #[serde(default, deserialize_with = "word", skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "markdown"))]
    pub format: ResearchFormat,
    /// JSON Schema (2020-12) of a structured report: at most 64 kB, 16 levels and 2,000 subschemas, without external and
    /// recursive references.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    pub schema: Option<Map<String, Value>>,
    /// Maximum length of the report in characters.
    #[serde(default = "default_max_chars", deserialize_with = "integer", skip_serializing_if = "is_default_max_chars")]
    #[validate(range(min = 200, max = 100_000))]
    pub max_chars: i64,
}

impl Default for ResearchOutputRequest {
    fn default() -> Self {
        Self { format: ResearchFormat::default(), schema: None, max_chars: DEFAULT_MAX_CHARS }
    }
}

/// Default of `output.max_chars`.
const DEFAULT_MAX_CHARS: i64 = 12_000;

fn default_max_chars() -> i64 {
    DEFAULT_MAX_CHARS
}

fn is_default_max_chars(count: &i64) -> bool {
    *count == DEFAULT_MAX_CHARS
}

/// Format of a report.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResearchFormat {
    /// Markdown with marks such as `[1]`.
    #[default]
    Markdown,
    /// Plain text with marks such as `[1]`.
    Text,
    /// JSON that the schema describes.
    Structured,
}

/// Limits of a run. No step begins that could exceed one of them.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct ResearchBudget {
    /// Maximum number of searches.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1, max = 200))]
    pub max_searches: Option<i64>,
    /// Maximum number of documents read; results of searches do not count.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 0, max = 500))]
    pub max_documents: Option<i64>,
    /// Maximum time of the run in seconds.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1, max = 3600))]
    pub max_seconds: Option<i64>,
    /// Maximum number of tokens of the model, prompts and answers together. With 0 no model is used.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 0, max = 5_000_000))]
    pub max_tokens: Option<i64>,
    /// Ending of a run that is out of budget.
    #[serde(default, deserialize_with = "word", skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "return_partial"))]
    pub on_exceed: ResearchOnExceed,
}

/// Ending of a run that is out of budget.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResearchOnExceed {
    /// The report covers the material found so far, with the warning `budget_reached`.
    #[default]
    ReturnPartial,
    /// The run fails without a report.
    Fail,
}

/// Address that receives the end of one run.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct ResearchWebhookRequest {
    /// Address that receives the event by `POST`: http or https, on the public internet.
    #[schemars(extend("format" = "uri"))]
    #[validate(length(min = 1, max = 2048))]
    pub url: String,
    /// Types of the events to receive, at least one. Default: all.
    #[serde(default, deserialize_with = "optional_words", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<ResearchEventType>", extend("minItems" = 1, "maxItems" = validation::MAX_WORDS))]
    #[validate(custom(function = "validation::some_words"))]
    pub event_types: Option<Vec<ResearchEventType>>,
}

/// Type of an event about the end of a run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum ResearchEventType {
    /// The run completed.
    #[serde(rename = "research.completed")]
    Completed,
    /// The run failed.
    #[serde(rename = "research.failed")]
    Failed,
    /// The run was cancelled.
    #[serde(rename = "research.cancelled")]
    Cancelled,
}

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

/// The report of a run.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ResearchOutput {
    /// Format of the report.
    pub format: ResearchFormat,
    /// Text with marks such as `[1]`; empty for a structured report.
    pub text: String,
    /// JSON that is valid for the schema; null if the sources do not fill it, and in other formats.
    #[schemars(with = "Value")]
    pub structured: Option<Value>,
    /// True if something was left out to keep `max_chars`.
    pub truncated: bool,
    /// Writer of the report: `extractive` (sentences of the sources) or `model`.
    pub engine: String,
    /// Verified quotes, by number.
    pub citations: Vec<ResearchCitation>,
    /// Citations that the fields of a structured report are based on.
    pub basis: Vec<ResearchBasis>,
    /// Questions that the sources do not answer.
    pub unanswered: Vec<String>,
    /// Documents that the searches found.
    #[schemars(range(min = 0))]
    pub sources_considered: i64,
    /// Places of the schema that could not be filled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<ResearchProblem>,
}

/// A verified quote. All offsets are characters (Unicode scalar values).
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ResearchCitation {
    /// Number of the mark in the text, from 1.
    #[schemars(range(min = 1))]
    pub n: i64,
    /// Id of the document.
    pub doc_id: Uuid,
    /// Passage that contains the quote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    pub passage_id: Option<Uuid>,
    /// Capture that contains the quote.
    pub capture_id: Uuid,
    /// Time of the capture (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub capture_time: String,
    /// Canonical URL of the document.
    pub canonical_url: String,
    /// Title of the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub title: Option<String>,
    /// Index that the document was found in.
    pub index: SearchIndex,
    /// Time of publication (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub published_at: Option<String>,
    /// Exact text of the capture.
    pub quote: String,
    /// First character of the quote in the capture.
    #[schemars(range(min = 0))]
    pub char_start: i64,
    /// End of the quote in the capture, exclusive.
    #[schemars(range(min = 0))]
    pub char_end: i64,
    /// First character of the first mark in the text; absent in a structured report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 0))]
    pub output_start: Option<i64>,
    /// End of the first mark in the text, exclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 0))]
    pub output_end: Option<i64>,
    /// True: the quote was compared with the capture, byte for byte.
    pub verified: bool,
}

/// Basis of a field of a structured report.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ResearchBasis {
    /// JSON Pointer to the field.
    pub field: String,
    /// Numbers of citations.
    pub citations: Vec<i64>,
    /// Strength: `low` (one source that says little), `medium` (one source) or `high` (several independent sources).
    pub confidence: String,
}

/// Place of a schema that could not be filled.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ResearchProblem {
    /// JSON Pointer into the report.
    pub field: String,
    /// Description of the problem.
    pub message: String,
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

/// Usage of this request, and consumption of the run so far.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ResearchUsage {
    /// Usage of this request.
    #[serde(flatten)]
    pub request: Usage,
    /// Searches of the run.
    #[schemars(range(min = 0))]
    pub searches: i64,
    /// Documents that the run has read.
    #[schemars(range(min = 0))]
    pub documents: i64,
    /// Tokens of the model that the run has used.
    #[schemars(range(min = 0))]
    pub tokens: i64,
}

impl AsMut<Usage> for ResearchUsage {
    fn as_mut(&mut self) -> &mut Usage {
        &mut self.request
    }
}

/// The response of `POST /v1/research`, `GET /v1/research/{research_id}` and `POST /v1/research/{research_id}/cancel`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ResearchResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// The run.
    #[serde(flatten)]
    pub run: ResearchRun,
    /// Rate-limit state of the caller.
    pub access: Access,
    /// Usage of this request, and consumption of the run so far.
    pub usage: Option<ResearchUsage>,
}

/// The response of `GET /v1/research`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ResearchListResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Runs of the organization, newest first, without their reports.
    pub runs: Vec<ResearchEntry>,
    /// Cursor of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub next_cursor: Option<String>,
}

/// A run in a list.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ResearchEntry {
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
    /// Labels of the caller.
    pub metadata: Map<String, Value>,
}

/// The response of `GET /v1/research/{research_id}/events` as JSON.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ResearchEventsResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Id of the run.
    pub research_id: Uuid,
    /// Events in order.
    pub events: Vec<ResearchEvent>,
    /// Sequence of the last event of this page, for `after`; absent if the page is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    pub next_after: Option<i64>,
    /// True if this page has the last event of the run.
    pub is_complete: bool,
}

/// An event of a run. Further fields depend on its type; the last event has the run as `research`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ResearchEvent {
    /// Type: `research.created`, `.started`, `.plan`, `.search`, `.document`, `.note`, `.output_delta`, `.completed`, `.failed`
    /// or `.cancelled`. Newer servers may send others.
    #[serde(rename = "type")]
    pub kind: String,
    /// Number within the run, from 1, without gaps.
    #[schemars(range(min = 1))]
    pub sequence: i64,
    /// Id of the run.
    pub research_id: Uuid,
    /// Time of the event (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub at: String,
    /// Fields of the type.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// The response of `DELETE /v1/research/{research_id}`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ResearchDeleteResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Id of the deleted run.
    pub research_id: Uuid,
    /// Always true.
    pub deleted: bool,
}
