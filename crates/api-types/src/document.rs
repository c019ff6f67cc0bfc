use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;
use validator::Validate;

use crate::strict::{is_default, not_null, object, optional_object, optional_words, word};
use crate::validation;
use crate::{Access, DocumentProvenance, IgnoredSchema, Passage, Usage, Warning};

/// The body of `POST /v1/document`. Either `doc_id` or `canonical_url` is required; `doc_id` wins.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct DocumentRequest {
    /// Accepted and ignored.
    #[serde(rename = "$schema", default, skip_serializing)]
    pub schema: IgnoredSchema,
    /// A document that was granted by a search result or an earlier read of its URL.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub doc_id: Option<String>,
    /// Normalized before lookup: tracking parameters and fragment removed, host lowercased. Fetched when not known.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub canonical_url: Option<String>,
    /// The sections to return; all when left out. `["metadata"]` fetches nothing.
    #[serde(default, deserialize_with = "optional_words", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Section>")]
    pub include: Option<Vec<Section>>,
    /// Selects passages when `content.selection` is `query_relevant`.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    #[validate(length(max = 8192))]
    pub query: Option<String>,
    /// Which content to return, and how.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub content: ContentRequest,
    /// Reserved for internal evaluation; ignored.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub debug: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    Metadata,
    Passages,
    CaptureHistory,
    Content,
}

/// Which content to return, and how.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct ContentRequest {
    /// `none` leaves the content block out.
    #[serde(default, deserialize_with = "word", skip_serializing_if = "is_default")]
    pub selection: Selection,
    #[serde(default, deserialize_with = "word", skip_serializing_if = "is_default")]
    pub format: ContentFormat,
    /// Maximum characters of text; the whole selected content when left out.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1))]
    pub max_chars: Option<i64>,
    /// Give passages `char_start` and `char_end` (full-document captures only).
    #[serde(default, skip_serializing_if = "is_default")]
    pub include_offsets: bool,
    /// The passages to return with selection `passage_ids`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passage_ids: Vec<String>,
    /// Reads a part of the content; use with selection `full_document`.
    #[serde(default, deserialize_with = "optional_object", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ContentRange")]
    #[validate(nested)]
    pub range: Option<ContentRange>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    None,
    QueryRelevant,
    TopPassages,
    PassageIds,
    /// Fetches the document when only a search snippet of it is known.
    #[default]
    FullDocument,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentFormat {
    Text,
    #[default]
    Markdown,
}

/// A continuation read.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct ContentRange {
    /// First character to return. Past the end, the text is empty.
    #[serde(default)]
    #[validate(range(min = 0))]
    pub start_char: i64,
    /// Overrides `content.max_chars`.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1))]
    pub max_chars: Option<i64>,
    /// The capture that earlier parts came from; `stale_range` warns when it is no longer the latest.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub capture_id: Option<String>,
}

/// The answer of `POST /v1/document`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct DocumentResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Identifies this request.
    pub request_id: Uuid,
    /// The supplied session id, or a fresh one.
    pub session_id: String,
    pub access: Access,
    pub doc: DocumentBlock,
    /// Left out with selection `none`, or when the content is unavailable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Content")]
    pub content: Option<Content>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Passage>")]
    pub passages: Option<Vec<Passage>>,
    /// The latest capture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<CaptureEntry>")]
    pub capture_history: Option<Vec<CaptureEntry>>,
    /// Present whenever a capture exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DocumentProvenance")]
    pub provenance: Option<DocumentProvenance>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Usage")]
    pub usage: Option<Usage>,
    /// Left out when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// What is known of the document itself. Times are RFC 3339.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct DocumentBlock {
    pub doc_id: Uuid,
    pub canonical_url: String,
    /// The address that was asked for or imported, before normalization.
    pub source_url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub meta_description: Option<String>,
    /// The headings of the content, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub content_digest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    pub latest_capture_id: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub published_at: Option<String>,
    #[schemars(extend("format" = "date-time"))]
    pub first_seen_at: String,
    #[schemars(extend("format" = "date-time"))]
    pub last_seen_at: String,
}

/// The selected content. Characters are Unicode scalar values.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Content {
    pub selection: Selection,
    pub format: ContentFormat,
    pub text: String,
    /// The text ends before the selected content does.
    pub truncated: bool,
    /// Characters in `text`.
    pub char_count: i64,
    /// Where `text` starts in the content; left out when 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start_char: i64,
}

/// One reading of the document.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct CaptureEntry {
    pub capture_id: Uuid,
    #[schemars(extend("format" = "date-time"))]
    pub capture_time: String,
    pub content_digest: String,
    /// `text` for search-snippet captures, `markdown` for full fetches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ContentFormat")]
    pub content_format: Option<ContentFormat>,
}
