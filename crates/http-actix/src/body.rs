//! Strict reading of request bodies: one JSON object of at most 1 MiB.

use std::task::Poll;
use std::time::Duration;

use actix_web::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderName};
use actix_web::{HttpRequest, web};
use api_types::RequestBody;
use api_types::validation::{field_of, first_violation};
use bytes::{Bytes, BytesMut};
use connections::Waiting;
use futures_util::StreamExt;
use serde::de::DeserializeOwned;

use crate::call::{Call, Context};
use crate::failure::Failure;

/// Maximum size of a body.
const MAX_BYTES: usize = 1 << 20;

/// Maximum bytes to read and discard of a body that is too large. Clients that write before they read see the response
/// only after the server has read their body; beyond this the connection is closed.
const MAX_DISCARDED: usize = 8 << 20;

/// Maximum size of a body that is read before admission, discarded after a refusal to keep the connection usable, or parsed on
/// the thread of connections.
const SMALL: usize = 64 << 10;

/// Timeout for a whole body, against clients that hold a connection by sending slowly.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Timeout for the body of a request that is not admitted yet, or was refused. Until then its connection counts as in use
/// and makes no room for others.
const SHORT_TIME_LIMIT: Duration = Duration::from_secs(5);

/// Reads the body as `T`, if `T` has one: checks media type, size, shape, fields and rules, in this order.
pub(crate) async fn read<T: RequestBody + Send + 'static>(call: &mut Call) -> Result<T, Failure> {
    if let Some(absent) = T::absent() {
        return Ok(absent);
    }
    let read = bytes(call).await?;
    parsed(&call.context, read, valid).await?
}

/// Parses a body: here if it is small, otherwise when it is the organization's turn.
pub(crate) async fn parsed<T: Send + 'static>(
    context: &Context,
    body: BytesMut,
    parse: impl FnOnce(&[u8]) -> T + Send + 'static,
) -> Result<T, Failure> {
    if body.len() <= SMALL { Ok(parse(&body)) } else { context.compute(body.len(), move || parse(&body)).await }
}

/// Parses a body and checks its rules.
fn valid<T: RequestBody>(bytes: &[u8]) -> Result<T, Failure> {
    let parsed: T = parse(bytes)?;
    match first_violation(&parsed) {
        None => Ok(parsed),
        Some(violation) => Err(Failure::invalid(violation.field, violation.message)),
    }
}

