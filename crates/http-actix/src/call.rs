use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;

use actix_web::{HttpRequest, web};
use admission::Permit;
use api_types::{Access, ResponseBody, Usage};
use app::{App, Deadline, Viewer, Work};
use futures_util::future::BoxFuture;
use tokio_util::task::AbortOnDropHandle;
use trace_context::TraceContext;
use tracing::Instrument;
use uuid::Uuid;

use crate::State;
use crate::admission::invalid_key;
use crate::failure::Failure;
use crate::memory::{Answer, Gathered};
use crate::usage_record::UsageRecord;

/// Bytes of a computation that would hold up the thread of connections.
const LARGE: usize = 64 << 10;

/// An admitted HTTP request.
pub(crate) struct Call {
    pub context: Context,
    /// Recorded when the request ends.
    pub usage: Rc<UsageRecord>,
    pub request: HttpRequest,
    pub payload: web::Payload,
    /// Memory of a large body, until the request has been answered.
    pub body_memory: Option<Permit>,
}

/// The surroundings of a request, independent of its transport.
pub(crate) struct Context {
    pub state: Arc<State>,
    pub request_id: Uuid,
    pub trace: TraceContext,
    pub viewer: Viewer,
    /// The admitted credential, which may become invalid while the request waits.
    pub token: String,
    pub access: Access,
    /// The validated session id of the header.
    pub header_session: Option<String>,
}

impl Context {
    /// Returns the session id: from the body, else from the header, else a new one. Echoed as sent.
    pub fn session(&self, from_body: Option<String>) -> String {
        from_body.or_else(|| self.header_session.clone()).unwrap_or_else(|| Uuid::new_v4().to_string())
    }

    /// Refuses a request whose credential has become invalid while it waited.
    pub async fn check_credential(&self) -> Result<(), Failure> {
        match self.state.app.authenticate(&self.token).await? {
            Some(_) => Ok(()),
            None => Err(invalid_key()),
        }
    }

    /// Refuses a request that would wait too long.
    pub fn check_share(&self, work: Work) -> Result<(), Failure> {
        Ok(self.state.app.check_share(&self.viewer, work)?)
    }

    /// Runs a use case on the application's runtime, within the share of the organization. It stops when the client disconnects.
    pub async fn run<T, F>(&self, work: Work, use_case: impl FnOnce(Arc<App>, Viewer) -> F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, app::Error>> + Send + 'static,
    {
        self.run_until(self.deadline(), work, use_case).await
    }

    /// Starts the time of a request that runs several use cases with [`run_until`](Self::run_until).
    pub fn deadline(&self) -> Deadline {
        self.state.app.request_deadline()
    }

    /// Runs one of several use cases, which share the time of the request, as [`run`](Self::run) runs the only one.
    pub async fn run_until<T, F>(
        &self,
        deadline: Deadline,
        work: Work,
        use_case: impl FnOnce(Arc<App>, Viewer) -> F,
    ) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, app::Error>> + Send + 'static,
    {
        self.check_share(work)?;
        let (app, viewer) = (self.state.app.clone(), self.viewer.clone());
        // Boxed, so that the task is compiled once for each type of outcome.
        let use_case: BoxFuture<'static, _> = Box::pin(use_case(app.clone(), viewer.clone()));
        let working = async move { app.within_share_until(deadline, &viewer, work, use_case).await };
        // A spawned task inherits neither the trace nor the span.
        let running = self.state.runtime.spawn(trace_context::within(self.trace.clone(), working).in_current_span());
        match AbortOnDropHandle::new(running).await {
            Ok(outcome) => outcome.map_err(Failure::from),
            // A panic of the use case, or a runtime that is shutting down.
            Err(error) => Err(Failure::internal(error)),
        }
    }

    /// Runs a computation on about `bytes` bytes in the turn of the organization. For what would hold up the thread of connections.
    pub async fn compute<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        Ok(self.state.app.compute_for(self.viewer.organization_id, bytes, work).await?)
    }

    /// Runs a computation on about `bytes` bytes: here on few, otherwise as [`compute`](Self::compute) does.
    pub async fn compute_if_large<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failure> {
        if bytes <= LARGE { Ok(work()) } else { self.compute(bytes, work).await }
    }

    /// Takes memory for a serialized response until it has been sent.
    ///
    /// # Errors
    /// `overloaded` if too many large responses are being sent.
    pub async fn hold(&self, body: Vec<u8>) -> Result<Answer, Failure> {
        let memory = self.state.memory.responses.take(self.viewer.organization_id, body.len()).await?;
        Ok(Answer { bytes: body.into(), memory })
    }

    /// Begins an answer whose parts take memory as they are finished, before it is serialized.
    pub fn gather(&self) -> Gathered<'_> {
        Gathered::new(&self.state.memory.responses, self.viewer.organization_id)
    }

    /// The `$schema` of a response of this type.
    pub fn schema<T: ResponseBody>(&self) -> Option<String> {
        Some(self.state.schema_url(T::NAME))
    }

    /// The usage block before the body's length is known; [`crate::metered`] sets it.
    pub fn usage(&self) -> Option<Usage> {
        Some(Usage { requests: 1, bytes_returned: 0 })
    }
}
