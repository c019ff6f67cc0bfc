use time::OffsetDateTime;
use uuid::Uuid;

#[derive(Clone, Debug)]
pub struct PresignRequest {
    pub filename: String,
    pub size: u64,
    pub content_type: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Presigned {
    pub name: String,
    pub url: String,
    pub expires_in_seconds: u64,
    pub max_object_bytes: u64,
}

#[derive(Clone, Debug)]
pub struct FileView {
    pub name: String,
    pub size: u64,
    pub last_modified: OffsetDateTime,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RunMode {
    Incremental,
    Full,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RunState {
    Queued,
    Planning,
    Running,
    Completed,
    Failed,
}

#[derive(Clone, Debug)]
pub struct RunView {
    pub sync_id: Uuid,
    pub state: RunState,
    pub started_at: Option<OffsetDateTime>,
    pub completed_at: Option<OffsetDateTime>,
    pub error: Option<String>,
    pub stats: RunStats,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RunStats {
    pub enumerated: u64,
    pub fetched: u64,
    pub indexed: u64,
    pub failed: u64,
    pub skipped_unsupported: u64,
    pub deleted: u64,
    pub bytes: u64,
}
