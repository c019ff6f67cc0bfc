use std::future::Future;

use api_types::{
    DocumentRequest, DocumentResponse, ErrorBody, ErrorCode, FeedbackRequest, FeedbackResponse, FileListResponse,
    SearchRequest, SearchResponse,
};
use openapi::Operation;
use serde_json::{Map, Value};
use uuid::Uuid;

/// Whatever answers the operations behind the tools, for one caller: the service itself, or a client of it.
///
/// Requests are well-formed when they arrive: read strictly, and within the rules of their fields.
pub trait Backend {
    /// Whether the caller may use what asks for this scope. Where that is not known, it is `true`: the operation itself
    /// refuses.
    fn may(&self, scope: &str) -> bool;

    /// The organization whose workspace the caller may search, where it is known.
    fn workspace_id(&self) -> Option<Uuid>;

    /// Called once, before the arguments of a call are looked at.
    ///
    /// # Errors
    /// When the caller may not use this operation.
    fn begin(&self, operation: &'static Operation) -> Result<(), Failure>;

    fn search(&self, request: SearchRequest) -> impl Future<Output = Result<SearchResponse, Failure>>;
    fn read_document(&self, request: DocumentRequest) -> impl Future<Output = Result<DocumentResponse, Failure>>;
    fn submit_feedback(&self, request: FeedbackRequest) -> impl Future<Output = Result<FeedbackResponse, Failure>>;
    /// Every file of the organization.
    fn list_files(&self) -> impl Future<Output = Result<FileListResponse, Failure>>;
}

/// An error of the API: told to the model, which may then do better.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The HTTP status that the operation itself would have.
    pub status: u16,
    pub error: ErrorBody,
}

impl Failure {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let error = ErrorBody { code: code.as_str().to_owned(), message: message.into(), details: Map::new() };
        Self { status: code.status(), error }
    }

    /// A field that holds a value it may not. `field` is a dotted path.
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(ErrorCode::ValidationError, message).with("field", field.into())
    }

    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.error.details.insert(name.to_owned(), value.into());
        self
    }
}
