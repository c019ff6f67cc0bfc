use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use validator::Validate;

use crate::strict::{integer, is_default, not_null, word};
use crate::{IgnoredSchema, validation};

/// The body of `POST /v1/files/presign`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct PresignRequest {
    /// Accepted and ignored.
    #[serde(rename = "$schema", default, skip_serializing)]
    pub schema: IgnoredSchema,
    /// Name of the file, sanitized before it is stored.
    #[validate(length(min = 1, max = 512))]
    pub filename: String,
    /// Exact size of the upload in bytes.
    #[serde(deserialize_with = "integer")]
    #[validate(range(min = 0))]
    pub size: i64,
    /// Media type, informational: extension and content decide.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    #[validate(length(max = 255))]
    pub content_type: Option<String>,
    /// Labels of the file, at most 20; searches filter by them. They replace those of an earlier upload; if omitted, these stay.
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<String>", extend("items" = label_schema(), "maxItems" = validation::MAX_LABELS))]
    #[validate(custom(function = "validation::labels"))]
    pub labels: Option<Vec<String>>,
}

/// Pattern of a label: no control characters, and at least one character that is no space.
const LABEL: &str = r"^[^\x00-\x1f\x7f-\x9f]*[^\s\x00-\x1f\x7f-\x9f][^\x00-\x1f\x7f-\x9f]*$";

/// Returns the schema of one label.
pub(crate) fn label_schema() -> serde_json::Value {
    let max = validation::MAX_LABEL_CHARS;
    serde_json::json!({"type": "string", "minLength": 1, "maxLength": max, "pattern": LABEL})
}

/// Upload URL of one file.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct PresignResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Sanitized name, as stored and listed.
    pub name: String,
    /// Signed storage URL for one `PUT` of exactly the declared size. Never send the API key to it.
    #[schemars(extend("format" = "uri"))]
    pub url: String,
    /// Lifetime of the URL in seconds.
    #[schemars(range(min = 0))]
    pub expires_in_seconds: i64,
    /// Maximum file size in bytes.
    #[schemars(range(min = 0))]
    pub max_object_bytes: i64,
    /// Name of an earlier file that this upload replaces, as it was sent: both have the same sanitized name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub replaces: Option<String>,
}

/// The response of `GET /v1/files`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct FileListResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Stored files, sorted by name: all, or one page.
    pub files: Vec<FileEntry>,
    /// `cursor` of the next page; omitted on the last one. A page may have fewer files than `limit` before the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub next_cursor: Option<String>,
}

/// One stored file.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct FileEntry {
    /// Sanitized name, which identifies the file.
    pub name: String,
    /// Size in bytes.
    #[schemars(range(min = 0))]
    pub size: i64,
    /// Time of the last upload, in whole seconds.
    #[schemars(extend("format" = "date-time"))]
    pub last_modified: String,
    /// Id of the file's document, which exists once the file is indexed. To be read by this id, it must first appear among the results
    /// of a search, or be read by its `canonical_url`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Uuid")]
    pub doc_id: Option<Uuid>,
    /// Canonical URL of the file's document (`workspace://...`), which can be read once the file is indexed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub canonical_url: Option<String>,
    /// Indexing state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "FileStatus")]
    pub status: Option<FileStatus>,
    /// Reason for `failed` and `unsupported`: a code, a colon and a message.
    ///
    /// Codes: `encrypted`, `needs_ocr`, `wrong_type`, `corrupt`, `too_large`, `timed_out`, `out_of_memory`, `crashed`,
    /// `corrupt_object`, `unreadable_object`, `unsupported_type`. Newer servers may send others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub reason: Option<String>,
    /// Time of the last successful indexing; of the previous upload if the file is `pending`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub indexed_at: Option<String>,
    /// Labels that the uploader gave.
    #[serde(default)]
    pub labels: Vec<String>,
}

