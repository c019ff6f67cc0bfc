//! Client of `/rerank` endpoints.

mod accepted_length;
mod dialect;

use std::fmt;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::future::try_join_all;
use models::ModelError;
use models::health::Health;
use models::scoring::Reranker;

use self::accepted_length::AcceptedLength;
use self::dialect::{Dialect, Form};
use crate::endpoint::{Endpoint, Reply, unreachable};
use crate::late_calls::LateCalls;
use crate::lengths::{MIN_CHARS, is_too_long, shorter};

/// Texts per request.
const BATCH: usize = 32;
/// Maximum response size in bytes; a score takes about 50.
const MAX_RESPONSE: usize = 1 << 20;

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
    endpoint: Endpoint,
    model: String,
    version: String,
    timeout: Duration,
    dialect: Dialect,
    accepted_length: AcceptedLength,
    late_calls: LateCalls,
    health: Health,
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
        let endpoint = Endpoint::new(url, api_key.as_deref(), timeout)?;
        let version = if model.is_empty() { "http".to_owned() } else { format!("http:{model}") };
        Ok(Self {
            endpoint,
            model,
            version,
            timeout,
            dialect: Dialect::default(),
            accepted_length: AcceptedLength::default(),
            late_calls: LateCalls::default(),
            health: Health::default(),
        })
    }

    async fn batch(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, ModelError> {
        let first = self.dialect.last_accepted();
        let Reply { status, body, .. } = self.request(first, query, texts).await?;
        if status == 200 {
            return first.scores(&body, texts.len());
        }
        // An endpoint of the other dialect misses a field. Any other rejection is repeated in that dialect.
        if !matches!(status, 400 | 422) {
            return Err(ModelError::Status(status));
        }
        let second = first.other();
        let Reply { status, body, .. } = self.request(second, query, texts).await?;
        if status != 200 {
            return Err(ModelError::Status(status));
        }
        let scores = second.scores(&body, texts.len())?;
        self.dialect.remember(second);
        Ok(scores)
    }

    /// Sends one batch. If the endpoint finds its texts too long, they are halved until it accepts them or they are short: servers
    /// other than TEI, Cohere and Jina do not cut texts to the model's limit of tokens. The scores need no whole texts, and without
    /// scores the search would lose its ranking.
    async fn request(&self, form: Form, query: &str, texts: &[String]) -> Result<Reply, ModelError> {
        let query_chars = query.chars().count();
        let first_max = self.accepted_length.beside(query_chars);
        let mut max_chars = first_max;
        loop {
            let cut: Vec<String> = texts.iter().map(|text| text.chars().take(max_chars).collect()).collect();
            let body = form.body(&self.model, query, &cut)?;
            let reply = self.endpoint.post(body, MAX_RESPONSE, self.timeout).await?;
            match shorter(&cut, MIN_CHARS) {
                Some(half) if is_too_long(&reply) => max_chars = half,
                Some(_) | None => {
                    if reply.status == 200 && max_chars < first_max {
                        self.accepted_length.remember(query_chars, max_chars);
                    }
                    return Ok(reply);
                }
            }
        }
    }
}

#[async_trait]
impl Reranker for HttpReranker {
    async fn score(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, ModelError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        if self.late_calls.are_paused() {
            return Err(ModelError::CoolingDown);
        }
        let sent = Instant::now();
        let batches = try_join_all(texts.chunks(BATCH).map(|batch| self.batch(query, batch)));
        let outcome = match tokio::time::timeout(self.timeout, batches).await {
            Ok(outcome) => outcome.map(|batches| batches.concat()),
            Err(_) => Err(ModelError::Timeout),
        };
        match &outcome {
            Ok(_) => self.late_calls.note_answer(),
            Err(ModelError::Timeout) => self.late_calls.note_late(sent),
            Err(_) => {}
        }
        self.health.note(texts.len(), &outcome);
        outcome
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn is_healthy(&self) -> bool {
        self.health.is_good()
    }
}
