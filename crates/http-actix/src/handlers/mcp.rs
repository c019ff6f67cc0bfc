use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderValue, WWW_AUTHENTICATE};
use actix_web::{HttpRequest, HttpResponse, web};
use mcp::{Message, Profile, Response, RpcError, Server, Toolset, code};

use crate::call::{Call, Context};
use crate::failure::Failure;
use crate::handlers::unmatched::{unknown_path, without_admission};
use crate::mcp::{InProcess, headers};
use crate::memory::Answer;
use crate::pipeline::{self, Route};
use crate::query::{Query, refuse_unknown_parameters};
use crate::reply::Reply;
use crate::{State, body, json};

/// Name that usage and logs give the path.
pub(crate) const NAME: &str = "POST /mcp";
/// Any credential is admitted; a tool call needs the scope of its operation and counts as that operation.
const MCP: Route = Route::Unlisted(NAME);

/// `POST /mcp`: one message, answered in the response.
pub(crate) async fn serve(request: HttpRequest, payload: web::Payload, state: web::Data<State>) -> HttpResponse {
    if !state.origins.allow(request.headers()) {
        body::discard_small(&request, payload).await;
        let error = RpcError::new(code::INVALID_REQUEST, "this origin is not allowed");
        return without_admission(&request, &state, Reply::json(StatusCode::FORBIDDEN, &error.body(None))).await;
    }
    let mut response = pipeline::answer(MCP, request, payload, run).await;
    if response.status() == StatusCode::UNAUTHORIZED
        && let Some(resource) = &state.protected_resource
        && let Ok(challenge) = HeaderValue::from_str(&resource.challenge)
    {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}

/// `GET /.well-known/oauth-protected-resource`, without authentication. Unknown without an issuer.
pub(crate) async fn api_metadata(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    match &state.protected_resource {
        Some(resource) => resource.api.answer(&request).await,
        None => unknown_path(request, state).await,
    }
}

/// `GET /.well-known/oauth-protected-resource/mcp`, without authentication. Unknown without an issuer.
pub(crate) async fn metadata(request: HttpRequest, state: web::Data<State>) -> HttpResponse {
    match &state.protected_resource {
        Some(resource) => resource.mcp.answer(&request).await,
        None => unknown_path(request, state).await,
    }
}

async fn run(mut call: Call) -> Result<Reply, Failure> {
    let toolset = toolset(&call.request)?;
    let bytes = body::bytes(&mut call).await?;
    let request = match body::parsed(&call.context, bytes, Message::parse).await? {
        Ok(Message::Request(request)) => request,
        // Notifications have no effect: no request continues after its response.
        Ok(Message::Notification { .. } | Message::Response) => {
            return match headers::check_unanswered(call.request.headers()) {
                Ok(()) => Ok(Reply::empty(StatusCode::ACCEPTED)),
                Err(error) => Reply::json(StatusCode::BAD_REQUEST, &error.body(None)),
            };
        }
        Err((id, error)) => return Reply::json(StatusCode::BAD_REQUEST, &error.body(id.as_ref())),
    };
    let backend = InProcess::new(&call.context, &call.usage);
    let response = match headers::check(call.request.headers(), &request) {
        Ok(()) => Server::new(toolset).answer(request, &backend).await,
        Err(error) => Response::refused(request, error),
    };
    let (response, answer) = match held(&call.context, &response).await {
        Ok(answer) => (response, answer),
        // As every failure of an operation, so that the model reads when to try again.
        Err(failure) => {
            let response = response.failed(backend.refusal(&failure));
            let answer = held(&call.context, &response).await?;
            (response, answer)
        }
    };
    // Not before: an answer without memory for it fails.
    let charges = backend.settle(response.failure.is_none()).await;
    if let Some(failure) = &response.failure {
        call.usage.finish(failure.status);
    }
    let status = StatusCode::from_u16(headers::status(&response)).unwrap_or(StatusCode::OK);
    Ok(Reply::serialized(status, answer).charged(charges))
}

/// Serializes a response and takes memory for it.
async fn held(context: &Context, response: &Response) -> Result<Answer, Failure> {
    context.hold(json::to_vec(context, response.body()).await?).await
}

/// Returns the tools that the address selects: those of `profile`, or the ones named by `tools`.
fn toolset(request: &HttpRequest) -> Result<Toolset, Failure> {
    refuse_unknown_parameters(request, |name| matches!(name, "profile" | "tools"))?;
    let query = Query::parse(request.query_string())?;
    let unknown = || Failure::invalid("profile", format!("profile must be one of {}", Profile::NAMES.join(", ")));
    let profile = query.get("profile").map(|name| Profile::from_name(name).ok_or_else(unknown)).transpose()?;
    let profile = profile.unwrap_or_default();
    match query.get("tools") {
        None => Ok(Toolset::new(profile)),
        Some(names) => Toolset::only(profile, names).map_err(|message| Failure::invalid("tools", message)),
    }
}
