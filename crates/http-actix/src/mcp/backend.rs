use std::future::Future;

use api_types::{
    DocumentRequest, DocumentResponse, FeedbackRequest, FeedbackResponse, FileListResponse, SearchRequest,
    SearchResponse,
};
use mcp::Backend;
use model::{Scope, UnknownName};
use openapi::Operation;
use uuid::Uuid;

use crate::call::Context;
use crate::door;
use crate::endpoint::caught;
use crate::failure::Failure;
use crate::handlers::{documents, feedback, files, searches};
use crate::metered::{self, Metered};
use crate::reply::log;
use crate::usage_record::UsageRecord;

/// The operations of `/v1`, for a request that is past the door: its token is spent, and there is no other.
pub(crate) struct InProcess<'a> {
    pub context: &'a Context,
    pub usage: &'a UsageRecord,
}

impl InProcess<'_> {
    async fn answer<T>(&self, operation: impl Future<Output = Result<T, Failure>>) -> Result<T, mcp::Failure> {
        caught(operation).await.and_then(|outcome| outcome).map_err(|failure| self.told(&failure))
    }

    async fn metered<T: Metered>(
        &self,
        operation: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, mcp::Failure> {
        self.answer(async {
            let mut response = operation.await?;
            metered::complete(&mut response)?;
            Ok(response)
        })
        .await
    }

    /// What the caller is told; the log is told the rest.
    fn told(&self, failure: &Failure) -> mcp::Failure {
        log(failure, self.context.request_id, self.usage.route());
        mcp::Failure { status: failure.code.status(), error: failure.body() }
    }
}

impl Backend for InProcess<'_> {
    fn may(&self, scope: &str) -> bool {
        scope.parse().is_ok_and(|scope: Scope| self.context.viewer.may(scope))
    }

    fn workspace_id(&self) -> Option<Uuid> {
        Some(self.context.viewer.organization_id.0)
    }

    fn begin(&self, operation: &'static Operation) -> Result<(), mcp::Failure> {
        self.usage.counts_as(operation.route);
        let needed = operation.scope.parse().map_err(|error: UnknownName| Failure::internal(error));
        needed.and_then(|needed| door::permit(&self.context.viewer, needed)).map_err(|failure| self.told(&failure))
    }

    async fn search(&self, request: SearchRequest) -> Result<SearchResponse, mcp::Failure> {
        self.metered(searches::perform(self.context, request)).await
    }

    async fn read_document(&self, request: DocumentRequest) -> Result<DocumentResponse, mcp::Failure> {
        self.metered(documents::perform(self.context, request)).await
    }

    async fn submit_feedback(&self, request: FeedbackRequest) -> Result<FeedbackResponse, mcp::Failure> {
        self.metered(feedback::perform(self.context, request)).await
    }

    async fn list_files(&self) -> Result<FileListResponse, mcp::Failure> {
        self.answer(files::perform_list(self.context)).await
    }
}
