//! HTTP transport: attempts, waits, bounded responses.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use api_types::{ErrorEnvelope, RateLimit};
use bytes::{Bytes, BytesMut};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER, USER_AGENT};
use reqwest::{Method, Url};
use time::OffsetDateTime;

use crate::error::{ApiError, Error};
use crate::no_response::{CONNECT_TIMEOUT, NoResponse};
use crate::rate_limit;
use crate::retry::{self, Failure, Repeat};
use crate::slow_connect::SlowConnect;

/// Maximum size of a response in bytes, far above the largest one, a whole document.
pub(crate) const MAX_ANSWER: usize = 64 << 20;
/// Maximum size of the list of all files in bytes: about a million files.
pub(crate) const MAX_LIST: usize = 256 << 20;
/// Maximum wait that a server can ask for.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(30);
/// Shorter than the keep-alive of servers, so that no request is sent into a connection that the server closes.
const POOL_IDLE: Duration = Duration::from_secs(20);
const SESSION_HEADER: &str = "x-session-id";
const CLIENT_HEADER: &str = "x-service-client";
const LAST_EVENT_HEADER: &str = "last-event-id";
const EVENT_STREAM: &str = "text/event-stream";
/// Maximum silence of an event stream, which has a comment every 15 seconds.
const LONGEST_SILENCE: Duration = Duration::from_secs(45);

pub(crate) struct Transport {
    http: reqwest::Client,
    /// Separate client for storage, which shares neither connections nor the key with the API.
    storage: OnceLock<reqwest::Client>,
    base: Url,
    authorization: Option<HeaderValue>,
    name: HeaderValue,
    timeout: Duration,
    proxies: bool,
    /// True from the first response on.
    reached: AtomicBool,
}

/// One request.
pub(crate) struct Call<'a> {
    pub method: Method,
    pub url: Url,
    pub body: Option<Bytes>,
    pub repeat: Repeat,
    pub session: Option<&'a HeaderValue>,
    /// Time that the server may wait before it responds.
    pub wait: Duration,
    /// Maximum size of the response in bytes.
    pub max_answer: usize,
}

/// A failed attempt: its failure for the retry policy, or `None` to forbid a retry, and the error.
pub(crate) type Failed = (Option<Failure>, Error);

/// A successful response before parsing.
pub(crate) struct Reply {
    pub status: u16,
    pub body: Bytes,
    pub rate_limit: Option<RateLimit>,
}

/// Builds a client that follows no redirects: a redirect could send the key or a file to another address.
pub(crate) fn http_client(tls: bool, proxies: bool, slow: Option<SlowConnect>) -> Result<reqwest::Client, Error> {
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(POOL_IDLE)
        .tcp_nodelay(true)
        .redirect(reqwest::redirect::Policy::none())
        // Loading the certificates dominates start-up, so it is skipped without TLS.
        .tls_built_in_root_certs(tls);
    if !proxies {
        builder = builder.no_proxy();
    }
    if let Some(slow) = slow {
        builder = builder.connector_layer(slow);
    }
    builder.build().map_err(|error| Error::Setting(format!("cannot create an HTTP client: {error}")))
}

impl Transport {
    pub fn new(
        http: reqwest::Client,
        base: Url,
        authorization: Option<HeaderValue>,
        name: HeaderValue,
        timeout: Duration,
        proxies: bool,
    ) -> Self {
        Self {
            http,
            storage: OnceLock::new(),
            base,
            authorization,
            name,
            timeout,
            proxies,
            reached: AtomicBool::new(false),
        }
    }

    /// Joins a relative path, with percent-encoded segments, to the base URL.
    pub fn url(&self, path: &str) -> Result<Url, Error> {
        self.base.join(path).map_err(|error| Error::Setting(format!("invalid path `{path}`: {error}")))
    }

    pub fn storage(&self) -> Result<&reqwest::Client, Error> {
        if let Some(client) = self.storage.get() {
            return Ok(client);
        }
        let client = http_client(true, self.proxies, None)?;
        Ok(self.storage.get_or_init(|| client))
    }

