use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use validator::Validate;

use crate::IgnoredSchema;
use crate::strict::{is_default, not_null, word};

/// The body of `POST /v1/files/presign`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct PresignRequest {
    /// Accepted and ignored.
    #[serde(rename = "$schema", default, skip_serializing)]
    pub schema: IgnoredSchema,
    /// The name of the file; stored under its sanitized form.
    #[validate(length(min = 1, max = 512))]
    pub filename: String,
    /// The exact number of bytes that will be uploaded.
    #[validate(range(min = 0))]
    pub size: i64,
    /// The media type, for the record: the type is decided by the file's extension and content.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    #[validate(length(max = 255))]
    pub content_type: Option<String>,
}

/// Where and how to upload one file.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct PresignResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Identifies this request.
    pub request_id: Uuid,
    /// The sanitized name that the file is stored and listed under.
    pub name: String,
    /// Signed storage URL for one `PUT` of exactly the declared size. Never send the API key to it.
    pub url: String,
    /// How long the URL works.
    pub expires_in_seconds: i64,
    /// The largest file that is accepted.
    pub max_object_bytes: i64,
}

/// The answer of `GET /v1/files`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct FileListResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Identifies this request.
    pub request_id: Uuid,
    pub files: Vec<FileEntry>,
}

/// One stored file.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct FileEntry {
    /// The sanitized name: the identity of the file.
    pub name: String,
    /// Bytes.
    pub size: i64,
    #[schemars(extend("format" = "date-time"))]
    pub last_modified: String,
}

/// The answer of `DELETE /v1/files/{name}`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct FileDeleteResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Identifies this request.
    pub request_id: Uuid,
    /// False when there was no such file.
    pub deleted: bool,
}

/// The body of `POST /v1/files/index`; `{}` is allowed.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct IndexRequest {
    /// Accepted and ignored.
    #[serde(rename = "$schema", default, skip_serializing)]
    pub schema: IgnoredSchema,
    #[serde(default, deserialize_with = "word", skip_serializing_if = "is_default")]
    pub mode: IndexMode,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexMode {
    /// New and changed files.
    #[default]
    Incremental,
    /// Every file again.
    Full,
}

/// Where an indexing run stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    Queued,
    Planning,
    Running,
    /// Terminal.
    Completed,
    /// Terminal.
    Failed,
}

/// The 202 answer of `POST /v1/files/index`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct IndexStartResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Identifies this request.
    pub request_id: Uuid,
    /// Identifies the run.
    pub sync_id: String,
    pub state: RunState,
}

/// The answer of `GET /v1/files/index/{sync_id}`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct IndexStatusResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Identifies this request.
    pub request_id: Uuid,
    pub sync_id: String,
    pub state: RunState,
    /// Null before the run starts (RFC 3339).
    #[schemars(extend("format" = "date-time"), required)]
    pub started_at: Option<String>,
    /// Null while the run goes on (RFC 3339).
    #[schemars(extend("format" = "date-time"), required)]
    pub completed_at: Option<String>,
    /// Why the run failed; null while it is healthy.
    #[schemars(required)]
    pub error: Option<String>,
    pub stats: IndexStats,
}

/// Counts of one run; final and exact when the state is terminal.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct IndexStats {
    /// Files that storage listed.
    pub enumerated: i64,
    /// Files read from storage.
    pub fetched: i64,
    /// Documents written or refreshed.
    pub indexed: i64,
    /// Files that could not be read as what they say they are.
    pub failed: i64,
    /// Files of types that are not supported.
    pub skipped_unsupported: i64,
    /// Documents removed because their file is gone.
    pub deleted: i64,
    /// Bytes read from storage.
    pub bytes: i64,
}
