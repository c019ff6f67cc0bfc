use std::convert::Infallible;

use actix_web::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, LINK, LOCATION, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use api_types::{ErrorCode, ErrorEnvelope, RateLimit, ResponseBody};
use app::Charge;
use bytes::Bytes;
use openapi::Operation;
use serde::Serialize;
use uuid::Uuid;

use crate::State;
use crate::compression::gzip_if_asked;
use crate::disconnect::keep_unless_disconnected;
use crate::failure::Failure;
use crate::memory::{Answer, SentInChunks};
use crate::research::stream::EventStream;

const JSON: &str = "application/json";

/// A body with its status, before headers are added.
pub(crate) struct Reply {
    pub status: StatusCode,
    /// Empty for no body.
    pub body: Answer,
    content_type: &'static str,
    /// Name of the body's published schema.
    schema: Option<&'static str>,
    /// Address of a created resource.
    location: Option<String>,
    /// Sent instead of the body.
    stream: Option<EventStream>,
    /// Of searches that the body answers. Kept once the response is complete; a reply that is dropped before refunds them.
    charges: Vec<Charge>,
}

impl Reply {
    /// The successful response of the operation `O`, serialized.
    pub fn success<O: Operation>(body: Answer) -> Result<Self, Failure> {
        let status = StatusCode::from_u16(O::STATUS).map_err(Failure::internal)?;
        Ok(Reply { schema: Some(O::Response::NAME), ..Reply::serialized(status, body) })
    }

    /// The successful response of the operation `O`, as the stream that it declares.
    pub fn stream<O: Operation>(stream: EventStream) -> Result<Self, Failure> {
        let status = StatusCode::from_u16(O::STATUS).map_err(Failure::internal)?;
        let content_type = O::STREAM.unwrap_or(JSON);
        Ok(Reply { content_type, schema: Some(O::Response::NAME), stream: Some(stream), ..Reply::empty(status) })
    }

    /// Adds the path of the created resource. The operation declares it with `LOCATED`.
    pub fn located(self, location: String) -> Self {
        Reply { location: Some(location), ..self }
    }

    /// Adds the charges of the searches that the body answers.
    pub fn charged(self, charges: impl IntoIterator<Item = Charge>) -> Self {
        Reply { charges: charges.into_iter().collect(), ..self }
    }

    /// JSON without a published schema.
    pub fn json(status: StatusCode, value: &impl Serialize) -> Result<Self, Failure> {
        let body = serde_json::to_vec(value).map_err(Failure::internal)?;
        Ok(Reply::serialized(status, body.into()))
    }

    /// Serialized JSON without a published schema.
    pub fn serialized(status: StatusCode, body: Answer) -> Self {
        Reply { status, body, content_type: JSON, schema: None, location: None, stream: None, charges: Vec::new() }
    }

    /// Text of another media type.
    pub fn text(status: StatusCode, content_type: &'static str, body: Answer) -> Self {
        Reply { content_type, ..Reply::serialized(status, body) }
    }

    pub fn empty(status: StatusCode) -> Self {
        Reply::serialized(status, Answer::default())
    }

    fn error(state: &State, request_id: Uuid, failure: &Failure) -> Self {
        let status = failure.code.status();
        // Refusals of admission carry no `$schema`: they are the same for every path.
        let at_admission = matches!(status, 401 | 403 | 429);
        let body = ErrorEnvelope {
            schema: (!at_admission).then(|| state.schema_url(ErrorEnvelope::NAME)),
            kind: "error".to_owned(),
            request_id,
            error: failure.body(),
        };
        // Strings and maps of strings always serialize.
        let mut body = serde_json::to_value(&body).unwrap_or_default();
        if let Some(hint) = &failure.hint {
            body["hint"] = hint.as_str().into();
        }
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&body).unwrap_or_default();
        Reply { schema: Some(ErrorEnvelope::NAME), ..Reply::serialized(status, body.into()) }
    }
}

/// Format of the failures of a path.
pub(crate) struct Refusals {
    /// Converts a failure to its response.
    pub reply: fn(&State, Uuid, &Failure) -> Reply,
    /// `WWW-Authenticate` of a missing or invalid credential.
    pub challenge: &'static str,
}

/// The error envelope of the API.
pub(crate) const ENVELOPE: Refusals = Refusals { reply: Reply::error, challenge: "Bearer" };