    /// Sends a request, with retries.
    pub async fn send(&self, call: Call<'_>) -> Result<Reply, Error> {
        let mut retries = 0;
        loop {
            let (failure, error) = match self.attempt(&call).await {
                Ok(reply) => return Ok(reply),
                Err(failed) => failed,
            };
            let wait = failure.and_then(|failure| retry::wait(failure, call.repeat, retries, rand::random()));
            let Some(wait) = wait else { return Err(error) };
            tokio::time::sleep(wait).await;
            retries += 1;
        }
    }

    /// Makes one attempt.
    async fn attempt(&self, call: &Call<'_>) -> Result<Reply, Failed> {
        let limit = self.timeout + call.wait;
        let response = self.request(call).timeout(limit).send().await.map_err(|error| self.broken(error, limit))?;
        self.reached.store(true, Ordering::Relaxed);
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let body = self.read(response, limit, call.max_answer).await?;
        if (200..300).contains(&status) {
            self.check_is_json(status, &headers, &body)?;
            return Ok(Reply { status, body, rate_limit: rate_limit::of(&headers) });
        }
        Err(self.refused(status, &headers, &body))
    }

    /// Opens an event stream after the event `last`, in one attempt. The timeout applies to the head of the response.
    pub async fn open(&self, call: &Call<'_>, last: i64) -> Result<reqwest::Response, Failed> {
        let limit = self.timeout;
        let mut request = self.request(call).header(ACCEPT, EVENT_STREAM);
        if last > 0 {
            request = request.header(LAST_EVENT_HEADER, last);
        }
        let timeout = |_| (None, Error::Timeout { server: self.server(), limit });
        let response = tokio::time::timeout(limit, request.send()).await.map_err(timeout)?;
        let response = response.map_err(|error| self.broken(error, limit))?;
        self.reached.store(true, Ordering::Relaxed);
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        if status != 200 {
            let body =
                tokio::time::timeout(limit, self.read(response, limit, call.max_answer)).await.map_err(timeout)??;
            return Err(self.refused(status, &headers, &body));
        }
        let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("no media type");
        if !media_type.trim_start().to_ascii_lowercase().starts_with(EVENT_STREAM) {
            let reason = format!("`{}` sent {media_type} instead of {EVENT_STREAM}", self.server());
            return Err((None, Error::Malformed { status, reason }));
        }
        Ok(response)
    }

    /// Returns the next bytes of an event stream; `None` at its end.
    pub async fn next_chunk(&self, stream: &mut reqwest::Response) -> Result<Option<Bytes>, Failed> {
        match tokio::time::timeout(LONGEST_SILENCE, stream.chunk()).await {
            Ok(read) => read.map_err(|error| self.broken(error, LONGEST_SILENCE)),
            Err(_) => {
                let error = Error::Timeout { server: self.server(), limit: LONGEST_SILENCE };
                Err((Some(Failure::Broken), error))
            }
        }
    }

