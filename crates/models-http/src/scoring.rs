//! Client of `/rerank` endpoints.

mod dialect;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::try_join_all;
use models::ModelError;
use models::scoring::Reranker;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};

use self::dialect::Dialect;
use crate::cooldown::Cooldown;

/// Texts per request.
const BATCH: usize = 32;
/// Maximum response size in bytes; a score takes about 50.
const MAX_RESPONSE: usize = 1 << 20;
const POOL_IDLE: Duration = Duration::from_secs(20);

/// Endpoint and limits of an `HttpReranker`.
#[derive(Clone)]
pub struct HttpRerankerOptions {
    /// Endpoint URL, such as `http://host:8080/rerank`; `/rerank` is added to a URL without a path.
    pub url: String,
    /// Model name; empty for endpoints that serve one model.
    pub model: String,
    pub api_key: Option<String>,
    /// Timeout of one call, over all its batches.
    pub timeout: Duration,
}

impl fmt::Debug for HttpRerankerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, model, api_key: _, timeout } = self;
        let mut shown = f.debug_struct("HttpRerankerOptions");
        shown.field("url", url).field("model", model).field("timeout", timeout).finish_non_exhaustive()
    }
}

/// Reranker behind a `/rerank` endpoint.
pub struct HttpReranker {
    client: reqwest::Client,
    url: reqwest::Url,
    model: String,
    version: String,
    authorization: Option<HeaderValue>,
    timeout: Duration,
    dialect: Dialect,
    cooldown: Cooldown,
    healthy: AtomicBool,
}

impl HttpReranker {
    /// Builds the client without connecting.
    ///
    /// # Errors
    /// `Unreachable` when the URL is invalid or the key is not a valid header value.
    pub fn new(options: HttpRerankerOptions) -> Result<Self, ModelError> {
        let HttpRerankerOptions { url, model, api_key, timeout } = options;
        let mut url = reqwest::Url::parse(&url).map_err(unreachable)?;
        if url.path() == "/" {
            url.set_path("/rerank");
        }
        let authorization = match api_key {
            None => None,
            Some(key) => {
                let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(unreachable)?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        let client = reqwest::Client::builder()
            .connect_timeout(timeout)
            .timeout(timeout)
            .pool_idle_timeout(POOL_IDLE)
            .tcp_nodelay(true)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            // Loading the certificates takes longer than the rest of the start.
            .tls_built_in_root_certs(url.scheme() == "https")
            .build()
            .map_err(unreachable)?;
        let version = if model.is_empty() { "http".to_owned() } else { format!("http:{model}") };
        let healthy = AtomicBool::new(true);
        let (dialect, cooldown) = (Dialect::default(), Cooldown::default());
        Ok(Self { client, url, model, version, authorization, timeout, dialect, cooldown, healthy })
    }

    async fn batch(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, ModelError> {
        let first = self.dialect.last_accepted();
        let (status, body) = self.send(first.body(&self.model, query, texts)?).await?;
        if status == 200 {
            return first.scores(&body, texts.len());
        }
        // An endpoint of the other dialect misses a field. Any other rejection is repeated in that dialect.
        if !matches!(status, 400 | 422) {
            return Err(ModelError::Status(status));
        }
        let second = first.other();
        let (status, body) = self.send(second.body(&self.model, query, texts)?).await?;
        if status != 200 {
            return Err(ModelError::Status(status));
        }
        let scores = second.scores(&body, texts.len())?;
        self.dialect.remember(second);
        Ok(scores)
    }

    async fn send(&self, body: Vec<u8>) -> Result<(u16, Vec<u8>), ModelError> {
        let mut request = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        if let Some(key) = &self.authorization {
            request = request.header(AUTHORIZATION, key.clone());
        }
        let mut response = request.send().await.map_err(timeout_or_unreachable)?;
        let mut received = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(timeout_or_unreachable)? {
            if received.len() + chunk.len() > MAX_RESPONSE {
                return Err(ModelError::InvalidResponse(format!("longer than {MAX_RESPONSE} bytes")));
            }
            received.extend_from_slice(&chunk);
        }
        Ok((response.status().as_u16(), received))
    }
}

#[async_trait]
impl Reranker for HttpReranker {
    async fn score(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, ModelError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        // A hanging endpoint would cost every search the whole timeout.
        if self.cooldown.is_active() {
            return Err(ModelError::CoolingDown);
        }
        let batches = try_join_all(texts.chunks(BATCH).map(|batch| self.batch(query, batch)));
        let outcome = match tokio::time::timeout(self.timeout, batches).await {
            Ok(outcome) => outcome.map(|batches| batches.concat()),
            Err(_) => Err(ModelError::Timeout),
        };
        if matches!(outcome, Err(ModelError::Timeout)) {
            self.cooldown.start();
        }
        self.healthy.store(outcome.is_ok(), Ordering::Relaxed);
        outcome
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn is_healthy(&self) -> bool {
        self.healthy.load(Ordering::Relaxed)
    }
}

fn unreachable(error: impl std::error::Error + Send + Sync + 'static) -> ModelError {
    ModelError::Unreachable(error.into())
}

fn timeout_or_unreachable(error: reqwest::Error) -> ModelError {
    // The URL may contain secrets that do not belong in a log.
    if error.is_timeout() { ModelError::Timeout } else { unreachable(error.without_url()) }
}
