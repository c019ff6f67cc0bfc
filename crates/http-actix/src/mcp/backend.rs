use std::cell::RefCell;

use app::{Charge, Work};
use mcp::{Backend, Call, Upload, Uploaded};
use model::Scope;
use openapi::{Input, Spec};
use uuid::Uuid;

use crate::admission;
use crate::call::Context;
use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::handlers::files;
use crate::pipeline::caught;
use crate::reply::log;
use crate::usage_record::UsageRecord;

/// Calls handlers directly, for one admitted request. Calls take no further token of the rate limit.
pub(crate) struct InProcess<'a> {
    context: &'a Context,
    usage: &'a UsageRecord,
    /// Of searches whose answer is not complete yet.
    charges: RefCell<Vec<Charge>>,
}

impl<'a> InProcess<'a> {
    pub fn new(context: &'a Context, usage: &'a UsageRecord) -> Self {
        Self { context, usage, charges: RefCell::default() }
    }

    /// Returns the charges of a successful answer, and refunds those of one that failed.
    pub async fn settle(self, is_success: bool) -> Vec<Charge> {
        let charges = self.charges.into_inner();
        if is_success {
            return charges;
        }
        for charge in charges {
            charge.refund().await;
        }
        Vec::new()
    }

    /// Logs a failure and converts its public part.
    pub fn refusal(&self, failure: &Failure) -> mcp::Failure {
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
        // The answer of a tool shows no usage, so the response need not state its length.
        let outcome = caught(O::handle_charged(self.context, input)).await.and_then(|outcome| outcome);
        let (response, charge) = outcome.map_err(|failure| self.refusal(&failure))?;
        self.charges.borrow_mut().extend(charge);
        Ok(response)
    }
}
