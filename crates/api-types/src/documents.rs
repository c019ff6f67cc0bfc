use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use validator::{Validate, ValidationError};

use crate::strict::{is_default, not_null, object, objects, optional_integer, optional_words};
use crate::validation;
use crate::{
    Access, CaptureEntry, Content, ContentRequest, DocumentBlock, DocumentProvenance, ErrorBody, IgnoredSchema,
    Passage, ResponseBudget, Section, Usage, Warning,
};

/// The body of `POST /v1/documents`. All fields but `documents` apply to each document.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct DocumentsRequest {
    /// Accepted and ignored.
    #[serde(rename = "$schema", default, skip_serializing)]
    pub schema: IgnoredSchema,
    /// Documents to read, 1 to 20.
    #[serde(deserialize_with = "objects")]
    #[schemars(extend("minItems" = 1, "maxItems" = validation::MAX_DOCUMENTS))]
    #[validate(custom(function = "validation::documents"), nested)]
    pub documents: Vec<DocumentTarget>,
    /// Sections to return of each document. Default: all. `["metadata"]` fetches nothing.
    #[serde(default, deserialize_with = "optional_words", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<Section>", extend("maxItems" = validation::MAX_WORDS))]
    #[validate(custom(function = "validation::words"))]
    pub include: Option<Vec<Section>>,
    /// Query for the selection `query_relevant`.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    #[validate(length(max = 8192))]
    pub query: Option<String>,
    /// Selection and format of the content of each document.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub content: ContentRequest,
    /// Maximum age in seconds of stored copies of pages, instead of the server's own. 0: read all pages now.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 0))]
    pub max_age_seconds: Option<i64>,
    /// Read stored copies only, whatever their age. Nothing is fetched.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schemars(extend("default" = false))]
    pub cache_only: bool,
    /// Milliseconds after which fetches are given up, and stored copies are returned where there are any.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1, max = validation::MAX_TIMEOUT_MS))]
    pub timeout_ms: Option<i64>,
    /// Size of the response.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub response: DocumentsShape,
}

/// A document to read: either `doc_id` or `canonical_url` is required; `doc_id` takes precedence.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
#[schemars(extend("anyOf" = [{"required": ["doc_id"]}, {"required": ["canonical_url"]}]))]
#[validate(schema(function = "has_address", skip_on_field_errors = true))]
pub struct DocumentTarget {
    /// Id of a document that an earlier search returned, or whose URL was read before.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub doc_id: Option<String>,
    /// Address. Unknown pages are fetched. A malformed one is an error of this entry only.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub canonical_url: Option<String>,
    /// Capture to read instead of the latest one, as in `POST /v1/document`.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub capture_id: Option<String>,
}

fn has_address(target: &DocumentTarget) -> Result<(), ValidationError> {
    match target {
        DocumentTarget { doc_id: None, canonical_url: None, .. } => Err(ValidationError::new("target")),
        _ => Ok(()),
    }
}

/// Size of the response to a request for several documents.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct DocumentsShape {
    /// Limit on the size of the whole response. Passages that repeat the content are left out first, then outlines and captures;
    /// texts are cut last, the longest first.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "is_default")]
    #[validate(nested)]
    pub budget: ResponseBudget,
}

/// The response of `POST /v1/documents`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct DocumentsResponse {
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
    /// One result for each requested document, in the order of the request.
    pub results: Vec<DocumentResult>,
    /// True if parts were omitted to fit the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub truncated: Option<bool>,
    /// Usage of this request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Usage")]
    pub usage: Option<Usage>,
    /// Warnings about the whole response; those about a document are part of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// Outcome of the read of one document.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct DocumentResult {
    /// Outcome of the read.
    pub status: ReadStatus,
    /// The document, with status `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ReadDocument")]
    pub document: Option<Box<ReadDocument>>,
    /// The error that the read alone would have returned, with status `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ErrorBody")]
    pub error: Option<ErrorBody>,
}

/// Outcome of the read of one document.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadStatus {
    /// The document was read. Its warnings say if its content is missing or old.
    Ok,
    /// The document was not read.
    Error,
}

/// A document that was read, as in the response of `POST /v1/document`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ReadDocument {
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
    /// Omitted if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}
