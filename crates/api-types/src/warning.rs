use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Something the caller should know about a complete answer.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Warning {
    /// Stable snake_case code; branch on this.
    pub code: WarningCode,
    /// For people; the wording may change.
    pub message: String,
    /// What the warning is about, by code.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

/// Every warning there is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningCode {
    /// Search: parts of the response were left out to fit the budget. Details: `shed_levels`.
    ResponseTruncated,
    /// Search: one minimal result already exceeds the budget.
    BudgetUnsatisfiable,
    /// Search: the value of a field is not known and its default was used. Details: `field`, `value`.
    UnknownField,
    /// Search: `source_policy` removed results. Details: `filtered_results`.
    SourcePolicyFiltered,
    /// Search: results stand in first-stage order.
    RerankUnavailable,
    /// Document: the content could not be fetched.
    ContentUnavailable,
    /// Document: the content is longer than the limit. Details: `field`, `max_chars`.
    ContentTruncated,
    /// Document: the pinned capture is not the latest. Details: `requested_capture_id`, `latest_capture_id`.
    StaleRange,
    /// Document: some requested passages are not in the latest capture. Details: `passage_ids`.
    StalePassageId,
    /// For readers alone: one that a newer server knows. An answer is worth reading all the same.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}
