use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::request::ResearchFormat;
use crate::search_request::SearchIndex;

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
    /// True if something was left out to keep `max_chars`, or the model's answer ended at its limit of tokens.
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
    /// Strength: `low` (the sources say little, or it is derived), `medium` (one source) or `high` (several independent sources).
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
