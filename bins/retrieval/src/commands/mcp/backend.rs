use std::future::Future;

use mcp::{Backend, Failure};
use openapi::Operation;
use retrieval_client::types::{
    DocumentRequest, DocumentResponse, ErrorBody, FeedbackRequest, FeedbackResponse, FileListResponse, SearchRequest,
    SearchResponse,
};
use retrieval_client::{Answer, Client, Error};
use serde_json::Map;
use uuid::Uuid;

/// Status for requests without a response of the service, as a gateway would return.
const BAD_GATEWAY: u16 = 502;

/// MCP backend that forwards to the service, which checks the permissions of the key.
pub struct Remote {
    pub client: Client,
    pub workspace_id: Option<Uuid>,
}

impl Backend for Remote {
    fn may(&self, _: &str) -> bool {
        true
    }

    fn workspace_id(&self) -> Option<Uuid> {
        self.workspace_id
    }

    fn begin(&self, _: &'static Operation) -> Result<(), Failure> {
        Ok(())
    }

    async fn search(&self, request: SearchRequest) -> Result<SearchResponse, Failure> {
        answer(self.client.search(&request)).await
    }

    async fn read_document(&self, request: DocumentRequest) -> Result<DocumentResponse, Failure> {
        answer(self.client.read_document(&request)).await
    }

    async fn submit_feedback(&self, request: FeedbackRequest) -> Result<FeedbackResponse, Failure> {
        answer(self.client.submit_feedback(&request)).await
    }

    async fn list_files(&self) -> Result<FileListResponse, Failure> {
        answer(self.client.list_files()).await
    }
}

async fn answer<T>(request: impl Future<Output = Result<Answer<T>, Error>>) -> Result<T, Failure> {
    request.await.map(|answer| answer.body).map_err(to_failure)
}

/// Converts an error for the model: the service's own error, or the cause of a missing response.
fn to_failure(error: Error) -> Failure {
    let Some(api) = error.api() else {
        let failure = crate::failure::Failure::Client(error);
        let error = ErrorBody { code: failure.code().to_owned(), message: failure.message(), details: Map::new() };
        return Failure { status: BAD_GATEWAY, error };
    };
    let error = ErrorBody { code: api.code.clone(), message: api.message.clone(), details: api.details.clone() };
    let failure = Failure { status: api.status, error };
    match &api.rate_limit {
        // ColorChoice to try again.
        Some(limit) if api.status == 429 => failure.with("reset_at", limit.reset_at.clone()),
        _ => failure,
    }
}