/// Reads the body of a request that is not admitted yet: a small one, in short time.
pub(crate) async fn before_admission(request: &HttpRequest, payload: &mut web::Payload) -> Result<BytesMut, Failure> {
    check_media_type(request)?;
    let mut bytes = BytesMut::new();
    let reading = async {
        while let Some(chunk) = payload.next().await {
            let chunk = chunk.map_err(|error| unreadable(error.to_string()))?;
            if bytes.len() + chunk.len() > SMALL {
                return Err(too_large(SMALL));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(())
    };
    match tokio::time::timeout(SHORT_TIME_LIMIT, reading).await {
        Ok(Ok(())) => Ok(bytes),
        Ok(Err(failure)) => Err(failure),
        Err(_) => Err(unreadable("the body arrives too slowly")),
    }
}

/// Reads the raw body after checks of media type and size.
pub(crate) async fn bytes(call: &mut Call) -> Result<BytesMut, Failure> {
    check_media_type(&call.request)?;
    collect(call).await
}

/// Discards a small body, so that the connection can be used again.
pub(crate) async fn discard_small(request: &HttpRequest, mut payload: web::Payload) {
    let announced = header(request, CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
    if announced.is_some_and(|length| length <= SMALL) {
        discard(&mut payload, SMALL, SHORT_TIME_LIMIT).await;
    }
}

/// Discards at most `most` bytes of a body, within `time`.
async fn discard(payload: &mut web::Payload, most: usize, time: Duration) {
    let reading = async {
        let mut taken = 0;
        while let Some(Ok(chunk)) = payload.next().await {
            taken += chunk.len();
            if taken > most {
                return;
            }
        }
    };
    // The response does not depend on the rest of the body.
    let _ = tokio::time::timeout(time, reading).await;
}

fn header(request: &HttpRequest, name: HeaderName) -> Option<&str> {
    request.headers().get(name).and_then(|value| value.to_str().ok())
}

fn check_media_type(request: &HttpRequest) -> Result<(), Failure> {
    if let Some(value) = request.headers().get(CONTENT_TYPE) {
        let text = String::from_utf8_lossy(value.as_bytes());
        let essence = text.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/json") {
            let error = format!("the content type `{essence}` is not `application/json`");
            return Err(Failure::malformed("the request body must be application/json", error));
        }
    }
    if let Some(value) = request.headers().get(CONTENT_ENCODING)
        && !value.as_bytes().eq_ignore_ascii_case(b"identity")
    {
        let error = format!("the content encoding `{}` is not supported", String::from_utf8_lossy(value.as_bytes()));
        return Err(Failure::malformed("the request body must not be compressed", error));
    }
    Ok(())
}

async fn collect(call: &mut Call) -> Result<BytesMut, Failure> {
    let Call { context, request, payload, body_memory, .. } = call;
    let announced = header(request, CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
    if announced.is_some_and(|length| length > MAX_BYTES) {
        discard(payload, MAX_DISCARDED, TIME_LIMIT).await;
        return Err(too_large(MAX_BYTES));
    }
    let (memory, organization) = (&context.state.memory.requests, context.viewer.organization_id);
    if let Some(length) = announced {
        *body_memory = memory.take(organization, length).await?;
    }
    let mut bytes = BytesMut::new();
    let mut waiting = Waiting::new(context.state.sending);
    let reading = async {
        while let Some(chunk) = next_chunk(payload, &mut waiting).await? {
            let length = bytes.len() + chunk.len();
            if length > MAX_BYTES {
                return Ok(false);
            }
            if body_memory.is_none() && length > memory.small() {
                // Its length was not announced, so it may become as long as any.
                *body_memory = memory.take(organization, MAX_BYTES).await?;
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(true)
    };
    match tokio::time::timeout(TIME_LIMIT, reading).await {
        Ok(Ok(true)) => Ok(bytes),
        Ok(Ok(false)) => {
            discard(payload, MAX_DISCARDED, TIME_LIMIT).await;
            Err(too_large(MAX_BYTES))
        }
        Ok(Err(failure)) => Err(failure),
        Err(_) => Err(unreadable(format!("the body did not arrive within {} s", TIME_LIMIT.as_secs()))),
    }
}

/// Returns the next part of a body, unless the client sends too slowly.
async fn next_chunk(payload: &mut web::Payload, waiting: &mut Waiting) -> Result<Option<Bytes>, Failure> {
    std::future::poll_fn(|task| match payload.poll_next_unpin(task) {
        Poll::Ready(Some(Ok(chunk))) => {
            waiting.progress(chunk.len());
            Poll::Ready(Ok(Some(chunk)))
        }
        Poll::Ready(Some(Err(error))) => Poll::Ready(Err(unreadable(error.to_string()))),
        Poll::Ready(None) => Poll::Ready(Ok(None)),
        Poll::Pending => waiting.poll_exhausted(task).map(|()| Err(unreadable("the body arrives too slowly"))),
    })
    .await
}

fn unreadable(error: impl Into<String>) -> Failure {
    Failure::malformed("the request body could not be read", error)
}

fn too_large(max: usize) -> Failure {
    Failure::malformed("the request body is too large", format!("the body has more than {max} bytes"))
}

/// Parses a single JSON object without trailing content.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    // serde accepts an array for a struct, field by field.
    match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
        Some(b'{') => {}
        Some(_) => {
            return Err(Failure::malformed("the request body must be a JSON object", "expected `{` at the start"));
        }
        None => return Err(Failure::malformed("the request body must be a JSON object", "the body is empty")),
    }
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let parsed = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        explain(&path, error.inner())
    })?;
    json.end()
        .map_err(|error| Failure::malformed("the request body must be a single JSON object", error.to_string()))?;
    Ok(parsed)
}

fn explain(path: &str, error: &serde_json::Error) -> Failure {
    let text = error.to_string();
    if !error.is_data() {
        return Failure::malformed("the request body is not valid JSON", text);
    }
    let Some(field) = field_of(path, &text) else {
        return Failure::malformed(format!("the request body is not valid: {text}"), text);
    };
    let message = match field.as_str() {
        // The interface promises one message for whatever is no UUID.
        "session_id" if text.starts_with("invalid type") => format!("{field} must be a UUID"),
        _ => format!("{field}: {text}"),
    };
    Failure::malformed(message, text).with("field", field)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use actix_web::error::PayloadError;
    use actix_web::test::TestRequest;
    use actix_web::{FromRequest, dev};
    use futures_util::stream;
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_refused_body_that_never_arrives_keeps_its_connection_for_a_short_time() {
        let request = TestRequest::post().insert_header((CONTENT_LENGTH, "100")).to_http_request();
        let unsent = stream::pending::<Result<Bytes, PayloadError>>();
        let mut unsent = dev::Payload::Stream { payload: unsent.boxed_local() };
        let payload = web::Payload::from_request(&request, &mut unsent).await.unwrap();
        let started = Instant::now();
        discard_small(&request, payload).await;
        assert_eq!(started.elapsed().as_secs(), SHORT_TIME_LIMIT.as_secs());
    }
}
