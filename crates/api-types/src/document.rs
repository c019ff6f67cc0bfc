use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;
use validator::Validate;

use crate::strict::{integer, is_default, not_null, object, optional_integer, optional_object, optional_words, word};
use crate::validation;
use crate::{Access, DocumentProvenance, IgnoredSchema, Passage, Usage, Warning};

/// The body of `POST /v1/document`. Either `doc_id` or `canonical_url` is required; `doc_id` takes precedence.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
#[schemars(extend("anyOf" = [{"required": ["doc_id"]}, {"required": ["canonical_url"]}]))]
pub struct DocumentRequest {
    /// Accepted and ignored.
    #[serde(rename = "$schema", default, skip_serializing)]
    pub schema: IgnoredSchema,
    /// Id of a document that an earlier search returned, or whose URL was read before.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub doc_id: Option<String>,
    /// Address. Lookup removes tracking parameters and fragment and lowercases the host. Unknown pages are fetched.
    // Not `uri`: addresses may have letters outside ASCII.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "iri"))]
    pub canonical_url: Option<String>,
    /// Sections to return. Default: all. `["metadata"]` fetches nothing.
    #[serde(default, deserialize_with = "optional_words", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Section>", extend("maxItems" = validation::MAX_WORDS))]
    #[validate(custom(function = "validation::words"))]
    pub include: Option<Vec<Section>>,
    /// Query for the selection `query_relevant`.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    #[validate(length(max = 8192))]
    pub query: Option<String>,
    /// Selection and format of the content.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub content: ContentRequest,
    /// Maximum age in seconds of a stored copy of a page, instead of the server's own. 0: read the page now.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 0))]
    pub max_age_seconds: Option<i64>,
    /// Read stored copies only, whatever their age. Nothing is fetched.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub cache_only: bool,
    /// Capture to read instead of the latest one: one that an earlier response named. Nothing is fetched. A capture that was shown or
    /// cited is kept for a time after newer content has replaced it, by default 30 days.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub capture_id: Option<String>,
    /// Milliseconds after which a fetch is given up, and the stored copy is returned if there is one. Default: the server's limit.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1, max = validation::MAX_TIMEOUT_MS))]
    pub timeout_ms: Option<i64>,
    /// Reserved for internal evaluation; ignored.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub debug: Map<String, Value>,
}

/// A section of the response.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// The document block, which is always returned; on its own it excludes all other sections.
    Metadata,
    /// Passages for citation.
    Passages,
    /// The captures of the document.
    CaptureHistory,
    /// The selected content.
    Content,
}

/// Selection and format of the content.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct ContentRequest {
    /// Selection of the content.
    #[serde(default, deserialize_with = "word", skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "full_document"))]
    pub selection: Selection,
    /// Format of the content.
    #[serde(default, deserialize_with = "word", skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "markdown"))]
    pub format: ContentFormat,
    /// Maximum characters of text. Default: the whole selected content.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1))]
    pub max_chars: Option<i64>,
    /// Maximum number of passages: of a selection, or in the list of passages of a whole document.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 0, max = validation::MAX_PASSAGES))]
    pub max_passages: Option<i64>,
    /// Add `char_start` and `char_end` to passages (full-document captures only).
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub include_offsets: bool,
    /// Passages for the selection `passage_ids`, at most 1,000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("maxItems" = validation::MAX_PASSAGE_IDS))]
    #[validate(custom(function = "validation::passage_ids"))]
    pub passage_ids: Vec<String>,
    /// Part of the content to read; use with the selection `full_document`.
    #[serde(default, deserialize_with = "optional_object", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ContentRange")]
    #[validate(nested)]
    pub range: Option<ContentRange>,
}

/// Selection of the content.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// No content block.
    None,
    /// The best passages for `query`, or the first ones without a query, in document order: as many as fit into `max_chars`, at
    /// most `max_passages`; five without a limit.
    QueryRelevant,
    /// Another name of `query_relevant`: the first passages of the document, or the best ones for `query`.
    TopPassages,
    /// The passages of `passage_ids`.
    PassageIds,
    /// The whole content. Fetches the document if only a search snippet is stored.
    #[default]
    FullDocument,
}

