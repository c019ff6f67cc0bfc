use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use validator::Validate;

use crate::strict::{not_null, objects, optional_integer};
use crate::validation;
use crate::{Access, IgnoredSchema, Usage};

/// The body of `POST /v1/citations/verify`.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct CitationsVerifyRequest {
    /// Accepted and ignored.
    #[serde(rename = "$schema", default, skip_serializing)]
    pub schema: IgnoredSchema,
    /// Citations to verify, 1 to 50.
    #[serde(deserialize_with = "objects")]
    #[schemars(extend("minItems" = 1, "maxItems" = validation::MAX_CITATIONS))]
    #[validate(custom(function = "validation::citations"), nested)]
    pub citations: Vec<Citation>,
}

/// A quote and its source.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// Id of the document.
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub doc_id: String,
    /// Capture that was cited. Default: the latest one.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    #[validate(custom(function = "validation::uuid_text"))]
    pub capture_id: Option<String>,
    /// Quoted text, as in a passage or in markdown content.
    #[validate(length(min = 1, max = 8192))]
    pub quote: String,
    /// Start of the quote in characters of the capture's content. Default: anywhere.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 0))]
    pub char_start: Option<i64>,
    /// End of the quote, exclusive; after `char_start`.
    #[serde(default, deserialize_with = "optional_integer", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64")]
    #[validate(range(min = 1))]
    pub char_end: Option<i64>,
}

/// The response of `POST /v1/citations/verify`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct CitationsVerifyResponse {
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
    /// One result for each citation, in the order of the request.
    pub results: Vec<CitationResult>,
    /// Usage of this request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Usage")]
    pub usage: Option<Usage>,
}

/// Comparison of a quote with the cited capture, and with the latest one.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct CitationResult {
    /// Comparison with the cited capture.
    #[serde(flatten)]
    pub cited: CitationCheck,
    /// Comparison with the latest capture of the document.
    pub latest: CitationCheck,
}

/// Comparison of a quote with a capture, byte for byte except for the backslashes of markdown escapes.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct CitationCheck {
    /// Outcome of the comparison.
    pub status: CitationStatus,
    /// The compared capture; omitted if it or the document is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    pub capture_id: Option<Uuid>,
    /// Time at which the service last read this content (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub capture_time: Option<String>,
    /// Start of the quote, or of the nearest text, in characters of the capture's content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 0))]
    pub char_start: Option<i64>,
    /// End of the quote, or of the nearest text, exclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "i64", range(min = 0))]
    pub char_end: Option<i64>,
    /// The nearest text, with status `changed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub text: Option<String>,
    /// Replacements that turn the quote into `text`, in order, at most 32: the last one may span several differences. With status
    /// `changed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<QuoteReplacement>")]
    pub difference: Option<Vec<QuoteReplacement>>,
}

/// Outcome of the comparison of a quote with a capture.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CitationStatus {
    /// The quote is at its place, or somewhere if no place was given.
    Exact,
    /// The quote is elsewhere.
    Moved,
    /// The capture has a similar text instead.
    Changed,
    /// The capture has nothing similar; or, without `capture_id`, the capture or the document is gone.
    Gone,
}

/// A replaced part of a quote.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct QuoteReplacement {
    /// Start in the quote, in characters.
    #[schemars(range(min = 0))]
    pub char_start: i64,
    /// Text of the quote; empty for an insertion.
    pub removed: String,
    /// Text of the capture in its place; empty for a deletion.
    pub added: String,
}
