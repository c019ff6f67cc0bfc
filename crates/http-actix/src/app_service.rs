//! The service itself behind the seam: each method is the use case of the same name.

use app::documents::{ReadOutcome, ReadRequest};
use app::feedback::FeedbackRequest;
use app::files::{FileView, PresignRequest, Presigned, RunView};
use app::search::{SearchOutcome, SearchRequest};
use app::usage::{UsageOverview, UsageRequest};
use app::{App, Error, Viewer};
use async_trait::async_trait;
use model::{FeedbackId, RunMode};

use crate::{DependencyState, Service, UsageEvent};

#[async_trait]
impl Service for App {
    async fn authenticate(&self, token: &str) -> Result<Option<Viewer>, Error> {
        App::authenticate(self, token).await
    }

    async fn search(&self, viewer: &Viewer, request: SearchRequest) -> Result<SearchOutcome, Error> {
        App::search(self, viewer, request).await
    }

    async fn read_document(&self, viewer: &Viewer, request: ReadRequest) -> Result<ReadOutcome, Error> {
        App::read_document(self, viewer, request).await
    }

    async fn submit_feedback(&self, viewer: &Viewer, request: FeedbackRequest) -> Result<FeedbackId, Error> {
        App::submit_feedback(self, viewer, request).await
    }

    async fn presign_file(&self, viewer: &Viewer, request: PresignRequest) -> Result<Presigned, Error> {
        App::presign_file(self, viewer, request).await
    }

    async fn list_files(&self, viewer: &Viewer) -> Result<Vec<FileView>, Error> {
        App::list_files(self, viewer).await
    }

    async fn delete_file(&self, viewer: &Viewer, name: &str) -> Result<bool, Error> {
        App::delete_file(self, viewer, name).await
    }

    async fn start_run(&self, viewer: &Viewer, mode: RunMode) -> Result<RunView, Error> {
        App::start_run(self, viewer, mode).await
    }

    async fn run_status(&self, viewer: &Viewer, sync_id: &str) -> Result<RunView, Error> {
        App::run_status(self, viewer, sync_id).await
    }

    async fn usage_overview(&self, viewer: &Viewer, request: UsageRequest) -> Result<UsageOverview, Error> {
        App::usage_overview(self, viewer, request).await
    }

    fn record_usage(&self, event: UsageEvent) {
        App::record_usage(self, event);
    }

    async fn readiness(&self) -> Vec<DependencyState> {
        App::readiness(self).await
    }
}