    fn request(&self, call: &Call<'_>) -> reqwest::RequestBuilder {
        let mut request = self.http.request(call.method.clone(), call.url.clone());
        request = request.header(USER_AGENT, &self.name).header(CLIENT_HEADER, &self.name);
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        if let Some(session) = call.session {
            request = request.header(SESSION_HEADER, session);
        }
        if let Some(body) = &call.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.clone());
        }
        request
    }

    async fn read(&self, mut response: reqwest::Response, limit: Duration, max: usize) -> Result<Bytes, Failed> {
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.broken(error, limit))? {
            if body.len() + chunk.len() > max {
                return Err((None, Error::TooLarge { limit: max }));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }

    /// Returns the failure and the error of a response with another status than success.
    fn refused(&self, status: u16, headers: &HeaderMap, body: &[u8]) -> Failed {
        let error = self.refusal(status, headers, body);
        let until_reset = || rate_limit::until_reset(headers, OffsetDateTime::now_utc());
        let failure = match status {
            429 => Failure::RateLimited(error.api().and_then(named_wait).unwrap_or_else(until_reset)),
            503 => retry_after(headers).map_or(Failure::Status(status), Failure::Overloaded),
            507 => Failure::Status(status),
            // A proxy lost the answer of the service, which may have executed the request.
            500.. if error.api().is_none() => Failure::Broken,
            _ => Failure::Status(status),
        };
        (Some(failure), error)
    }

    fn broken(&self, error: reqwest::Error, limit: Duration) -> Failed {
        let (is_connect, is_timeout) = (error.is_connect(), error.is_timeout());
        if is_timeout && !is_connect {
            // A retry would multiply the caller's timeout.
            return (None, Error::Timeout { server: self.server(), limit });
        }
        let reason = NoResponse::of(&error);
        let failure = match (is_connect, reason.is_worth_a_retry()) {
            (_, false) => None,
            // A server that never answered is not running, or the address is wrong: the caller learns this at once.
            (true, true) => self.reached.load(Ordering::Relaxed).then_some(Failure::NotConnected),
            (false, true) => Some(Failure::Broken),
        };
        (failure, Error::Transport { server: self.server(), reason, source: error.without_url().into() })
    }

    /// Refuses pages of other services.
    fn check_is_json(&self, status: u16, headers: &HeaderMap, body: &[u8]) -> Result<(), Failed> {
        if body.trim_ascii_start().starts_with(b"{") {
            return Ok(());
        }
        let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("no media type");
        let reason = format!("`{}` sent {media_type} instead of a JSON object", self.server());
        Err((None, Error::Malformed { status, reason }))
    }

    /// Parses the service's error. Other bodies come from proxies and other services.
    fn refusal(&self, status: u16, headers: &HeaderMap, body: &[u8]) -> Error {
        match serde_json::from_slice::<ErrorEnvelope>(body) {
            Ok(ErrorEnvelope { request_id, error, .. }) => Error::Api(Box::new(ApiError {
                status,
                code: error.code,
                message: error.message,
                details: error.details,
                request_id: request_id.to_string(),
                rate_limit: rate_limit::of(headers),
            })),
            Err(_) => Error::Status { status, server: self.server(), redirect: self.redirect(headers) },
        }
    }

    /// Returns the origin that the response redirects to.
    fn redirect(&self, headers: &HeaderMap) -> Option<String> {
        let location = self.base.join(headers.get(LOCATION)?.to_str().ok()?).ok()?;
        location.has_host().then(|| location.origin().ascii_serialization())
    }

    /// Returns the base URL as people write it.
    pub fn server(&self) -> String {
        self.base.as_str().trim_end_matches('/').to_owned()
    }
}

/// Parses `Retry-After` in seconds, the only form that the service sends. A 429 has none.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_RETRY_AFTER))
}

/// Returns the wait that the details of an error name, as for rejected credentials.
fn named_wait(error: &ApiError) -> Option<Duration> {
    let seconds = error.details.get("retry_after_seconds")?.as_u64()?;
    Some(Duration::from_secs(seconds).min(LONGEST_RETRY_AFTER))
}

/// Omits the key.
impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transport")
            .field("base", &self.base.as_str())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn waits(details: Value) -> Option<u64> {
        let error = ApiError {
            status: 429,
            code: "rate_limited".to_owned(),
            message: String::new(),
            details: details.as_object().cloned().unwrap_or_default(),
            request_id: String::new(),
            rate_limit: None,
        };
        named_wait(&error).map(|wait| wait.as_secs())
    }

    #[test]
    fn named_waits_are_bounded() {
        assert_eq!(waits(json!({"limit": "rejected_credentials", "retry_after_seconds": 12})), Some(12));
        assert_eq!(waits(json!({"retry_after_seconds": u64::MAX})), Some(30));
        for other in [json!({}), json!({"retry_after_seconds": -1}), json!({"retry_after_seconds": "12"})] {
            assert_eq!(waits(other), None);
        }
    }
}
