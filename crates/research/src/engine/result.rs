//! The report as callers get it.

use model::{CaptureId, DocId, IndexName, PassageId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::assignment::Format;
use super::stored;

/// Verified report of a run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Report {
    pub format: Format,
    /// Empty for a structured report.
    pub text: String,
    /// Valid for the schema; `None` if the notes do not fill it.
    #[serde(default)]
    pub structured: Option<Value>,
    /// True if something was left out to keep `max_chars`, or the model's answer ended at its limit of tokens.
    pub truncated: bool,
    pub engine: Engine,
    pub citations: Vec<Citation>,
    pub basis: Vec<Basis>,
    /// Questions without an answer in the notes.
    pub unanswered: Vec<String>,
    /// Documents that the searches found.
    pub sources_considered: usize,
    /// Places of the schema that could not be filled.
    pub problems: Vec<Problem>,
    pub warnings: Vec<Warning>,
}

/// Writer of a report.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// Rules: sentences of the notes.
    Extractive,
    Model,
}

impl Engine {
    /// Name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Extractive => "extractive",
            Self::Model => "model",
        }
    }
}

/// Quote of a capture that a report cites. All offsets are characters (Unicode scalar values).
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Citation {
    /// Number of the mark `[n]`, from 1, in the order of the report.
    pub n: u32,
    #[serde(with = "stored::id")]
    pub doc_id: DocId,
    #[serde(with = "stored::optional_id")]
    pub passage_id: Option<PassageId>,
    #[serde(with = "stored::id")]
    pub capture_id: CaptureId,
    #[serde(with = "stored::time")]
    pub capture_time: Timestamp,
    pub canonical_url: String,
    pub title: Option<String>,
    #[serde(with = "stored::index")]
    pub index: IndexName,
    #[serde(with = "stored::optional_time")]
    pub published_at: Option<Timestamp>,
    /// Exact text of the capture from `char_start` to `char_end`.
    pub quote: String,
    pub char_start: usize,
    pub char_end: usize,
    /// First mark `[n]` in the text; `None` in a structured report.
    pub output_start: Option<usize>,
    pub output_end: Option<usize>,
    /// True: only quotes that their capture contains are cited.
    pub verified: bool,
}

/// Citations that a field of a structured report is based on.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Basis {
    /// JSON Pointer.
    pub field: String,
    pub citations: Vec<u32>,
    pub confidence: Confidence,
}

/// Strength of a basis.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The sources say little about the value, or it is derived from them.
    Low,
    /// One source.
    Medium,
    /// Several independent sources.
    High,
}

impl Confidence {
    /// Name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Place of a schema that could not be filled.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Problem {
    /// JSON Pointer into the result.
    pub field: String,
    pub message: String,
}

/// Condition that the caller should know of. `budget_reached` follows from the ending.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Warning {
    /// No model wrote the report.
    SynthesisUnavailable,
}

impl Warning {
    /// Code on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SynthesisUnavailable => "synthesis_unavailable",
        }
    }
}