/// Format of content.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentFormat {
    /// Text without marks; code keeps its indentation. Documents of plain text are returned unchanged.
    Text,
    /// Markdown with headings, lists, tables and links. Documents of plain text are returned unchanged.
    #[default]
    Markdown,
}

/// Range of a continuation read.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct ContentRange {
    /// First character to return. Past the end the text is empty.
    #[serde(default, deserialize_with = "integer")]
    #[validate(range(min = 0))]
    pub start_char: i64,
    /// Overrides `content.max_chars`.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1))]
    pub max_chars: Option<i64>,
    /// Capture of the earlier parts. `stale_range` warns if it is no longer the latest.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub capture_id: Option<String>,
}

/// The response of `POST /v1/document`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct DocumentResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// The supplied session id, or a new one.
    #[schemars(extend("format" = "uuid"))]
    pub session_id: String,
    /// The caller's rate-limit state.
    pub access: Access,
    /// The document block.
    pub doc: DocumentBlock,
    /// Omitted with selection `none`, if the content is unavailable, or if no passage matches the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Content")]
    pub content: Option<Content>,
    /// Passages for citation, in document order: those of the returned text if that is a part of the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Passage>")]
    pub passages: Option<Vec<Passage>>,
    /// The latest capture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<CaptureEntry>")]
    pub capture_history: Option<Vec<CaptureEntry>>,
    /// Captures of the document; present if one exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DocumentProvenance")]
    pub provenance: Option<DocumentProvenance>,
    /// Usage of this request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Usage")]
    pub usage: Option<Usage>,
    /// Omitted if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// Metadata of a document. Times are RFC 3339. Those of a page that is not in the shared web index are the organization's
/// own, whoever else read it.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct DocumentBlock {
    /// Id of the document; deterministic per canonical URL.
    pub doc_id: Uuid,
    /// The normalized address that identifies the document.
    #[schemars(extend("format" = "uri"))]
    pub canonical_url: String,
    /// The address before normalization: as imported or, for a page that is not in the shared web index, as requested.
    pub source_url: String,
    /// Name of the file, for documents of the workspace.
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
    pub meta_description: Option<String>,
    /// The headings of the content, in order: those of the returned text if that is a part of the document. The first 1,000, and
    /// as many as have 64 KiB together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// Digest of the latest content: equal digests mean equal content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub content_digest: Option<String>,
    /// Latest capture of the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    pub latest_capture_id: Option<Uuid>,
    /// Publication time stated by the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub published_at: Option<String>,
    /// Time of the first sighting; of the first lookup for a page that was not read yet.
    #[schemars(extend("format" = "date-time"))]
    pub first_seen_at: String,
    /// Time of the last sighting, changed or not; of the first lookup for a page that was not read yet.
    #[schemars(extend("format" = "date-time"))]
    pub last_seen_at: String,
}

/// The selected content. Characters are Unicode scalar values.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Content {
    /// The applied selection.
    pub selection: Selection,
    /// Format of `text`.
    pub format: ContentFormat,
    /// The content.
    pub text: String,
    /// True if `text` is shorter than the selected content.
    pub truncated: bool,
    /// Number of characters in `text`.
    #[schemars(range(min = 0))]
    pub char_count: i64,
    /// Offset of `text` in the content; omitted if 0.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(range(min = 0))]
    pub start_char: i64,
}

/// One capture: a stored version of the document.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct CaptureEntry {
    /// Id of the capture.
    pub capture_id: Uuid,
    /// Time at which the service last read this content: an unchanged page keeps its capture, with a new time.
    #[schemars(extend("format" = "date-time"))]
    pub capture_time: String,
    /// Digest of the content: equal digests mean equal content.
    pub content_digest: String,
    /// `text` for search-snippet captures, `markdown` for full fetches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ContentFormat")]
    pub content_format: Option<ContentFormat>,
}
