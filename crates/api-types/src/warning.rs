use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A warning about a complete answer.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Warning {
    /// Stable snake_case code; branch on this.
    pub code: WarningCode,
    /// Human-readable; may change.
    pub message: String,
    /// Details, depending on the code.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

impl Warning {
    /// Returns the reason of `content_unavailable` and `stale_content`.
    pub fn reason(&self) -> Option<&str> {
        self.details.get("reason").and_then(Value::as_str)
    }
}

/// Warning codes. Newer servers may send others.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(extend("x-open" = true))]
pub enum WarningCode {
    /// Parts of the response were omitted to fit the budget. Details: `shed_levels`.
    ResponseTruncated,
    /// The smallest possible response exceeds the budget.
    BudgetUnsatisfiable,
    /// Search: unknown value of a field; its default was used. Details: `field`, `value`.
    UnknownField,
    /// Search: `source_policy` removed results. Details: `filtered_results`.
    SourcePolicyFiltered,
    /// Search: a filter removed matching documents because their value is unknown. Details: a count of documents for each
    /// of `language`, `country` and `published_at`.
    FilterUnknownValues,
    /// Search: nothing was found, and a searched index has no documents. Details: `indexes`.
    IndexEmpty,
    /// Search: reranking is unavailable; results are in first-stage order.
    RerankUnavailable,
    /// Search: search by meaning is unavailable; results are found by their words only.
    SemanticUnavailable,
    /// Search: results of a web search provider are missing. Details: `provider`, and `reason`, one of `timeout`, `unreachable`,
    /// `rate_limited`, `refused`, `http_status` and `invalid_response`.
    WebProviderUnavailable,
    /// Document: the content could not be fetched. Details: `reason`, one of `http_status` (with `status`), `robots`,
    /// `timeout`, `too_large`, `unsupported_type`, `no_text`, `needs_ocr`, `unreachable` and `not_stored` (with
    /// `cache_only`).
    ContentUnavailable,
    /// Document: the content is older than requested, and the page could not be read again. Details: `capture_time`, and `reason` as of
    /// `content_unavailable`.
    StaleContent,
    /// Document: no passage matches the query; there is no content.
    NoMatch,
    /// Document: the content is longer than the limit. Details: `max_chars`, and the `field` of the request that sets
    /// the limit, if one does.
    ContentTruncated,
    /// Document: the pinned capture is not the latest. Details: `requested_capture_id`, `latest_capture_id`.
    StaleRange,
    /// Research: no model wrote the report; it consists of sentences of the sources.
    SynthesisUnavailable,
    /// Research: the budget ended the run; the report covers what was found until then.
    BudgetReached,
    /// Document: some requested passages are not in the latest capture. Details: `passage_ids`.
    StalePassageId,
    /// A code of a newer server; never sent. The answer remains usable.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}
