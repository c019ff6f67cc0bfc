use app::documents::{ReadOutcome, ReadRequest};
use app::feedback::FeedbackRequest;
use app::files::{FileView, PresignRequest, Presigned, RunView};
use app::search::{SearchOutcome, SearchRequest};
use app::{Error, Viewer};
use async_trait::async_trait;
use model::{FeedbackId, RunMode};

pub use app::readiness::DependencyState;
pub use app::usage::UsageEvent;
use app::usage::{UsageOverview, UsageRequest};

/// The use cases as the HTTP layer sees them: a seam, so that routes are tested without a database.
#[async_trait]
pub trait Service: Send + Sync + 'static {
    /// Who a token stands for; `None` when it is unknown, malformed, expired or revoked.
    async fn authenticate(&self, token: &str) -> Result<Option<Viewer>, Error>;
    async fn search(&self, viewer: &Viewer, request: SearchRequest) -> Result<SearchOutcome, Error>;
    async fn read_document(&self, viewer: &Viewer, request: ReadRequest) -> Result<ReadOutcome, Error>;
    /// The id of the stored event.
    async fn submit_feedback(&self, viewer: &Viewer, request: FeedbackRequest) -> Result<FeedbackId, Error>;
    async fn presign_file(&self, viewer: &Viewer, request: PresignRequest) -> Result<Presigned, Error>;
    async fn list_files(&self, viewer: &Viewer) -> Result<Vec<FileView>, Error>;
    /// Whether there was such a file.
    async fn delete_file(&self, viewer: &Viewer, name: &str) -> Result<bool, Error>;
    async fn start_run(&self, viewer: &Viewer, mode: RunMode) -> Result<RunView, Error>;
    async fn run_status(&self, viewer: &Viewer, sync_id: &str) -> Result<RunView, Error>;
    async fn usage_overview(&self, viewer: &Viewer, request: UsageRequest) -> Result<UsageOverview, Error>;
    /// Called once per authenticated request, after its answer (status 499 when the client hung up before it). Must not
    /// block.
    fn record_usage(&self, event: UsageEvent);
    /// Every dependency, each within its own time limit.
    async fn readiness(&self) -> Vec<DependencyState>;
}
