use std::future::Future;
use std::rc::Rc;
use std::sync::Arc;

use actix_web::{HttpRequest, web};
use api_types::{Access, Usage};
use app::{App, Viewer};
use serde::de::DeserializeOwned;
use uuid::Uuid;
use validator::Validate;

use crate::failure::Failure;
use crate::usage_record::UsageRecord;
use crate::{State, body};

/// An admitted request, as handlers get it.
pub(crate) struct Call {
    pub context: Context,
    /// What is recorded of it when it ends.
    pub usage: Rc<UsageRecord>,
    pub request: HttpRequest,
    pub payload: web::Payload,
}

impl Call {
    /// Reads the body as `T` and checks its rules.
    pub async fn read<T: DeserializeOwned + Validate>(&mut self) -> Result<T, Failure> {
        body::read(&self.request, &mut self.payload).await
    }
}

/// What an operation needs beside its own request, however that came.
pub(crate) struct Context {
    pub state: Arc<State>,
    pub request_id: Uuid,
    pub viewer: Viewer,
    pub access: Access,
    /// The session id of the header, checked.
    pub header_session: Option<String>,
}

impl Context {
    /// The session of this request: the body's wins over the header's; without either, a fresh one. Echoed as sent.
    pub fn session(&self, from_body: Option<String>) -> String {
        from_body.or_else(|| self.header_session.clone()).unwrap_or_else(|| Uuid::new_v4().to_string())
    }

    /// Runs a use case to its end on the application's runtime, also after the client has disconnected.
    pub async fn run<T, F>(&self, use_case: impl FnOnce(Arc<App>, Viewer) -> F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, app::Error>> + Send + 'static,
    {
        let work = use_case(self.state.app.clone(), self.viewer.clone());
        match self.state.runtime.spawn(work).await {
            Ok(outcome) => outcome.map_err(Failure::from),
            // A panic of the use case, or a runtime that is shutting down.
            Err(error) => Err(Failure::internal(error)),
        }
    }

    /// The `$schema` of an answer of this type.
    pub fn schema(&self, name: &str) -> Option<String> {
        Some(self.state.schema_url(name))
    }

    /// The usage block before the body's length is known.
    pub fn usage(&self) -> Option<Usage> {
        Some(Usage { requests: 1, bytes_returned: 0 })
    }
}
