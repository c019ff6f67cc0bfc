use api_types::{ErrorCode, RequestBody, ResponseBody, WarningCode};
use model::Scope;

use crate::examples::Example;
use crate::method::split_route;
use crate::parameters::{PathParameters, QueryParameters};
use crate::{Method, Parameter, Tag};

/// One operation of the public API: its types, and everything that its description needs.
///
/// Implemented by the marker types of [`crate::operations`]. Routing, admission, the OpenAPI document, MCP tools and the
/// Rust client all read it from here.
pub trait Operation: Listed {
    /// Values of the placeholders in the path; `()` without placeholders.
    type Path: PathParameters;
    /// Query parameters; `()` for none. The server refuses all others.
    type Query: QueryParameters;
    /// The JSON body of the request; [`api_types::NoBody`] for none.
    type Body: RequestBody;
    /// The JSON body of success.
    type Response: ResponseBody;

    /// Unique camelCase name; generated clients name their method after it.
    const ID: &'static str;
    /// Method and path template, such as `GET /v1/files/index/{sync_id}`. Usage and logs name the operation by it.
    const ROUTE: &'static str;
    const TAG: Tag;
    /// The scope that the credential must have; `None` admits any.
    const SCOPE: Option<Scope>;
    /// Title in the reference, in a few words.
    const SUMMARY: &'static str;
    /// CommonMark.
    const DESCRIPTION: &'static str;
    /// Name in usage overviews.
    const LABEL: &'static str;
    /// Status of success.
    const STATUS: u16 = 200;
    /// Description of the successful response, in a sentence.
    const SUCCESS: &'static str;
    /// Media type of the stream that the response is on request; `None` if there is none.
    const STREAM: Option<&'static str> = None;
    /// True if the response has the path of the created resource in the header `Location`.
    const LOCATED: bool = false;
    /// Errors beyond [`COMMON_ERRORS`].
    const ERRORS: &'static [ErrorCode] = &[];
    /// The example of a request with a `validation_error`.
    const INVALID: InvalidRequest;
    /// Warnings that a response may carry.
    const WARNINGS: &'static [WarningCode] = &[];
    /// True if a client may send the request again after a broken connection: a second execution costs nothing and
    /// counts nothing twice.
    const RETRY_SAFE: bool;

    /// Examples of the request body; required where there is one.
    fn request_examples() -> Vec<Example> {
        Vec::new()
    }

    /// An example of a successful response.
    fn response_example() -> Example;

    /// Derived from [`Operation::ROUTE`].
    const METHOD: Method = Method::of_route(Self::ROUTE);
    /// Derived from [`Operation::ROUTE`].
    const PATH: &'static str = split_route(Self::ROUTE).1;
    /// The operation as data, for code that handles all operations alike.
    const SPEC: &'static Spec = &Spec {
        id: Self::ID,
        route: Self::ROUTE,
        method: Self::METHOD,
        path: Self::PATH,
        tag: Self::TAG,
        scope: Self::SCOPE,
        summary: Self::SUMMARY,
        description: Self::DESCRIPTION,
        label: Self::LABEL,
        path_parameters: <Self::Path as PathParameters>::PARAMETERS,
        query_parameters: <Self::Query as QueryParameters>::PARAMETERS,
        request: <Self::Body as RequestBody>::NAME,
        status: Self::STATUS,
        response: <Self::Response as ResponseBody>::NAME,
        success: Self::SUCCESS,
        stream: Self::STREAM,
        located: Self::LOCATED,
        errors: Self::ERRORS,
        invalid: Self::INVALID,
        warnings: Self::WARNINGS,
        retry_safe: Self::RETRY_SAFE,
        request_examples: Self::request_examples,
        response_example: Self::response_example,
    };
}

/// An [`Operation`] without its types. The fields are the constants of the trait.
#[derive(Debug)]
pub struct Spec {
    pub id: &'static str,
    pub route: &'static str,
    pub method: Method,
    pub path: &'static str,
    pub tag: Tag,
    pub scope: Option<Scope>,
    pub summary: &'static str,
    pub description: &'static str,
    pub label: &'static str,
    pub path_parameters: &'static [Parameter],
    pub query_parameters: &'static [Parameter],
    /// Name of the request body's schema in `api_types::schemas`.
    pub request: Option<&'static str>,
    pub status: u16,
    /// Name of the response body's schema in `api_types::schemas`.
    pub response: &'static str,
    pub success: &'static str,
    pub stream: Option<&'static str>,
    pub located: bool,
    pub errors: &'static [ErrorCode],
    pub invalid: InvalidRequest,
    pub warnings: &'static [WarningCode],
    pub retry_safe: bool,
    pub request_examples: fn() -> Vec<Example>,
    pub response_example: fn() -> Example,
}

impl Spec {
    /// All errors that the operation can return, by ascending status.
    pub fn all_errors(&self) -> Vec<ErrorCode> {
        let mut errors: Vec<_> = COMMON_ERRORS.iter().chain(self.errors).copied().collect();
        errors.sort_by_key(|code| code.status());
        errors
    }
}

/// A rejected request: the offending field and the message of the error.
#[derive(Clone, Copy, Debug)]
pub struct InvalidRequest {
    pub field: &'static str,
    pub message: &'static str,
}

/// Everything that a request of the operation carries.
#[derive(Debug)]
pub struct Input<O: Operation> {
    pub path: O::Path,
    pub query: O::Query,
    pub body: O::Body,
}

impl<O: Operation<Path = (), Query = ()>> Input<O> {
    /// The input of an operation without parameters.
    pub fn of_body(body: O::Body) -> Self {
        Input { path: (), query: (), body }
    }
}

/// Work to be done for each operation of the table.
///
/// `operations::for_each` needs an implementation for every operation. A server that implements this for operations
/// with a handler therefore does not compile while a handler is missing.
pub trait Visit<O: Operation> {
    fn visit(&mut self);
}

/// Marks the types that a group of [`crate::operations`] lists. Nothing else can be an [`Operation`].
pub trait Listed: Sized + 'static {}

/// True if the placeholders of a path template are exactly the parameters, in order.
pub(crate) const fn placeholders_match(template: &str, parameters: &[Parameter]) -> bool {
    let bytes = template.as_bytes();
    let (mut at, mut matched) = (0, 0);
    while at < bytes.len() {
        if bytes[at] == b'{' {
            if matched == parameters.len() {
                return false;
            }
            let name = parameters[matched].name.as_bytes();
            let mut offset = 0;
            while offset < name.len() {
                if at + 1 + offset >= bytes.len() || bytes[at + 1 + offset] != name[offset] {
                    return false;
                }
                offset += 1;
            }
            at += name.len() + 1;
            if at >= bytes.len() || bytes[at] != b'}' {
                return false;
            }
            matched += 1;
        }
        at += 1;
    }
    matched == parameters.len()
}

/// Errors of every operation: admission, invalid input, faults of the server and its backends, and too much load.
pub const COMMON_ERRORS: [ErrorCode; 8] = [
    ErrorCode::ValidationError,
    ErrorCode::MissingApiKey,
    ErrorCode::InvalidApiKey,
    ErrorCode::InsufficientScope,
    ErrorCode::RateLimited,
    ErrorCode::InternalError,
    ErrorCode::ProviderUnavailable,
    ErrorCode::Overloaded,
];
