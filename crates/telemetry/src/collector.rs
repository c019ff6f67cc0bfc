//! Requests to the collector.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Response, Url};
use serde::Deserialize;

use crate::options::{ExporterOptions, OptionsError};
use crate::payload;

/// Path of OTLP over HTTP for spans.
const PATH: &str = "/v1/traces";
const POOL_IDLE: Duration = Duration::from_secs(20);
/// Part of an answer that is read. Those to successful requests are nearly empty.
const MAX_ANSWER: usize = 64 << 10;

/// Collector with the credential of this service. Redirects are not followed, and proxies are not used.
pub struct Collector {
    client: reqwest::Client,
    url: Url,
    header: Option<(HeaderName, HeaderValue)>,
}

/// Failure to hand spans over.
#[derive(Debug, thiserror::Error)]
pub enum CollectorError {
    #[error("the collector did not answer in time")]
    Timeout,
    #[error("the collector cannot be reached")]
    Unreachable(#[source] reqwest::Error),
    #[error("the collector answered with status {status}")]
    Status { status: u16, retry_after: Option<Duration> },
}

impl CollectorError {
    /// Returns true if another attempt may succeed, as OTLP has it.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            CollectorError::Timeout | CollectorError::Unreachable(_) => true,
            CollectorError::Status { status, .. } => matches!(status, 429 | 502 | 503 | 504),
        }
    }

    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            CollectorError::Timeout | CollectorError::Unreachable(_) => None,
            CollectorError::Status { retry_after, .. } => *retry_after,
        }
    }
}

/// Checks that a collector with these options accepts requests, with one that has no spans.
///
/// # Errors
/// `OptionsError` or `CollectorError`.
pub async fn probe(options: &ExporterOptions) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    Collector::new(options)?.send(payload::EMPTY.into()).await?;
    Ok(())
}

impl Collector {
    /// Builds the client without connecting.
    ///
    /// # Errors
    /// Options that are no URL or no header.
    pub fn new(options: &ExporterOptions) -> Result<Self, OptionsError> {
        let refused = || OptionsError::Url(options.url.clone());
        let mut url = Url::parse(&options.url).map_err(|_| refused())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refused());
        }
        if url.path() == "/" {
            url.set_path(PATH);
        }
        let client = reqwest::Client::builder()
            .connect_timeout(options.timing.timeout)
            .timeout(options.timing.timeout)
            .pool_idle_timeout(POOL_IDLE)
            .tcp_nodelay(true)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            // Loading the certificates takes longer than the rest of the start.
            .tls_built_in_root_certs(url.scheme() == "https")
            .build()
            .map_err(OptionsError::Client)?;
        let header = options.header.as_ref().map(|(name, value)| header(name, value)).transpose()?;
        Ok(Self { client, url, header })
    }

    /// Sends the body of a request. Returns the number of spans in it that the collector refused.
    ///
    /// # Errors
    /// `CollectorError`.
    pub async fn send(&self, body: Vec<u8>) -> Result<u64, CollectorError> {
        let mut request = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        if let Some((name, value)) = &self.header {
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(failed)?;
        let status = response.status();
        if !status.is_success() {
            let retry_after = retry_after(response.headers());
            return Err(CollectorError::Status { status: status.as_u16(), retry_after });
        }
        Ok(rejected(&beginning(response).await?))
    }
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), OptionsError> {
    let name = HeaderName::try_from(name).map_err(|error| OptionsError::Header(error.to_string()))?;
    let mut value = HeaderValue::try_from(value).map_err(|error| OptionsError::Header(error.to_string()))?;
    value.set_sensitive(true);
    Ok((name, value))
}

fn failed(error: reqwest::Error) -> CollectorError {
    // The URL may contain secrets that do not belong in a log.
    if error.is_timeout() { CollectorError::Timeout } else { CollectorError::Unreachable(error.without_url()) }
}

async fn beginning(mut response: Response) -> Result<Vec<u8>, CollectorError> {
    let mut read = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if read.len() + chunk.len() > MAX_ANSWER {
            break;
        }
        read.extend_from_slice(&chunk);
    }
    Ok(read)
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Answer {
    partial_success: PartialSuccess,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PartialSuccess {
    rejected_spans: Count,
}

/// Number, which JSON of Protobuf writes as text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Count {
    Number(u64),
    Text(String),
}

impl Default for Count {
    fn default() -> Self {
        Count::Number(0)
    }
}

/// Returns the number of refused spans. An answer in another encoding counts as a success.
fn rejected(answer: &[u8]) -> u64 {
    match serde_json::from_slice(answer).unwrap_or_else(|_| Answer::default()).partial_success.rejected_spans {
        Count::Number(count) => count,
        Count::Text(count) => count.parse().unwrap_or(0),
    }
}

/// Parses `Retry-After`. A date is relative to the collector's own clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok();
    let value = text(RETRY_AFTER)?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let now = httpdate::parse_http_date(text(DATE)?).ok()?;
    Some(httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::rejected;

    #[test]
    fn refused_spans_are_counted_in_both_spellings() {
        for (answer, expected) in [
            ("", 0),
            ("{}", 0),
            (r#"{"partialSuccess":{}}"#, 0),
            (r#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}"#, 3),
            (r#"{"partialSuccess":{"rejectedSpans":4}}"#, 4),
            ("\u{8}protobuf", 0),
        ] {
            assert_eq!(rejected(answer.as_bytes()), expected, "{answer}");
        }
    }
}
