use app::Work;
use mcp::{Backend, Call, Upload, Uploaded};
use model::Scope;
use openapi::{Input, Spec};
use uuid::Uuid;

use crate::call::Context;
use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::handlers::files;
use crate::pipeline::caught;
use crate::reply::log;
use crate::usage_record::UsageRecord;
use crate::{admission, metered};

/// Calls handlers directly, for one admitted request. Calls take no further token of the rate limit.
pub(crate) struct InProcess<'a> {
    pub context: &'a Context,
    pub usage: &'a UsageRecord,
}

impl InProcess<'_> {
    /// Logs a failure and converts its public part.
    fn refusal(&self, failure: &Failure) -> mcp::Failure {
        log(failure, self.usage.route());
        mcp::Failure { status: failure.code.status(), error: failure.body() }
    }
}

impl Backend for InProcess<'_> {
    fn may(&self, scope: Scope) -> bool {
        self.context.viewer.may(scope)
    }

    async fn workspace_id(&self) -> Result<Option<Uuid>, mcp::Failure> {
        Ok(Some(self.context.viewer.organization_id.0))
    }

    fn begin(&self, operation: &'static Spec) -> Result<(), mcp::Failure> {
        self.usage.counts_as(operation.route);
        admission::require(&self.context.viewer, operation.scope).map_err(|failure| self.refusal(&failure))
    }

    async fn upload(&self, upload: Upload) -> Result<Uploaded, mcp::Failure> {
        let Upload { name, text } = upload;
        let store = self.context.run(Work::Small, |service, viewer| async move {
            service.store_file(&viewer, name, text.into_bytes()).await
        });
        let stored = caught(store).await.and_then(|outcome| outcome).map_err(|failure| self.refusal(&failure))?;
        let (sync_id, state) = (stored.run.sync_id.to_string(), files::state(stored.run.state));
        Ok(Uploaded { name: stored.name, sync_id, state, replaces: stored.replaces })
    }
}

impl<O: Endpoint> Call<O> for InProcess<'_> {
    async fn call(&self, input: Input<O>) -> Result<O::Response, mcp::Failure> {
        let outcome = caught(async {
            let mut response = O::handle(self.context, input).await?;
            metered::complete(&mut response)?;
            Ok(response)
        });
        outcome.await.and_then(|outcome| outcome).map_err(|failure| self.refusal(&failure))
    }
}