/// Builds the HTTP response: the reply, or the logged failure as the error envelope, with the headers of all responses.
pub(crate) async fn respond(
    state: &State,
    request: &HttpRequest,
    request_id: Uuid,
    route: &str,
    outcome: Result<Reply, Failure>,
    rate_limit: Option<&RateLimit>,
) -> HttpResponse {
    respond_as(&ENVELOPE, state, request, request_id, route, outcome, rate_limit).await
}

/// Builds the HTTP response, with failures in the format of the path.
pub(crate) async fn respond_as(
    refusals: &Refusals,
    state: &State,
    request: &HttpRequest,
    request_id: Uuid,
    route: &str,
    outcome: Result<Reply, Failure>,
    rate_limit: Option<&RateLimit>,
) -> HttpResponse {
    let (reply, refusal) = match outcome {
        Ok(reply) => (reply, None),
        Err(failure) => {
            log(&failure, route);
            ((refusals.reply)(state, request_id, &failure), Some(failure))
        }
    };
    let mut response = HttpResponse::build(reply.status);
    if !reply.body.bytes.is_empty() || reply.stream.is_some() {
        response.insert_header((CONTENT_TYPE, reply.content_type));
    }
    response
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header((VARY, "Accept-Encoding"))
        .insert_header(("X-Request-ID", request_id.to_string()));
    if let Some(schema) = reply.schema {
        // RFC 8288, with the relation `describedby` of POWDER; equal to `$schema` in bodies that have it.
        response.insert_header((LINK, format!("<{}>; rel=\"describedby\"", state.schema_url(schema))));
    }
    if let Some(rate_limit) = rate_limit {
        show_rate_limit(&mut response, rate_limit, refusal.as_ref());
    }
    if let Some(failure) = refusal {
        if failure.code.status() == 401 {
            response.insert_header((WWW_AUTHENTICATE, refusals.challenge));
        }
        if let Some(seconds) = failure.retry_after() {
            response.insert_header((RETRY_AFTER, seconds));
        }
        if let Some(methods) = failure.allow {
            response.insert_header((ALLOW, methods));
        }
    }
    if let Some(location) = reply.location {
        response.insert_header((LOCATION, location));
    }
    if let Some(stream) = reply.stream {
        // Some proxies collect a response before they pass it on.
        response.insert_header(("X-Accel-Buffering", "no"));
        if request.method() == Method::HEAD {
            // The listener reads also a body that it does not send, and the connection waits for its end.
            return response.streaming(futures_util::stream::empty::<Result<Bytes, Infallible>>());
        }
        return response.streaming(stream);
    }
    let Answer { bytes, memory } = reply.body;
    let bytes = match gzip_if_asked(request, &bytes).await {
        Some(compressed) => {
            response.insert_header((CONTENT_ENCODING, "gzip"));
            compressed.into()
        }
        None => bytes,
    };
    // Not before: a client that leaves while its answer waits to be compressed does not get it.
    for charge in reply.charges {
        keep_unless_disconnected(charge).await;
    }
    response.body(SentInChunks::new(bytes, memory))
}

/// Adds the headers of the rate limit. A refused credential or scope shows none, also if it was refused after admission. Where a
/// client has to wait for another limit, no requests are left, as for this one.
fn show_rate_limit(response: &mut HttpResponseBuilder, rate_limit: &RateLimit, refusal: Option<&Failure>) {
    let remaining = match refusal.map(|failure| failure.code.status()) {
        Some(401 | 403) => return,
        Some(429) => 0,
        _ => rate_limit.remaining,
    };
    response
        .insert_header(("X-RateLimit-Limit-RPS", rate_limit.limit_rps.to_string()))
        .insert_header(("X-RateLimit-Remaining", remaining.to_string()))
        .insert_header(("X-RateLimit-Reset", rate_limit.reset_at.as_str()));
}

/// Logs a failure with its cause. The span of the request has its id. Bodies and tokens are never logged.
pub(crate) fn log(failure: &Failure, route: &str) {
    let cause = failure.cause.as_deref().map(|cause| error_causes::describe(cause)).unwrap_or_default();
    let code = failure.code.as_str();
    match failure.code {
        ErrorCode::InternalError => tracing::error!(route, code, cause, "request failed"),
        ErrorCode::ProviderUnavailable => tracing::warn!(route, code, cause, "backend unavailable"),
        _ => tracing::debug!(route, code, "request refused"),
    }
}
