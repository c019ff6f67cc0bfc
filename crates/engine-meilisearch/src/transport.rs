//! HTTP transport of the client library, with timeouts and size limits that its own transport lacks.

use std::io;
use std::time::Duration;

use async_trait::async_trait;
use futures_io::AsyncRead;
use futures_util::AsyncReadExt;
use meilisearch_sdk::errors::{Error, MeilisearchCommunicationError, MeilisearchError};
use meilisearch_sdk::request::{HttpClient, Method};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use serde::Serialize;
use serde::de::DeserializeOwned;
use trace_context::{ActiveSpan, SpanKind};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Timeout of a request. Callers of searches apply a shorter one.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Shorter than the server's keep-alive timeout, so that requests rarely hit a closing connection.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum size of a response in bytes.
const MAX_RESPONSE: usize = 64 << 20;

#[derive(Clone)]
pub struct Transport {
    client: reqwest::Client,
    authorization: Option<HeaderValue>,
}

impl Transport {
    /// Creates a transport, with root certificates if `secure`.
    ///
    /// # Errors
    ///
    /// `InvalidRequest` if the key is not a valid header value.
    pub fn new(api_key: Option<&str>, secure: bool) -> Result<Self, Error> {
        let authorization = match api_key {
            None => None,
            Some(key) => {
                let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| Error::InvalidRequest)?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        let client = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            .pool_idle_timeout(POOL_IDLE_TIMEOUT)
            // Avoids delays of 40 ms by Nagle's algorithm.
            .tcp_nodelay(true)
            .http1_only()
            // Responses are small and the server is close: compression costs more than it saves.
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            // Loading certificates takes longer than the rest of the startup.
            .tls_built_in_root_certs(secure)
            .build()
            .map_err(other)?;
        Ok(Self { client, authorization })
    }

    /// Sends a request, as a span of the current trace.
    async fn send<Output: DeserializeOwned>(
        &self,
        verb: reqwest::Method,
        url: &str,
        body: Option<(Vec<u8>, &str)>,
        expected_status: u16,
    ) -> Result<Output, Error> {
        let span = ActiveSpan::begin("meilisearch", SpanKind::Client);
        span.try_around(self.exchange(verb, url, body, expected_status)).await
    }

    async fn exchange<Output: DeserializeOwned>(
        &self,
        verb: reqwest::Method,
        url: &str,
        body: Option<(Vec<u8>, &str)>,
        expected_status: u16,
    ) -> Result<Output, Error> {
        let mut request = self.client.request(verb, url);
        if let Some(key) = &self.authorization {
            request = request.header(AUTHORIZATION, key.clone());
        }
        if let Some((body, content_type)) = body {
            request = request.header(CONTENT_TYPE, content_type).body(body);
        }
        for (name, value) in trace_context::headers() {
            request = request.header(name, value);
        }
        let mut response = request.send().await.map_err(other)?;
        let status = response.status().as_u16();
        let mut received = Vec::with_capacity(response.content_length().unwrap_or(0).min(MAX_RESPONSE as u64) as usize);
        while let Some(chunk) = response.chunk().await.map_err(other)? {
            if received.len() + chunk.len() > MAX_RESPONSE {
                return Err(other(io::Error::other(format!("response exceeds {MAX_RESPONSE} bytes"))));
            }
            received.extend_from_slice(&chunk);
        }
        if status == expected_status {
            let json = if received.is_empty() { b"null" } else { received.as_slice() };
            return Ok(serde_json::from_slice(json)?);
        }
        match serde_json::from_slice::<MeilisearchError>(&received) {
            Ok(error) => Err(error.into()),
            Err(_) => {
                let url = url.to_owned();
                Err(MeilisearchCommunicationError { status_code: status, message: None, url }.into())
            }
        }
    }
}

fn other(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Other(Box::new(error))
}

fn verb<Query, Body>(method: &Method<Query, Body>) -> reqwest::Method {
    match method {
        Method::Get { .. } => reqwest::Method::GET,
        Method::Post { .. } => reqwest::Method::POST,
        Method::Patch { .. } => reqwest::Method::PATCH,
        Method::Put { .. } => reqwest::Method::PUT,
        Method::Delete { .. } => reqwest::Method::DELETE,
    }
}

fn with_query<Query: Serialize, Body>(url: &str, method: &Method<Query, Body>) -> Result<String, Error> {
    let query = yaup::to_string(method.query())?;
    Ok(format!("{url}{query}"))
}

#[async_trait]
impl HttpClient for Transport {
    async fn request<Query, Body, Output>(
        &self,
        url: &str,
        method: Method<Query, Body>,
        expected_status_code: u16,
    ) -> Result<Output, Error>
    where
        Query: Serialize + Send + Sync,
        Body: Serialize + Send + Sync,
        Output: DeserializeOwned + 'static + Send,
    {
        let url = with_query(url, &method)?;
        let verb = verb(&method);
        let body = match method.into_body() {
            Some(body) => Some((serde_json::to_vec(&body)?, "application/json")),
            None => None,
        };
        self.send(verb, &url, body, expected_status_code).await
    }

    async fn stream_request<
        Query: Serialize + Send + Sync,
        Body: AsyncRead + Send + Sync + 'static,
        Output: DeserializeOwned + 'static,
    >(
        &self,
        url: &str,
        method: Method<Query, Body>,
        content_type: &str,
        expected_status_code: u16,
    ) -> Result<Output, Error> {
        let url = with_query(url, &method)?;
        let verb = verb(&method);
        let body = match method.into_body() {
            Some(body) => {
                let mut bytes = Vec::new();
                std::pin::pin!(body).read_to_end(&mut bytes).await.map_err(other)?;
                Some((bytes, content_type))
            }
            None => None,
        };
        self.send(verb, &url, body, expected_status_code).await
    }

    fn is_tokio(&self) -> bool {
        true
    }
}
