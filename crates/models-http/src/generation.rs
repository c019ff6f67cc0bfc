//! Client of OpenAI-compatible chat endpoints.

mod completion;
mod dialect;
mod reasoning;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use models::ModelError;
use models::generation::{Generation, GenerationRequest, Generator};
use tokio::time::{Instant, sleep, timeout_at};

use self::dialect::Dialect;
use crate::cooldown::Cooldown;
use crate::endpoint::{Endpoint, unreachable};
use crate::retries::{Failure, Retries};

/// Maximum response size in bytes: the longest answers with their reasoning take a tenth.
const MAX_RESPONSE: usize = 4 << 20;
/// Time without requests after a timeout or a lost endpoint.
const COOLDOWN: Duration = Duration::from_secs(5);
/// Longest time without requests that the endpoint can ask for.
const MAX_COOLDOWN: Duration = Duration::from_secs(60);

/// Endpoint and limits of an `HttpGenerator`.
#[derive(Clone)]
pub struct HttpGeneratorOptions {
    /// Base URL, such as `http://host:8000/v1`; `/v1` is added to a URL without a path.
    pub url: String,
    /// Model name; empty for endpoints that serve one model.
    pub model: String,
    pub api_key: Option<String>,
    /// Timeout of one call, over all its attempts.
    pub timeout: Duration,
    /// Maximum number of generated tokens per call.
    pub max_tokens: u32,
    /// Delay before the first retry; it doubles with each further one.
    pub retry_delay: Duration,
}

impl fmt::Debug for HttpGeneratorOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, model, api_key: _, timeout, max_tokens, retry_delay: _ } = self;
        let mut shown = f.debug_struct("HttpGeneratorOptions");
        shown.field("url", url).field("model", model).field("timeout", timeout).field("max_tokens", max_tokens);
        shown.finish_non_exhaustive()
    }
}

/// Generator behind a `/chat/completions` endpoint.
pub struct HttpGenerator {
    endpoint: Endpoint,
    model: String,
    id: String,
    timeout: Duration,
    max_tokens: u32,
    retry_delay: Duration,
    dialect: Dialect,
    cooldown: Cooldown,
}

impl HttpGenerator {
    /// Builds the client without connecting.
    ///
    /// # Errors
    /// `Unreachable` when the URL is invalid or the key is not a valid header value.
    pub fn new(options: HttpGeneratorOptions) -> Result<Self, ModelError> {
        let HttpGeneratorOptions { url, model, api_key, timeout, max_tokens, retry_delay } = options;
        let url = completions_url(&url)?;
        let endpoint = Endpoint::new(url, api_key.as_deref(), timeout)?;
        let id = if model.is_empty() { "http".to_owned() } else { format!("http:{model}") };
        let (dialect, cooldown) = (Dialect::default(), Cooldown::default());
        Ok(Self { endpoint, model, id, timeout, max_tokens, retry_delay, dialect, cooldown })
    }

    /// Makes attempts until one succeeds, fails for good, or the next one would begin after the deadline.
    async fn with_retries(&self, request: &GenerationRequest, deadline: Instant) -> Result<Generation, Failure> {
        let mut retries = Retries::new(self.retry_delay);
        loop {
            let failure = match self.complete(request).await {
                Ok(generation) => return Ok(generation),
                Err(failure) => failure,
            };
            match retries.delay_after(&failure) {
                Some(delay) if Instant::now() + delay < deadline => sleep(delay).await,
                Some(_) | None => return Err(failure),
            }
        }
    }

    /// Makes one attempt. A rejected form of the request is replaced by a simpler one.
    async fn complete(&self, request: &GenerationRequest) -> Result<Generation, Failure> {
        let limit = request.max_tokens.min(self.max_tokens);
        let mut attempt = self.dialect.first(request.schema.is_some());
        loop {
            let body = attempt.body(&self.model, request, limit);
            let reply = self.endpoint.post(body, MAX_RESPONSE, self.timeout).await?;
            if reply.status == 200 {
                self.dialect.accepted(attempt, request.is_own_schema);
                return Ok(completion::read(&reply.body)?);
            }
            attempt = match attempt.after(&reply) {
                Some(simpler) => simpler,
                None => {
                    return Err(Failure { error: ModelError::Status(reply.status), retry_after: reply.retry_after });
                }
            };
        }
    }

    fn cool_down(&self, failure: &Failure) {
        match (&failure.error, failure.retry_after) {
            (ModelError::Timeout | ModelError::Unreachable(_), _) => self.cooldown.start(COOLDOWN),
            (ModelError::Status(429 | 503), Some(length)) => self.cooldown.start(length.min(MAX_COOLDOWN)),
            _ => {}
        }
    }
}

#[async_trait]
impl Generator for HttpGenerator {
    fn id(&self) -> &str {
        &self.id
    }

    fn max_tokens(&self) -> u32 {
        self.max_tokens
    }

    async fn generate(&self, request: &GenerationRequest) -> Result<Generation, ModelError> {
        let deadline = Instant::now() + self.timeout;
        // A lost endpoint would cost every call its retries. One late answer must not cost other callers theirs.
        self.cooldown.wait_until(deadline).await?;
        let outcome = match timeout_at(deadline, self.with_retries(request, deadline)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(ModelError::Timeout.into()),
        };
        outcome.map_err(|failure| {
            self.cool_down(&failure);
            failure.error
        })
    }
}

fn completions_url(base: &str) -> Result<reqwest::Url, ModelError> {
    const PATH: &str = "/chat/completions";
    let mut url = reqwest::Url::parse(base).map_err(unreachable)?;
    let path = match url.path().trim_end_matches('/') {
        "" => format!("/v1{PATH}"),
        path if path.ends_with(PATH) => path.to_owned(),
        path => format!("{path}{PATH}"),
    };
    url.set_path(&path);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::completions_url;

    #[test]
    fn path_is_added_to_base_urls() {
        for (base, expected) in [
            ("http://host:8000", "http://host:8000/v1/chat/completions"),
            ("http://host:8000/", "http://host:8000/v1/chat/completions"),
            ("http://host:8000/v1", "http://host:8000/v1/chat/completions"),
            ("http://host:8000/v1/", "http://host:8000/v1/chat/completions"),
            ("https://host/openai/v1/chat/completions", "https://host/openai/v1/chat/completions"),
        ] {
            assert_eq!(completions_url(base).expect("a URL").as_str(), expected);
        }
        assert!(completions_url("nowhere").is_err());
    }
}
