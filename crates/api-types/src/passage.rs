use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A quotable slice of the latest capture of a document.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Passage {
    /// Id of the passage in the latest capture; changes with the content.
    pub passage_id: Uuid,
    /// Id of the document.
    pub doc_id: Uuid,
    /// Position in the document, from 0.
    #[schemars(range(min = 0))]
    pub ordinal: i64,
    /// Verbatim text of the passage.
    pub text: String,
    /// Start offset in characters of the full markdown content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 0))]
    pub char_start: Option<i64>,
    /// End offset (exclusive) in characters of the full markdown content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 0))]
    pub char_end: Option<i64>,
    /// The nearest heading above the passage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub section_heading: Option<String>,
    /// Headings above the passage, outermost first; null if there are none.
    #[serde(default)]
    pub section_path: Option<Vec<String>>,
}

/// The source capture of content.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct DocumentProvenance {
    /// Id of the capture; pins continuation reads as `content.range.capture_id`.
    pub capture_id: Uuid,
    /// Time at which the service last read this content (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub capture_time: String,
}
