use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::run::{ResearchRun, ResearchStatus, ResearchStopReason};
use crate::{Access, Usage};

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
