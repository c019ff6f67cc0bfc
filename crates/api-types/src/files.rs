use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use validator::Validate;

use crate::IgnoredSchema;
use crate::strict::{integer, is_default, not_null, word};

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
    #[serde(deserialize_with = "integer")]
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
    #[schemars(extend("format" = "uri"))]
    pub url: String,
    /// Seconds that the URL works.
    #[schemars(range(min = 0))]
    pub expires_in_seconds: i64,
    /// Bytes of the largest file that is accepted.
    #[schemars(range(min = 0))]
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
    /// Every stored file.
    pub files: Vec<FileEntry>,
}

/// One stored file.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct FileEntry {
    /// The sanitized name: the identity of the file.
    pub name: String,
    /// Bytes.
    #[schemars(range(min = 0))]
    pub size: i64,
    /// When the file was last uploaded.
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
    /// What to process.
    #[serde(default, deserialize_with = "word", skip_serializing_if = "is_default")]
    pub mode: IndexMode,
}

/// What an indexing run processes.
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
    /// Waiting for a worker.
    Queued,
    /// Comparing what storage lists with what is indexed.
    Planning,
    /// Reading and indexing files.
    Running,
    /// Terminal: everything that could be indexed can be found.
    Completed,
    /// Terminal: the run could not be done.
    Failed,
    /// For readers alone: one that a newer server knows, and not taken for an end.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
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
    /// Where the run stands.
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
    /// Identifies the run.
    pub sync_id: String,
    /// Where the run stands.
    pub state: RunState,
    /// Null before the run starts (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub started_at: Option<String>,
    /// Null while the run goes on (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub completed_at: Option<String>,
    /// Why the run failed; null while it is healthy.
    pub error: Option<String>,
    /// Counts of the run so far.
    pub stats: IndexStats,
}

/// Counts of one run; final and exact when the state is terminal.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct IndexStats {
    /// Files that storage listed.
    #[schemars(range(min = 0))]
    pub enumerated: i64,
    /// Files read from storage.
    #[schemars(range(min = 0))]
    pub fetched: i64,
    /// Documents written or refreshed.
    #[schemars(range(min = 0))]
    pub indexed: i64,
    /// Files that could not be read as what they say they are.
    #[schemars(range(min = 0))]
    pub failed: i64,
    /// Files of types that are not supported.
    #[schemars(range(min = 0))]
    pub skipped_unsupported: i64,
    /// Documents removed because their file is gone.
    #[schemars(range(min = 0))]
    pub deleted: i64,
    /// Bytes read from storage.
    #[schemars(range(min = 0))]
    pub bytes: i64,
}
