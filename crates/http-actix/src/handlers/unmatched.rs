//! Paths and methods that no endpoint takes.

use actix_web::{HttpRequest, HttpResponse, web};
use api_types::ErrorCode;
use uuid::Uuid;

use crate::State;
use crate::call::Call;
use crate::endpoint::{Endpoint, answer};
use crate::failure::Failure;
use crate::reply::{Reply, respond};

/// One name for all of them: paths come from callers, and would fill the usage tables with noise. The path or method is
/// what is wrong, whatever the parameters.
const UNMATCHED: Endpoint = Endpoint::unlisted("(unmatched)");

/// An unknown path below `/v1`: past the door like every request there.
pub(crate) async fn unknown_api_path(request: HttpRequest, payload: web::Payload) -> HttpResponse {
    answer(&UNMATCHED, request, payload, |_: Call| async { Err(not_found()) }).await
}

/// A path below `/v1` that takes other methods.
pub(crate) async fn wrong_api_method(allow: &'static str, request: HttpRequest, payload: web::Payload) -> HttpResponse {
    answer(&UNMATCHED, request, payload, |_: Call| async move { Err(not_allowed(allow)) }).await
}

/// An unknown path elsewhere.
pub(crate) async fn unknown_path(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    outside_the_door(&request, &state, Err(not_found())).await
}

/// A path elsewhere that takes other methods.
pub(crate) async fn wrong_method(allow: &'static str, request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    outside_the_door(&request, &state, Err(not_allowed(allow))).await
}

/// Answers a request that needs no credential.
pub(crate) async fn outside_the_door(
    request: &HttpRequest,
    state: &State,
    outcome: Result<Reply, Failure>,
) -> HttpResponse {
    outside_the_door_as(request, state, Uuid::now_v7(), outcome).await
}

/// The same, where the answer's body names the request.
pub(crate) async fn outside_the_door_as(
    request: &HttpRequest,
    state: &State,
    request_id: Uuid,
    outcome: Result<Reply, Failure>,
) -> HttpResponse {
    respond(state, request, request_id, &UNMATCHED, outcome, None).await
}

fn not_found() -> Failure {
    Failure::new(ErrorCode::NotFound, "there is nothing at this path")
}

fn not_allowed(allow: &'static str) -> Failure {
    let mut failure = Failure::new(ErrorCode::MethodNotAllowed, format!("this path takes {allow} only"));
    failure.allow = Some(allow);
    failure
}
