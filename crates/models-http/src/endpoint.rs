//! POST requests to one endpoint.

use std::time::Duration;

use models::ModelError;
use reqwest::Response;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use tokio::time::timeout;
use trace_context::{ActiveSpan, SpanKind};

const POOL_IDLE: Duration = Duration::from_secs(20);
/// Connecting takes far less than generating.
const MAX_CONNECT: Duration = Duration::from_secs(5);
/// Longer delays are cut to it.
const MAX_RETRY_AFTER: Duration = Duration::from_hours(24);
/// Part of an error's body that is read.
const MAX_ERROR: usize = 64 << 10;
/// Longest wait for an error's body. The status says most.
const MAX_ERROR_TIME: Duration = Duration::from_secs(1);

/// Endpoint with its credentials. Redirects are not followed, and proxies are not used.
pub struct Endpoint {
    client: reqwest::Client,
    url: reqwest::Url,
    authorization: Option<HeaderValue>,
}

/// Response with its body. For other statuses than 200 it is the part that arrived soon, and empty if the endpoint asks for a pause.
pub struct Reply {
    pub status: u16,
    pub retry_after: Option<Duration>,
    pub body: Vec<u8>,
}

impl Endpoint {
    /// Builds the client without connecting.
    ///
    /// # Errors
    /// `Unreachable` when the key is not a valid header value.
    pub fn new(url: reqwest::Url, api_key: Option<&str>, timeout: Duration) -> Result<Self, ModelError> {
        let authorization = match api_key {
            None => None,
            Some(key) => {
                let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(unreachable)?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        let client = reqwest::Client::builder()
            .connect_timeout(timeout.min(MAX_CONNECT))
            .timeout(timeout)
            .pool_idle_timeout(POOL_IDLE)
            .tcp_nodelay(true)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            // Loading the certificates takes longer than the rest of the start.
            .tls_built_in_root_certs(url.scheme() == "https")
            .build()
            .map_err(unreachable)?;
        Ok(Self { client, url, authorization })
    }

    /// Sends a JSON body and reads the response, of at most `max_response` bytes. `call_time` is the timeout of the whole call, of
    /// which an error's body gets a part. A span of the current trace.
    ///
    /// # Errors
    /// `Timeout`, `Unreachable`, and `InvalidResponse` for a successful response that is too long or a stream of events. Any
    /// status is a success here, also with a body that breaks off.
    pub async fn post(&self, body: Vec<u8>, max_response: usize, call_time: Duration) -> Result<Reply, ModelError> {
        ActiveSpan::begin("model", SpanKind::Client).try_around(self.exchange(body, max_response, call_time)).await
    }

    async fn exchange(&self, body: Vec<u8>, max_response: usize, call_time: Duration) -> Result<Reply, ModelError> {
        let mut request = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        if let Some(key) = &self.authorization {
            request = request.header(AUTHORIZATION, key.clone());
        }
        for (name, value) in trace_context::headers() {
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(timeout_or_unreachable)?;
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers());
        if status == 200 && is_event_stream(&response) {
            return Err(ModelError::InvalidResponse("it is a stream of events, which was not requested".to_owned()));
        }
        let body = match status {
            200 => read(response, max_response).await?,
            // Nobody reads it, and it must not delay the pause.
            429 | 503 if retry_after.is_some() => Vec::new(),
            // Less than the call's own time, at the end of which the status would be lost.
            _ => read_error(response, (call_time / 3 * 2).min(MAX_ERROR_TIME)).await,
        };
        Ok(Reply { status, retry_after, body })
    }
}

/// Reads the whole body, of at most `maximum` bytes.
async fn read(mut response: Response, maximum: usize) -> Result<Vec<u8>, ModelError> {
    let mut received = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(timeout_or_unreachable)? {
        if received.len() + chunk.len() > maximum {
            return Err(ModelError::InvalidResponse(format!("longer than {maximum} bytes")));
        }
        received.extend_from_slice(&chunk);
    }
    Ok(received)
}

/// Reads the beginning of an error's body: the part that arrives within the limit, before the body ends or breaks off.
async fn read_error(mut response: Response, limit: Duration) -> Vec<u8> {
    let mut received = Vec::new();
    let reading = async {
        while received.len() < MAX_ERROR {
            let Ok(Some(chunk)) = response.chunk().await else { break };
            received.extend_from_slice(&chunk);
        }
    };
    // The part that arrived until then is enough.
    let _ = timeout(limit, reading).await;
    received.truncate(MAX_ERROR);
    received
}

fn is_event_stream(response: &Response) -> bool {
    let content_type = text(response.headers(), CONTENT_TYPE).unwrap_or_default();
    content_type.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
}

/// Parses `Retry-After`. A date is relative to the endpoint's own clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = text(headers, RETRY_AFTER)?.trim();
    let delay = match value.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let now = httpdate::parse_http_date(text(headers, DATE)?).ok()?;
            httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default()
        }
    };
    Some(delay.min(MAX_RETRY_AFTER))
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

pub fn unreachable(error: impl std::error::Error + Send + Sync + 'static) -> ModelError {
    ModelError::Unreachable(error.into())
}

fn timeout_or_unreachable(error: reqwest::Error) -> ModelError {
    // The URL may contain secrets that do not belong in a log.
    if error.is_timeout() { ModelError::Timeout } else { unreachable(error.without_url()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_read_in_both_forms_and_limited() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        for (value, expected) in [
            ("7", Some(7)),
            ("18446744073709551615", Some(86_400)),
            ("Fri, 01 Jan 9999 00:00:00 GMT", Some(86_400)),
            ("Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(DATE, HeaderValue::from_static(date));
            headers.insert(RETRY_AFTER, HeaderValue::from_static(value));
            assert_eq!(retry_after(&headers), expected.map(Duration::from_secs), "{value}");
        }
    }
}
