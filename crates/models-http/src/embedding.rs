//! Client of embeddings endpoints.

mod dialect;
mod texts;
mod vectors;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::try_join_all;
use models::ModelError;
use models::embedding::{Embedder, TextKind};
use models::health::Health;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use self::dialect::Dialect;
use self::vectors::Dimensions;
use crate::cooldown::Cooldown;
use crate::endpoint::{Endpoint, unreachable};
use crate::late_calls::LateCalls;
use crate::lengths::{MIN_CHARS, is_too_long, shorter};
use crate::retries::{Failure, Retries};

/// Requests for documents at a time. More would delay queries at the endpoint.
const DOCUMENT_REQUESTS: usize = 4;
/// Requests for queries at a time.
const QUERY_REQUESTS: usize = 64;
/// Time without requests after a 429 without `Retry-After`.
const COOLDOWN: Duration = Duration::from_secs(1);
/// Longest time without requests that the endpoint can ask for.
const MAX_COOLDOWN: Duration = Duration::from_secs(10 * 60);

/// Endpoint and limits of an `HttpEmbedder`.
#[derive(Clone)]
pub struct HttpEmbedderOptions {
    /// Endpoint URL, such as `http://host:8080/v1`. The README has the rules for its path and format.
    pub url: String,
    /// Model name; empty for endpoints that serve one model.
    pub model: String,
    pub api_key: Option<String>,
    /// Requested number of components; 0 for the model's own.
    pub dimensions: usize,
    pub query_prefix: String,
    pub document_prefix: String,
    /// Maximum number of texts per request.
    pub batch: usize,
    /// Timeout of one call for queries.
    pub timeout: Duration,
    /// Timeout of one batch of documents, over all its attempts.
    pub document_timeout: Duration,
    /// Delay before the first retry; it doubles with each further one.
    pub retry_delay: Duration,
}

impl fmt::Debug for HttpEmbedderOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("HttpEmbedderOptions");
        shown.field("url", &self.url).field("model", &self.model).field("dimensions", &self.dimensions);
        shown.field("batch", &self.batch).field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// Embedder behind an embeddings endpoint.
pub struct HttpEmbedder {
    endpoint: Endpoint,
    dialect: Dialect,
    model: String,
    version: String,
    query_prefix: String,
    document_prefix: String,
    batch: usize,
    timeout: Duration,
    document_timeout: Duration,
    retry_delay: Duration,
    dimensions: Dimensions,
    query_requests: Semaphore,
    document_requests: Semaphore,
    /// The endpoint asked for a pause.
    documents_limited: Cooldown,
    /// The endpoint asked for a pause in reply to a query. A backlog of documents exceeds limits that leave room for queries.
    queries_limited: Cooldown,
    late_queries: LateCalls,
    health: Health,
}

impl HttpEmbedder {
    /// Builds the client without connecting.
    ///
    /// # Errors
    /// `Unreachable` when the URL is invalid or the key is not a valid header value.
    pub fn new(options: HttpEmbedderOptions) -> Result<Self, ModelError> {
        let mut url = reqwest::Url::parse(&options.url).map_err(unreachable)?;
        let dialect = Dialect::choose(&mut url, &options.model);
        let longest = options.document_timeout.max(options.timeout);
        Ok(Self {
            endpoint: Endpoint::new(url, options.api_key.as_deref(), longest)?,
            dialect,
            version: version(&options, dialect),
            batch: options.batch.clamp(1, dialect.max_batch()),
            dimensions: Dimensions::new(options.dimensions),
            model: options.model,
            query_prefix: options.query_prefix,
            document_prefix: options.document_prefix,
            timeout: options.timeout,
            document_timeout: options.document_timeout,
            retry_delay: options.retry_delay,
            query_requests: Semaphore::new(QUERY_REQUESTS),
            document_requests: Semaphore::new(DOCUMENT_REQUESTS),
            documents_limited: Cooldown::default(),
            queries_limited: Cooldown::default(),
            late_queries: LateCalls::default(),
            health: Health::default(),
        })
    }

    /// Makes one attempt: a search waits for it.
    async fn queries(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        if self.queries_limited.is_active() || self.late_queries.are_paused() {
            return Err(ModelError::CoolingDown);
        }
        let sent = std::time::Instant::now();
        let batches = texts::batches(texts, self.batch).map(|batch| self.query_batch(batch));
        let outcome = match timeout(self.timeout, try_join_all(batches)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(ModelError::Timeout.into()),
        };
        match outcome {
            Ok(batches) => {
                // Without texts there was no request.
                if !texts.is_empty() {
                    self.late_queries.note_answer();
                }
                Ok(batches.concat())
            }
            Err(failure) => {
                if matches!(failure.error, ModelError::Timeout) {
                    self.late_queries.note_late(sent);
                }
                self.remember_limit(TextKind::Query, &failure);
                Err(failure.error)
            }
        }
    }

    async fn query_batch(&self, batch: &[String]) -> Result<Vec<Vec<f32>>, Failure> {
        let _permit = self.query_requests.acquire().await;
        self.request(TextKind::Query, batch).await
    }

    async fn documents(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        let batches = texts::batches(texts, self.batch).map(|batch| self.document_batch(batch));
        Ok(try_join_all(batches).await?.concat())
    }

