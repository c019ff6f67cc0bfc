use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::strict::is_default;
use crate::{Ranking, Score, SearchIndex};

/// The response of `GET /v1/searches/{search_id}`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct SearchRecordResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Id of the search.
    pub search_id: Uuid,
    /// Session of the search.
    pub session_id: Uuid,
    /// Time of the search (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    /// The request as a `SearchRequest`, without defaults and without `client_model`. Only `query` of a request of
    /// more than 64 kB, of a search while the disk of the server was almost full, and of a search by an earlier version of the service.
    pub request: Map<String, Value>,
    /// Ranking of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Ranking")]
    pub ranking: Option<Ranking>,
    /// Generations of the searched indexes, by index: equal ones mean equal indexes. At most a second old at the time of the search;
    /// omitted if unknown.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub index_generations: BTreeMap<String, Uuid>,
    /// True if a stage was skipped to answer within `timeout_ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub degraded: Option<bool>,
    /// The ranked list, best first, whole: a budget may have left out results of the response.
    pub results: Vec<RecordedResult>,
}

/// A result of a recorded search.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RecordedResult {
    /// Position, from 1.
    #[schemars(range(min = 1))]
    pub rank: i64,
    /// Id of the document.
    pub doc_id: Uuid,
    /// Capture that was ranked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    pub capture_id: Option<Uuid>,
    /// Index of the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "SearchIndex")]
    pub index: Option<SearchIndex>,
    /// Final score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Score")]
    pub score: Option<Score>,
    /// Stages that placed the result; omitted for a search by an earlier version of the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Explanation")]
    pub explain: Option<Explanation>,
}

/// Places of a result after each stage, in the list of its index. `rank` of the result is its place after both lists were
/// blended by their final scores.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Explanation {
    /// Place in the first stage, the index. Documents of preferred domains follow the others.
    pub first_stage: StagePlace,
    /// Place by the lexical ranker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "StagePlace")]
    pub lexical: Option<StagePlace>,
    /// Place among the documents that are nearest to the query in meaning, with the cosine of the nearest passage; omitted for
    /// documents that are not among them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "StagePlace")]
    pub semantic: Option<StagePlace>,
    /// Place by the reranking model; omitted if no model scored the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "StagePlace")]
    pub model: Option<StagePlace>,
    /// True if `source_policy.include_domains` raised the final score.
    #[serde(default, skip_serializing_if = "is_default")]
    pub preferred: bool,
}

/// Place in the list of a stage.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct StagePlace {
    /// Position, from 1.
    #[schemars(range(min = 1))]
    pub rank: i64,
    /// Score, comparable within the stage only.
    pub score: f64,
}
