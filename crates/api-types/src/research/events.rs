use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

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
