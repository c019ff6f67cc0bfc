//! Unknown paths, wrong methods, and errors of paths that need no credential.

use actix_web::{HttpRequest, HttpResponse, web};
use api_types::ErrorCode;

use crate::State;
use crate::call::Call;
use crate::exchange::Exchange;
use crate::failure::Failure;
use crate::pipeline::{self, Route};
use crate::reply::{Refusals, Reply, respond, respond_as};

/// One name for all unmatched requests: paths come from callers and would fill the usage tables with noise. Query
/// parameters are not checked, since the path or method is already wrong.
pub(crate) const UNMATCHED: &str = "(unmatched)";

/// Answers an unknown path below `/v1`, after admission like every request there.
pub(crate) async fn unknown_api_path(request: HttpRequest, payload: web::Payload) -> HttpResponse {
    pipeline::answer(Route::Unlisted(UNMATCHED), request, payload, |_: Call| async { Err(not_found()) }).await
}

/// Answers a path of an operation that takes other methods, after admission. `allow` lists them, separated by commas.
pub(crate) async fn wrong_api_method(allow: String, request: HttpRequest, payload: web::Payload) -> HttpResponse {
    let refuse = |_: Call| async { Err(not_allowed(allow)) };
    pipeline::answer(Route::Unlisted(UNMATCHED), request, payload, refuse).await
}

/// Answers an unknown path outside the API.
pub(crate) async fn unknown_path(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    without_admission(&request, &state, Err(not_found())).await
}

/// Answers a path outside the API that takes other methods.
pub(crate) async fn wrong_method(allow: &'static str, request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    without_admission(&request, &state, Err(not_allowed(allow.to_owned()))).await
}

/// Answers a request that needs no credential.
pub(crate) async fn without_admission(
    request: &HttpRequest,
    state: &State,
    outcome: Result<Reply, Failure>,
) -> HttpResponse {
    respond(state, request, Exchange::of(request).request_id, UNMATCHED, outcome, None).await
}

/// Answers an unmatched request in the format of another service, without admission.
pub(crate) async fn refuse_as(
    refusals: &Refusals,
    request: &HttpRequest,
    state: &State,
    failure: Failure,
) -> HttpResponse {
    let request_id = Exchange::of(request).request_id;
    respond_as(refusals, state, request, request_id, UNMATCHED, Err(failure), None).await
}

/// The failure of an unknown path.
pub(crate) fn not_found() -> Failure {
    Failure::new(ErrorCode::NotFound, "no such path")
}

/// The failure of a path that takes other methods. `allow` lists them, separated by commas.
pub(crate) fn not_allowed(allow: String) -> Failure {
    let mut failure = Failure::new(ErrorCode::MethodNotAllowed, format!("this path accepts {allow} only"));
    failure.allow = Some(allow);
    failure
}
