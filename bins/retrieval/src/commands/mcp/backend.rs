use mcp::{Backend, Call, Failure, Upload, Uploaded};
use model::Scope;
use openapi::{Input, Operation, Spec};
use retrieval_client::types::validation::parse_uuid;
use retrieval_client::types::{ErrorBody, IndexMode};
use retrieval_client::{Client, Error};
use serde_json::Map;
use uuid::Uuid;

/// Status for requests without a response of the service, as a gateway would return.
const BAD_GATEWAY: u16 = 502;

/// MCP backend that forwards to the service, which checks the permissions of the key.
pub struct Remote {
    pub client: Client,
    /// Configured organization; that of the key if `None`.
    pub workspace_id: Option<Uuid>,
}

impl Backend for Remote {
    fn may(&self, _: Scope) -> bool {
        true
    }

    async fn workspace_id(&self) -> Result<Option<Uuid>, Failure> {
        match self.workspace_id {
            Some(id) => Ok(Some(id)),
            None => Ok(self.client.organization_id().await.map_err(failure)?.as_deref().and_then(parse_uuid)),
        }
    }

    fn begin(&self, _: &'static Spec) -> Result<(), Failure> {
        Ok(())
    }

    async fn upload(&self, upload: Upload) -> Result<Uploaded, Failure> {
        let stored = self.client.upload_text(upload.text, &upload.name).await.map_err(failure)?;
        let run = self.client.start_run(IndexMode::Incremental).await.map_err(failure)?.body;
        Ok(Uploaded { name: stored.name, sync_id: run.sync_id, state: run.state, replaces: stored.replaces })
    }
}

impl<O: Operation> Call<O> for Remote {
    async fn call(&self, input: Input<O>) -> Result<O::Response, Failure> {
        self.client.call(&input).await.map(|answer| answer.body).map_err(failure)
    }
}

/// Converts an error for the model: the service's own error, or the reason why there is none.
fn failure(error: Error) -> Failure {
    let Some(api) = error.api() else {
        let failure = crate::failure::Failure::Client(error);
        let error = ErrorBody { code: failure.code().to_owned(), message: failure.message(), details: Map::new() };
        return Failure { status: BAD_GATEWAY, error };
    };
    let error = ErrorBody { code: api.code.clone(), message: api.message.clone(), details: api.details.clone() };
    let failure = Failure { status: api.status, error };
    match &api.rate_limit {
        Some(limit) if api.status == 429 => failure.with("reset_at", limit.reset_at.clone()),
        _ => failure,
    }
}
