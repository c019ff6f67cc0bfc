use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::schemas;

/// The body of every error.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ErrorEnvelope {
    /// The schema of this body; absent on 401, 403 and 429.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Always the literal `error`.
    #[serde(rename = "type")]
    #[schemars(extend("const" = "error"))]
    pub kind: String,
    /// Id of this request, as in the header `X-Request-ID`.
    pub request_id: Uuid,
    /// The error.
    pub error: ErrorBody,
}

/// The error.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ErrorBody {
    /// Stable snake_case code; branch on this. Newer servers may send others.
    #[schemars(schema_with = "error_code")]
    pub code: String,
    /// Human-readable; may change.
    pub message: String,
    /// Details, often `field` (path of the offending field) or `error` (the parser's message).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

/// The schema of an error code.
fn error_code(_: &mut SchemaGenerator) -> Schema {
    let described = ErrorCode::ALL.map(|code| (code.as_str(), code.meaning()));
    schemas::open_words(described)
}

/// Error codes.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum ErrorCode {
    ValidationError,
    ResponseTooLarge,
    MissingApiKey,
    InvalidApiKey,
    InsufficientBalance,
    InsufficientScope,
    DocumentNotFound,
    SearchNotFound,
    SyncNotFound,
    FileNotFound,
    KeyNotFound,
    WebhookNotFound,
    CrawlNotFound,
    ResearchNotFound,
    NotFound,
    MethodNotAllowed,
    FileTooLarge,
    UnsupportedFileType,
    RateLimited,
    InternalError,
    ProviderUnavailable,
    /// Shares its code with [`ErrorCode::ProviderUnavailable`]; the status tells them apart.
    RetrievalNotConfigured,
    QuotaExceeded,
    Overloaded,
}

impl ErrorCode {
    pub const ALL: [ErrorCode; 24] = [
        ErrorCode::ValidationError,
        ErrorCode::ResponseTooLarge,
        ErrorCode::MissingApiKey,
        ErrorCode::InvalidApiKey,
        ErrorCode::InsufficientBalance,
        ErrorCode::InsufficientScope,
        ErrorCode::DocumentNotFound,
        ErrorCode::SearchNotFound,
        ErrorCode::SyncNotFound,
        ErrorCode::FileNotFound,
        ErrorCode::KeyNotFound,
        ErrorCode::WebhookNotFound,
        ErrorCode::CrawlNotFound,
        ErrorCode::ResearchNotFound,
        ErrorCode::NotFound,
        ErrorCode::MethodNotAllowed,
        ErrorCode::FileTooLarge,
        ErrorCode::UnsupportedFileType,
        ErrorCode::RateLimited,
        ErrorCode::InternalError,
        ErrorCode::ProviderUnavailable,
        ErrorCode::RetrievalNotConfigured,
        ErrorCode::QuotaExceeded,
        ErrorCode::Overloaded,
    ];

    /// Code, HTTP status, meaning.
    const fn row(self) -> (&'static str, u16, &'static str) {
        match self {
            ErrorCode::ValidationError => {
                ("validation_error", 400, "the request is malformed or a value is not allowed")
            }
            ErrorCode::ResponseTooLarge => ("response_too_large", 400, "the response cannot fit the budget"),
            ErrorCode::MissingApiKey => ("missing_api_key", 401, "the request has no Bearer token"),
            ErrorCode::InvalidApiKey => ("invalid_api_key", 401, "the token is malformed, unknown, expired or revoked"),
            ErrorCode::InsufficientBalance => ("insufficient_balance", 402, "the balance does not cover the search"),
            ErrorCode::InsufficientScope => ("insufficient_scope", 403, "the key lacks the scope of the endpoint"),
            ErrorCode::DocumentNotFound => ("document_not_found", 404, "the document is unknown or not granted"),
            ErrorCode::SearchNotFound => {
                ("search_not_found", 404, "the search is unknown or belongs to another organization")
            }
            ErrorCode::SyncNotFound => {
                ("sync_not_found", 404, "the indexing run is unknown or belongs to another organization")
            }
            ErrorCode::FileNotFound => ("file_not_found", 404, "no stored file has this name"),
            ErrorCode::KeyNotFound => {
                ("key_not_found", 404, "the API key is unknown or belongs to another organization")
            }
            ErrorCode::WebhookNotFound => {
                ("webhook_not_found", 404, "the webhook is unknown or belongs to another organization")
            }
            ErrorCode::CrawlNotFound => ("crawl_not_found", 404, "no crawl has this name"),
            ErrorCode::ResearchNotFound => {
                ("research_not_found", 404, "the research run is unknown or belongs to another organization")
            }
            ErrorCode::NotFound => ("not_found", 404, "no such path"),
            ErrorCode::MethodNotAllowed => ("method_not_allowed", 405, "the path does not support this method"),
            ErrorCode::FileTooLarge => ("file_too_large", 413, "the file is larger than the maximum"),
            ErrorCode::UnsupportedFileType => ("unsupported_file_type", 415, "files of this type are not supported"),
            ErrorCode::RateLimited => {
                ("rate_limited", 429, "the rate limit, or the limit that the details name, is exceeded")
            }
            ErrorCode::InternalError => ("internal_error", 500, "internal server error; safe to retry"),
            ErrorCode::ProviderUnavailable => ("provider_unavailable", 502, "a backend is unavailable; transient"),
            ErrorCode::RetrievalNotConfigured => {
                ("provider_unavailable", 503, "search is not configured on this server")
            }
            ErrorCode::QuotaExceeded => {
                ("quota_exceeded", 507, "a quota of the organization is used up, or the server's disk is almost full")
            }
            ErrorCode::Overloaded => (
                "overloaded",
                503,
                "the server is busy, or the request took too long; the header Retry-After says when to retry",
            ),
        }
    }

    /// The snake_case name on the wire.
    pub const fn as_str(self) -> &'static str {
        self.row().0
    }

    /// The HTTP status.
    pub const fn status(self) -> u16 {
        self.row().1
    }

    /// One line for the reference.
    pub const fn meaning(self) -> &'static str {
        self.row().2
    }
}
