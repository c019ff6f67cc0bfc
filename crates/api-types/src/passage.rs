use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A quotable slice of the latest capture of a document.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Passage {
    /// Identifies the passage of the latest capture; changes when the content changes.
    pub passage_id: Uuid,
    /// The document that the passage belongs to.
    pub doc_id: Uuid,
    /// Position in the document, from 0.
    #[schemars(range(min = 0))]
    pub ordinal: i64,
    /// The passage, verbatim.
    pub text: String,
    /// Start in characters of the full markdown content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 0))]
    pub char_start: Option<i64>,
    /// End (exclusive) in characters of the full markdown content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 0))]
    pub char_end: Option<i64>,
    /// The nearest heading above the passage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub section_heading: Option<String>,
    /// The headings above the passage, outermost first; null when there are none.
    #[serde(default)]
    pub section_path: Option<Vec<String>>,
}

/// The capture that content came from.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct DocumentProvenance {
    /// Identifies the capture; pins continuation reads as `content.range.capture_id`.
    pub capture_id: Uuid,
    /// When the capture was read (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub capture_time: String,
}
