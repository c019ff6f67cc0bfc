use std::future::Future;

use api_types::{ErrorBody, ErrorCode, RunState};
use model::Scope;
use openapi::operations::{CreateResearch, GetResearch, ListFiles, ReadDocument, Search, SubmitFeedback};
use openapi::{Input, Operation, Spec};
use serde_json::{Map, Value};
use uuid::Uuid;

/// The API for one caller: the service itself, or a client of it. Every operation behind a tool is a [`Call`].
pub trait Backend:
    Call<Search> + Call<ReadDocument> + Call<CreateResearch> + Call<GetResearch> + Call<SubmitFeedback> + Call<ListFiles>
{
    /// True if the caller has the scope, or if that is unknown: the operation itself then refuses.
    fn may(&self, scope: Scope) -> bool;

    /// Returns the organization whose workspace the caller may search; `None` if unknown.
    fn workspace_id(&self) -> impl Future<Output = Result<Option<Uuid>, Failure>>;

    /// Begins a call of an operation, before its arguments are read.
    ///
    /// # Errors
    /// The caller lacks the scope.
    fn begin(&self, operation: &'static Spec) -> Result<(), Failure>;

    /// Stores a file under its sanitized name and starts an indexing run.
    fn upload(&self, upload: Upload) -> impl Future<Output = Result<Uploaded, Failure>>;
}

/// A text file to be stored.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Upload {
    pub name: String,
    pub text: String,
}

/// A stored file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Uploaded {
    /// The sanitized name.
    pub name: String,
    /// The run that indexes the file.
    pub sync_id: String,
    pub state: RunState,
    /// Name of an earlier file that this one replaced although it was sent under another name.
    pub replaces: Option<String>,
}

/// One operation of a [`Backend`].
pub trait Call<O: Operation> {
    /// Carries out the operation. The input was read strictly and satisfies the rules of its fields.
    fn call(&self, input: Input<O>) -> impl Future<Output = Result<O::Response, Failure>>;
}

/// An error of the API, as the model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The HTTP status of the operation's error.
    pub status: u16,
    pub error: ErrorBody,
}

impl Failure {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let error = ErrorBody { code: code.as_str().to_owned(), message: message.into(), details: Map::new() };
        Self { status: code.status(), error }
    }

    /// Returns true for this error. Some errors share a code, and differ in their status.
    pub fn is(&self, code: ErrorCode) -> bool {
        self.error.code == code.as_str() && self.status == code.status()
    }

    /// An invalid value. `field` is its dotted path.
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(ErrorCode::ValidationError, message).with("field", field.into())
    }

    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.error.details.insert(name.to_owned(), value.into());
        self
    }
}