/// Indexing state of a file.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    /// Uploaded after the last indexing run.
    Pending,
    /// Searchable.
    Indexed,
    /// Not readable; see `reason`.
    Failed,
    /// Of a type that the server cannot read.
    Unsupported,
    /// A state of a newer server; never sent.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// The response of `GET /v1/files/{name}`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct FileResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// The file.
    #[serde(flatten)]
    pub file: FileEntry,
}

/// The response of `GET /v1/files/{name}/content`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct FileContentResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Signed storage URL that downloads the original as an attachment. Never send the API key to it.
    #[schemars(extend("format" = "uri"))]
    pub url: String,
    /// Lifetime of the URL in seconds.
    #[schemars(range(min = 0))]
    pub expires_in_seconds: i64,
}

/// The response of `DELETE /v1/files/{name}`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct FileDeleteResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// False if there was no such file.
    pub deleted: bool,
}

/// The body of `POST /v1/files/index`.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize, Validate)]
#[serde(deny_unknown_fields)]
pub struct IndexRequest {
    /// Accepted and ignored.
    #[serde(rename = "$schema", default, skip_serializing)]
    pub schema: IgnoredSchema,
    /// Files to process.
    #[serde(default, deserialize_with = "word", skip_serializing_if = "is_default")]
    #[schemars(extend("default" = "incremental"))]
    pub mode: IndexMode,
}

/// Files that an indexing run processes.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexMode {
    /// New and changed files.
    #[default]
    Incremental,
    /// All files.
    Full,
}

/// State of an indexing run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Waiting for a worker.
    Queued,
    /// Comparing storage with the index.
    Planning,
    /// Reading and indexing files.
    Running,
    /// Terminal: all readable files are searchable.
    Completed,
    /// Terminal: the run failed.
    Failed,
    /// A state of a newer server; never sent. Not terminal.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// The 202 response of `POST /v1/files/index`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct IndexStartResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Id of the run.
    pub sync_id: String,
    /// State of the run.
    pub state: RunState,
}

/// The response of `GET /v1/files/index/{sync_id}`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct IndexStatusResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Id of the run.
    pub sync_id: String,
    /// State of the run.
    pub state: RunState,
    /// Start time (RFC 3339); null before the start.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: Option<String>,
    /// End time (RFC 3339); null before the end.
    #[schemars(extend("format" = "date-time"))]
    pub completed_at: Option<String>,
    /// Reason of the failure; null otherwise.
    pub error: Option<String>,
    /// Counters of the run so far.
    pub stats: IndexStats,
}

/// Counters of one run, exact once the state is terminal.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct IndexStats {
    /// Files listed by storage.
    #[schemars(range(min = 0))]
    pub enumerated: i64,
    /// Files read from storage.
    #[schemars(range(min = 0))]
    pub fetched: i64,
    /// Documents indexed or refreshed.
    #[schemars(range(min = 0))]
    pub indexed: i64,
    /// Files that are not readable as the type of their extension.
    #[schemars(range(min = 0))]
    pub failed: i64,
    /// Files of unsupported types.
    #[schemars(range(min = 0))]
    pub skipped_unsupported: i64,
    /// Documents removed because their file was deleted.
    #[schemars(range(min = 0))]
    pub deleted: i64,
    /// Bytes read from storage.
    #[schemars(range(min = 0))]
    pub bytes: i64,
}

/// The response of `GET /v1/files/index/{sync_id}/files`.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct IndexFilesResponse {
    /// The schema of this body.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", extend("format" = "uri"))]
    pub schema: Option<String>,
    /// Id of this request.
    pub request_id: Uuid,
    /// Id of the run.
    pub sync_id: String,
    /// Files that the run has processed so far, sorted by name: one page.
    pub files: Vec<IndexedFile>,
    /// `cursor` of the next page; omitted on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub next_cursor: Option<String>,
}

/// Outcome of one file in a run.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct IndexedFile {
    /// Sanitized name, which identifies the file.
    pub name: String,
    /// Id of the file's document.
    pub doc_id: Uuid,
    /// Outcome; never `pending`.
    pub status: FileStatus,
    /// Reason for `failed` and `unsupported`, as in the list of files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub reason: Option<String>,
}
