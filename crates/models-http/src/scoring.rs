#![doc = include_str!("../README.md")]

mod dialect;
mod pause;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::try_join_all;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use rerank::{RerankError, Reranker};

use crate::dialect::Dialect;
use crate::pause::Pause;

/// Texts of one request.
const BATCH: usize = 32;
/// A longer answer is none: a score takes some 50 bytes.
const MAX_ANSWER: usize = 1 << 20;
const POOL_IDLE: Duration = Duration::from_secs(20);

#[derive(Clone)]
pub struct HttpRerankerOptions {
    /// The endpoint itself, such as `http://host:8080/rerank`; `/rerank` is added to an address without a path.
    pub url: String,
    /// Empty for endpoints that serve one model.
    pub model: String,
    pub api_key: Option<String>,
    /// For one call, over all its batches.
    pub timeout: Duration,
}

impl fmt::Debug for HttpRerankerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, model, api_key: _, timeout } = self;
        let mut shown = f.debug_struct("HttpRerankerOptions");
        shown.field("url", url).field("model", model).field("timeout", timeout).finish_non_exhaustive()
    }
}

/// Asks a `/rerank` endpoint.
pub struct HttpReranker {
    client: reqwest::Client,
    url: reqwest::Url,
    model: String,
    version: String,
    authorization: Option<HeaderValue>,
    timeout: Duration,
    dialect: Dialect,
    pause: Pause,
    well: AtomicBool,
}

impl HttpReranker {
    /// Does not reach out yet.
    ///
    /// # Errors
    /// `Unreachable` when the address is none or the key cannot be sent.
    pub fn new(options: HttpRerankerOptions) -> Result<Self, RerankError> {
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
            // Reading the certificates takes longer than the rest of a start.
            .tls_built_in_root_certs(url.scheme() == "https")
            .build()
            .map_err(unreachable)?;
        let version = if model.is_empty() { "http".to_owned() } else { format!("http:{model}") };
        let well = AtomicBool::new(true);
        let (dialect, pause) = (Dialect::default(), Pause::default());
        Ok(Self { client, url, model, version, authorization, timeout, dialect, pause, well })
    }

    async fn batch(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, RerankError> {
        let first = self.dialect.known();
        let (status, answer) = self.send(first.body(&self.model, query, texts)?).await?;
        if status == 200 {
            return first.scores(&answer, texts.len());
        }
        // An endpoint of the other dialect misses a field; any other refusal is repeated in it.
        if !matches!(status, 400 | 422) {
            return Err(RerankError::Status(status));
        }
        let second = first.other();
        let (status, answer) = self.send(second.body(&self.model, query, texts)?).await?;
        if status != 200 {
            return Err(RerankError::Status(status));
        }
        let scores = second.scores(&answer, texts.len())?;
        self.dialect.remember(second);
        Ok(scores)
    }

    async fn send(&self, body: Vec<u8>) -> Result<(u16, Vec<u8>), RerankError> {
        let mut request = self.client.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        if let Some(key) = &self.authorization {
            request = request.header(AUTHORIZATION, key.clone());
        }
        let mut response = request.send().await.map_err(late_or_unreachable)?;
        let mut answer = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(late_or_unreachable)? {
            if answer.len() + chunk.len() > MAX_ANSWER {
                return Err(RerankError::Nonsense(format!("it is longer than {MAX_ANSWER} bytes")));
            }
            answer.extend_from_slice(&chunk);
        }
        Ok((response.status().as_u16(), answer))
    }
}

#[async_trait]
impl Reranker for HttpReranker {
    async fn score(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, RerankError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        // An endpoint that hangs would cost every search the whole limit.
        if self.pause.is_on() {
            return Err(RerankError::LeftAlone);
        }
        let batches = try_join_all(texts.chunks(BATCH).map(|batch| self.batch(query, batch)));
        let outcome = match tokio::time::timeout(self.timeout, batches).await {
            Ok(outcome) => outcome.map(|batches| batches.concat()),
            Err(_) => Err(RerankError::Late),
        };
        if matches!(outcome, Err(RerankError::Late)) {
            self.pause.start();
        }
        self.well.store(outcome.is_ok(), Ordering::Relaxed);
        outcome
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn is_well(&self) -> bool {
        self.well.load(Ordering::Relaxed)
    }
}

fn unreachable(error: impl std::error::Error + Send + Sync + 'static) -> RerankError {
    RerankError::Unreachable(error.into())
}

fn late_or_unreachable(error: reqwest::Error) -> RerankError {
    // The address may hold what nobody is to read in a log.
    if error.is_timeout() { RerankError::Late } else { unreachable(error.without_url()) }
}
