use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Access, DocumentProvenance, Passage, Usage, Warning};

/// The response of `POST /v1/search`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct SearchResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Id of this ranked list, for feedback.
    pub search_id: Uuid,
    /// The supplied session id, or a new one.
    #[schemars(extend("format" = "uuid"))]
    pub session_id: String,
    /// Results, best first.
    pub results: Option<Vec<SearchResult>>,
    /// The caller's rate-limit state; omitted with `ids_only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Access")]
    pub access: Option<Access>,
    /// Matches in the workspace; present if the workspace index was searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "IntegrationResults")]
    pub integration_results: Option<IntegrationResults>,
    /// Ranking of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Ranking")]
    pub ranking: Option<Ranking>,
    /// True if parts were omitted to fit the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub truncated: Option<bool>,
    /// True if a stage was skipped to answer within `timeout_ms`: reranking by a model, an index, the check of an exact match, or
    /// reading long documents for their best passages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub degraded: Option<bool>,
    /// Usage of this request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Usage")]
    pub usage: Option<Usage>,
    /// Warnings, in every preset and budget; null if there are none.
    #[serde(default)]
    pub warnings: Option<Vec<Warning>>,
}

/// One document of the ranked list.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct SearchResult {
    /// Position, from 1.
    #[schemars(range(min = 1))]
    pub rank: i64,
    /// Stable across searches and recrawls, deterministic per canonical URL.
    pub doc_id: Uuid,
    /// Normalized address of the document; `workspace://...` for the organization's own files.
    #[schemars(extend("format" = "uri"))]
    pub canonical_url: String,
    /// Name of the file, for workspace hits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub name: Option<String>,
    /// The title of the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub title: Option<String>,
    /// The document's own description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub description: Option<String>,
    /// Sentences with words of the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub snippet: Option<String>,
    /// Media type of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub mime: Option<String>,
    /// Source address before normalization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub source_url: Option<String>,
    /// The stored object of a workspace hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub source_uri: Option<String>,
    /// `web`, or `workspace` for workspace hits. Omitted by the smallest preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub index: Option<String>,
    /// Labels from the importer or the indexing run; null if there are none. Omitted by small presets.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "shown_or_null")]
    #[schemars(with = "Option<Vec<String>>")]
    pub labels: Option<Vec<String>>,
    /// Metadata of the document and its latest capture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ResultMetadata")]
    pub metadata: Option<ResultMetadata>,
    /// Best passages for the query, best first; null if there are none. Omitted by small presets.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "shown_or_null")]
    #[schemars(with = "Option<Vec<Passage>>")]
    pub passages: Option<Vec<Passage>>,
    /// The source capture of the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DocumentProvenance")]
    pub provenance: Option<DocumentProvenance>,
    /// Relevance score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Score")]
    pub score: Option<Score>,
}

/// Metadata of a document and its latest capture. Times are RFC 3339.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ResultMetadata {
    /// Digest of the content, `sha256:` and hexadecimal: equal digests mean equal content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub content_digest: Option<String>,
    /// Time at which the service last read the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub extracted_at: Option<String>,
    /// Time of the first sighting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub first_seen_at: Option<String>,
    /// Time at which the page or file was last fetched; omitted if unknown, as for imports that do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub last_crawled_at: Option<String>,
    /// Time of the last sighting, changed or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub last_seen_at: Option<String>,
    /// Publication time stated by the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub published_at: Option<String>,
}

/// Relevance score, comparable only within one response.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Score {
    /// Higher is better.
    pub value: f64,
}

/// Ranking of the list.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Ranking {
    /// Version of the ranker; `first_stage_order_v1` if reranking was unavailable.
    pub ranker_version: String,
    /// Scope in which scores are comparable: `response`.
    pub score_scope: String,
}

/// Counts of workspace documents in a search.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct IntegrationResults {
    /// Number of matching workspace documents.
    #[schemars(range(min = 0))]
    pub total: i64,
    /// Number of workspace documents in `results`.
    #[schemars(range(min = 0))]
    pub selected: i64,
    /// Path of the list of workspace files.
    #[schemars(extend("format" = "uri-reference"))]
    pub href: String,
}

/// Omits `None`, writes `Some(empty)` as null, and reads null as `Some(empty)`.
mod shown_or_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<T: Serialize, S: Serializer>(value: &Option<Vec<T>>, serializer: S) -> Result<S::Ok, S::Error> {
        value.as_ref().filter(|items| !items.is_empty()).serialize(serializer)
    }

    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<T>>, D::Error> {
        Ok(Some(Option::<Vec<T>>::deserialize(deserializer)?.unwrap_or_default()))
    }
}
