use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, LINK, VARY, WWW_AUTHENTICATE};
use actix_web::{HttpRequest, HttpResponse};
use api_types::{ErrorCode, ErrorEnvelope, RateLimit};
use serde::Serialize;
use uuid::Uuid;

use crate::State;
use crate::compression::gzip_if_asked;
use crate::endpoint::Endpoint;
use crate::failure::Failure;

/// A complete answer before its headers.
#[derive(Debug)]
pub(crate) struct Reply {
    pub status: StatusCode,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn ok(body: Vec<u8>) -> Self {
        Reply { status: StatusCode::OK, body }
    }

    pub fn json(status: StatusCode, value: &impl Serialize) -> Result<Self, Failure> {
        Ok(Reply { status, body: serde_json::to_vec(value).map_err(Failure::internal)? })
    }
}

/// Writes an answer or the error envelope, with the headers that every answer has.
pub(crate) async fn respond(
    state: &State,
    request: &HttpRequest,
    request_id: Uuid,
    endpoint: &Endpoint,
    outcome: Result<Reply, Failure>,
    rate_limit: Option<&RateLimit>,
) -> HttpResponse {
    let (reply, schema, refusal) = match outcome {
        Ok(reply) => (reply, endpoint.response, None),
        Err(failure) => {
            log(&failure, request_id, endpoint.route);
            (envelope(state, request_id, &failure), Some("ErrorEnvelope"), Some((failure.code, failure.allow)))
        }
    };
    let mut response = HttpResponse::build(reply.status);
    if !reply.body.is_empty() {
        response.insert_header((CONTENT_TYPE, "application/json"));
    }
    response
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header((VARY, "Accept-Encoding"))
        .insert_header(("X-Request-ID", request_id.to_string()));
    if let Some(schema) = schema {
        // RFC 8288 and the relation `describedby` of POWDER: the same as `$schema` where the body has one.
        response.insert_header((LINK, format!("<{}>; rel=\"describedby\"", state.schema_url(schema))));
    }
    if let Some(rate_limit) = rate_limit {
        response
            .insert_header(("X-RateLimit-Limit-RPS", rate_limit.limit_rps.to_string()))
            .insert_header(("X-RateLimit-Remaining", rate_limit.remaining.to_string()))
            .insert_header(("X-RateLimit-Reset", rate_limit.reset_at.as_str()));
    }
    if let Some((code, allow)) = refusal {
        if code.status() == 401 {
            response.insert_header((WWW_AUTHENTICATE, "Bearer"));
        }
        if let Some(methods) = allow {
            response.insert_header((ALLOW, methods));
        }
    }
    match gzip_if_asked(request.headers(), &reply.body).await {
        Some(compressed) => response.insert_header((CONTENT_ENCODING, "gzip")).body(compressed),
        None => response.body(reply.body),
    }
}

fn envelope(state: &State, request_id: Uuid, failure: &Failure) -> Reply {
    let status = failure.code.status();
    // Refusals at the door carry no `$schema`: they are the same whatever endpoint was asked.
    let at_the_door = matches!(status, 401 | 403 | 429);
    let body = ErrorEnvelope {
        schema: (!at_the_door).then(|| state.schema_url("ErrorEnvelope")),
        kind: "error".to_owned(),
        request_id,
        error: failure.body(),
    };
    // Strings and maps of strings always serialize.
    let mut body = serde_json::to_value(&body).unwrap_or_default();
    if let Some(hint) = &failure.hint {
        body["hint"] = hint.as_str().into();
    }
    Reply {
        status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        body: serde_json::to_vec(&body).unwrap_or_default(),
    }
}

/// Says why, once, with the id that the caller has. Never bodies or tokens.
pub(crate) fn log(failure: &Failure, request_id: Uuid, route: &str) {
    let cause = failure.cause.as_deref().map(|cause| error_causes::describe(cause)).unwrap_or_default();
    let code = failure.code.as_str();
    match failure.code {
        ErrorCode::InternalError => tracing::error!(%request_id, route, code, cause, "request failed"),
        ErrorCode::ProviderUnavailable => tracing::warn!(%request_id, route, code, cause, "backend unavailable"),
        _ => tracing::debug!(%request_id, route, code, "request refused"),
    }
}
