use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;
use validator::Validate;

use crate::strict::{integer, is_default, not_null, object, optional_integer, optional_object, optional_words, word};
use crate::validation;
use crate::{Access, DocumentProvenance, IgnoredSchema, Passage, Usage, Warning};

/// The body of `POST /v1/document`. Either `doc_id` or `canonical_url` is required; `doc_id` wins.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
#[schemars(extend("anyOf" = [{"required": ["doc_id"]}, {"required": ["canonical_url"]}]))]
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
    #[schemars(with = "String", extend("format" = "uri"))]
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

/// A part of the answer that can be asked for.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// The document itself, which is always returned; alone, it asks for nothing else.
    Metadata,
    /// Passages for citation.
    Passages,
    /// The captures of the document.
    CaptureHistory,
    /// The selected content.
    Content,
}

/// Which content to return, and how.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct ContentRequest {
    /// Which part of the content to return.
    #[serde(default, deserialize_with = "word", skip_serializing_if = "is_default")]
    pub selection: Selection,
    /// How to write the content.
    #[serde(default, deserialize_with = "word", skip_serializing_if = "is_default")]
    pub format: ContentFormat,
    /// Maximum characters of text; the whole selected content when left out.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
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

/// Which part of the content to return.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// No content block.
    None,
    /// The passages that answer `query` best.
    QueryRelevant,
    /// The passages that stand for the document best.
    TopPassages,
    /// The passages of `passage_ids`.
    PassageIds,
    /// All of it. Fetches the document when only a search snippet of it is known.
    #[default]
    FullDocument,
}

/// How content is written.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentFormat {
    /// Plain text.
    Text,
    /// Markdown: headings, lists, tables and links are kept.
    #[default]
    Markdown,
}

/// A continuation read.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct ContentRange {
    /// First character to return. Past the end, the text is empty.
    #[serde(default, deserialize_with = "integer")]
    #[validate(range(min = 0))]
    pub start_char: i64,
    /// Overrides `content.max_chars`.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
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
    #[schemars(extend("format" = "uuid"))]
    pub session_id: String,
    /// The caller's rate-limit state.
    pub access: Access,
    /// What is known of the document itself.
    pub doc: DocumentBlock,
    /// Left out with selection `none`, or when the content is unavailable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Content")]
    pub content: Option<Content>,
    /// Passages for citation, in the order of the document or best first, as selected.
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
    /// What this request cost.
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
    /// Identifies the document; deterministic per canonical URL.
    pub doc_id: Uuid,
    /// The normalized address that identifies the document.
    #[schemars(extend("format" = "uri"))]
    pub canonical_url: String,
    /// The address that was asked for or imported, before normalization.
    pub source_url: String,
    /// The title of the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub title: Option<String>,
    /// How the document describes itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub meta_description: Option<String>,
    /// The headings of the content, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// Digest of the latest content: equal digests mean equal content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub content_digest: Option<String>,
    /// The latest reading of the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    pub latest_capture_id: Option<Uuid>,
    /// When the document says that it was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub published_at: Option<String>,
    /// When the document was first met.
    #[schemars(extend("format" = "date-time"))]
    pub first_seen_at: String,
    /// When the document was last met, unchanged or not.
    #[schemars(extend("format" = "date-time"))]
    pub last_seen_at: String,
}

/// The selected content. Characters are Unicode scalar values.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Content {
    /// The selection that was made.
    pub selection: Selection,
    /// How `text` is written.
    pub format: ContentFormat,
    /// The content.
    pub text: String,
    /// The text ends before the selected content does.
    pub truncated: bool,
    /// Characters in `text`.
    #[schemars(range(min = 0))]
    pub char_count: i64,
    /// Where `text` starts in the content; left out when 0.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(range(min = 0))]
    pub start_char: i64,
}

/// One reading of the document.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct CaptureEntry {
    /// Identifies the capture.
    pub capture_id: Uuid,
    /// When the document was read.
    #[schemars(extend("format" = "date-time"))]
    pub capture_time: String,
    /// Digest of the content: equal digests mean equal content.
    pub content_digest: String,
    /// `text` for search-snippet captures, `markdown` for full fetches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ContentFormat")]
    pub content_format: Option<ContentFormat>,
}