    async fn document_batch(&self, batch: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        let _permit = self.document_requests.acquire().await;
        let deadline = Instant::now() + self.document_timeout;
        let vectors = timeout_at(deadline, self.with_retries(batch, deadline)).await;
        vectors.unwrap_or(Err(ModelError::Timeout))
    }

    /// Makes attempts until one succeeds, fails for good, or the next one would begin after the deadline.
    async fn with_retries(&self, batch: &[String], deadline: Instant) -> Result<Vec<Vec<f32>>, ModelError> {
        let mut retries = Retries::new(self.retry_delay);
        loop {
            self.documents_limited.wait_until(deadline).await?;
            let failure = match self.request(TextKind::Document, batch).await {
                Ok(vectors) => return Ok(vectors),
                Err(failure) => failure,
            };
            self.remember_limit(TextKind::Document, &failure);
            match retries.delay_after(&failure) {
                Some(delay) if Instant::now() + delay < deadline => sleep(delay).await,
                Some(_) | None => return Err(failure.error),
            }
        }
    }

    /// Makes one attempt. A batch that the endpoint finds too long is divided: a text has the same vector beside any others.
    async fn request(&self, kind: TextKind, batch: &[String]) -> Result<Vec<Vec<f32>>, Failure> {
        let mut vectors = Vec::with_capacity(batch.len());
        let mut parts = vec![batch];
        while let Some(part) = parts.pop() {
            match self.request_part(kind, part).await? {
                Some(embedded) => vectors.extend(embedded),
                None => {
                    let (first, second) = part.split_at(part.len() / 2);
                    parts.extend([second, first]);
                }
            }
        }
        Ok(vectors)
    }

    /// Requests the vectors of some texts; `None` if one of several is too long. A single one is shortened, since servers other than
    /// TEI, Cohere and Jina do not cut texts to the model's limit of tokens. Its prefix stays: the vector of a prefix alone would be the
    /// same for all texts.
    async fn request_part(&self, kind: TextKind, batch: &[String]) -> Result<Option<Vec<Vec<f32>>>, Failure> {
        let (prefix, call_time) = match kind {
            TextKind::Query => (&self.query_prefix, self.timeout),
            TextKind::Document => (&self.document_prefix, self.document_timeout),
        };
        let (min_chars, mut max_chars) = texts::lengths_beside(prefix);
        loop {
            let cut: Vec<&str> = batch.iter().map(|text| texts::beginning(text, max_chars)).collect();
            let texts: Vec<String> = cut.iter().map(|text| texts::with_prefix(prefix, text)).collect();
            let body = self.dialect.body(&self.model, kind, &texts, self.dimensions.requested())?;
            let reply = self.endpoint.post(body, self.dimensions.max_response(&texts), call_time).await?;
            if reply.status == 200 {
                let vectors = self.dialect.read(&reply.body)?;
                return Ok(Some(self.dimensions.check(vectors, texts.len())?));
            }
            let failure = Failure { error: ModelError::Status(reply.status), retry_after: reply.retry_after };
            if !is_too_long(&reply) {
                return Err(failure);
            }
            if batch.len() > 1 && shorter(&texts, MIN_CHARS).is_some() {
                return Ok(None);
            }
            max_chars = shorter(&cut, min_chars).ok_or(failure)?;
        }
    }

    /// Starts the pause that the endpoint asks for: of documents, and of queries only if it met one.
    fn remember_limit(&self, kind: TextKind, failure: &Failure) {
        let length = match (&failure.error, failure.retry_after) {
            (ModelError::Status(429 | 503), Some(length)) => length.min(MAX_COOLDOWN),
            (ModelError::Status(429), None) => COOLDOWN,
            _ => return,
        };
        self.documents_limited.start(length);
        if kind == TextKind::Query {
            self.queries_limited.start(length);
        }
    }
}

#[async_trait]
impl Embedder for HttpEmbedder {
    async fn embed(&self, kind: TextKind, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        let outcome = match kind {
            TextKind::Query => self.queries(texts).await,
            TextKind::Document => self.documents(texts).await,
        };
        self.health.note(texts.len(), &outcome);
        outcome
    }

    fn dimensions(&self) -> Option<usize> {
        self.dimensions.known()
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn is_healthy(&self) -> bool {
        self.health.is_good()
    }
}

/// Returns `http:MODEL`, with the requested dimensions and a digest of the texts and tasks that tell queries and documents apart.
fn version(options: &HttpEmbedderOptions, dialect: Dialect) -> String {
    let mut version = "http".to_owned();
    if !options.model.is_empty() {
        version.push_str(&format!(":{}", options.model));
    }
    if options.dimensions > 0 {
        version.push_str(&format!(":d{}", options.dimensions));
    }
    let kinds = [&options.query_prefix, &options.document_prefix, dialect.task(&options.model, TextKind::Document)];
    if kinds.iter().any(|text| !text.is_empty()) {
        // The separator is no part of a text with a meaning.
        let digest = Sha256::digest(kinds.join("\0"));
        version.push_str(&format!(":p{}", hex::encode(&digest[..4])));
    }
    version
}
