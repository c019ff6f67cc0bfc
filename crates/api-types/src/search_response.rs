use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Access, DocumentProvenance, Passage, Usage, Warning};

/// The answer of `POST /v1/search`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct SearchResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Identifies this request.
    pub request_id: Uuid,
    /// Ties feedback to this ranked list.
    pub search_id: Uuid,
    /// The supplied session id, or a fresh one.
    #[schemars(extend("format" = "uuid"))]
    pub session_id: String,
    /// Best first.
    pub results: Option<Vec<SearchResult>>,
    /// Left out at `ids_only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Access")]
    pub access: Option<Access>,
    /// Present when the workspace index was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "IntegrationResults")]
    pub integration_results: Option<IntegrationResults>,
    /// How the list was ranked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Ranking")]
    pub ranking: Option<Ranking>,
    /// True when parts were left out to fit the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub truncated: Option<bool>,
    /// What this request cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Usage")]
    pub usage: Option<Usage>,
    /// Null when there are none. They survive every preset and budget.
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
    /// The address that identifies the document: normalized, `workspace://...` for the organization's own files.
    #[schemars(extend("format" = "uri"))]
    pub canonical_url: String,
    /// The title of the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub title: Option<String>,
    /// How the document describes itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub description: Option<String>,
    /// The sentences that hold the query's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub snippet: Option<String>,
    /// The media type of what was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub mime: Option<String>,
    /// The address that the document was read from, before normalization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub source_url: Option<String>,
    /// For workspace hits: the stored object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub source_uri: Option<String>,
    /// `workspace` for workspace hits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub index: Option<String>,
    /// What the importer or the indexing run said of the document; null when nothing. Left out by small presets.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "shown_or_null")]
    #[schemars(with = "Option<Vec<String>>")]
    pub labels: Option<Vec<String>>,
    /// What is known of the document and its latest capture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ResultMetadata")]
    pub metadata: Option<ResultMetadata>,
    /// The best passages for the query, best first; null when there are none. Left out by small presets.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "shown_or_null")]
    #[schemars(with = "Option<Vec<Passage>>")]
    pub passages: Option<Vec<Passage>>,
    /// The capture that the content came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DocumentProvenance")]
    pub provenance: Option<DocumentProvenance>,
    /// How well the document answers the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Score")]
    pub score: Option<Score>,
}

/// What is known of the document and its latest capture. Times are RFC 3339.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct ResultMetadata {
    /// Digest of the content, `sha256:` and hexadecimal: equal digests mean equal content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub content_digest: Option<String>,
    /// When the content was extracted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub extracted_at: Option<String>,
    /// When the document was first met.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub first_seen_at: Option<String>,
    /// When the document was last fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub last_crawled_at: Option<String>,
    /// When the document was last met, unchanged or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub last_seen_at: Option<String>,
    /// When the document says that it was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub published_at: Option<String>,
}

/// Comparable only inside the response that carries it.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Score {
    /// Higher is better.
    pub value: f64,
}

/// How the list was ranked.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Ranking {
    /// Identifies the ranker; `first_stage_order_v1` when reranking was unavailable.
    pub ranker_version: String,
    /// Where scores are comparable: `response`.
    pub score_scope: String,
}

/// The part of the organization's own documents in the answer.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct IntegrationResults {
    /// Workspace documents that match.
    #[schemars(range(min = 0))]
    pub total: i64,
    /// Those of them in `results`.
    #[schemars(range(min = 0))]
    pub selected: i64,
    /// Where the workspace's files are listed.
    #[schemars(extend("format" = "uri-reference"))]
    pub href: String,
}

/// `None` is left out of the answer, `Some(empty)` is written as null, and null is read as `Some(empty)`.
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
