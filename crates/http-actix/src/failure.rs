use std::time::Duration;

use api_types::{ErrorBody, ErrorCode};
use app::Quota;
use app::error::BoxError;
use serde_json::{Map, Value};

/// Longest echo of a caller's text, in characters: an error must not return a megabyte to its sender.
const MAX_ECHO: usize = 500;

const RETRY_AFTER_SECONDS: &str = "retry_after_seconds";

/// The error response to a request, with a cause that is only logged.
#[derive(Debug)]
pub(crate) struct Failure {
    pub code: ErrorCode,
    pub message: String,
    pub details: Map<String, Value>,
    pub cause: Option<BoxError>,
    /// The methods of the path, separated by commas, for `method_not_allowed`.
    pub allow: Option<String>,
    /// Advice for paths outside the API; a field of their envelope.
    pub hint: Option<String>,
}

impl Failure {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Failure { code, message: message.into(), details: Map::new(), cause: None, allow: None, hint: None }
    }

    /// An invalid value. `field` is its dotted path.
    pub fn invalid(field: impl Into<String>, message: impl Into<String>) -> Self {
        Failure::new(ErrorCode::ValidationError, clipped(message.into())).with("field", field.into())
    }

    /// A request that cannot be parsed; `error` is the parser's message.
    pub fn malformed(message: impl Into<String>, error: impl Into<String>) -> Self {
        Failure::new(ErrorCode::ValidationError, clipped(message.into())).with("error", clipped(error.into()))
    }

    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// The public part.
    pub fn body(&self) -> ErrorBody {
        ErrorBody { code: self.code.as_str().to_owned(), message: self.message.clone(), details: self.details.clone() }
    }

    /// A request that the server is too busy for. The wait is in the details, for clients that see no headers.
    pub fn overloaded(message: impl Into<String>, retry_after: Duration) -> Self {
        let seconds = retry_after.as_secs_f64().ceil().max(1.0) as u64;
        Failure::new(ErrorCode::Overloaded, message).with(RETRY_AFTER_SECONDS, seconds)
    }

    /// A request whose credential is not checked, because too many of its source were rejected.
    pub fn too_many_rejections(wait: Duration) -> Self {
        let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
        Failure::new(ErrorCode::RateLimited, "too many rejected credentials from this address: wait, and check the key")
            .with("limit", "rejected_credentials")
            .with(RETRY_AFTER_SECONDS, seconds)
    }

    /// Value of `Retry-After` in seconds, which only `overloaded` has: a 429 has the wait in its details or in `X-RateLimit-Reset`.
    pub fn retry_after(&self) -> Option<u64> {
        self.details.get(RETRY_AFTER_SECONDS).filter(|_| self.code == ErrorCode::Overloaded)?.as_u64()
    }

    pub fn internal(cause: impl Into<BoxError>) -> Self {
        let mut failure = Failure::new(ErrorCode::InternalError, "the server failed to answer; it is safe to retry");
        failure.cause = Some(cause.into());
        failure
    }
}

pub(crate) fn clipped(text: String) -> String {
    match text.char_indices().nth(MAX_ECHO) {
        None => text,
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

/// Names the quota, its limit and its use. Omits the numbers of the server's disk, which concern its operator only.
fn quota_exceeded(quota: Quota, message: String) -> Failure {
    let failure = Failure::new(ErrorCode::QuotaExceeded, message);
    match quota {
        Quota::Files { used, limit } => {
            failure.with("field", "filename").with("quota", "files").with("used", used).with("limit", limit)
        }
        Quota::Bytes { size: _, used, limit } => {
            failure.with("field", "size").with("quota", "bytes").with("used", used).with("limit", limit)
        }
        Quota::Keys { used, limit } | Quota::DailyKeys { used, limit } => {
            failure.with("quota", "keys").with("used", used).with("limit", limit)
        }
        Quota::Webhooks { limit } => failure.with("quota", "webhooks").with("used", limit).with("limit", limit),
        Quota::Disk => failure.with("quota", "disk"),
    }
}

impl From<app::Error> for Failure {
    fn from(error: app::Error) -> Self {
        use app::Error;
        let message = error.to_string();
        match error {
            Error::Invalid { field, message } => Failure::invalid(field, message),
            Error::DocumentNotFound => Failure::new(ErrorCode::DocumentNotFound, message),
            Error::SearchNotFound => Failure::new(ErrorCode::SearchNotFound, message),
            Error::SyncNotFound => Failure::new(ErrorCode::SyncNotFound, message),
            Error::FileNotFound => Failure::new(ErrorCode::FileNotFound, message).with("field", "name"),
            Error::KeyNotFound => Failure::new(ErrorCode::KeyNotFound, message),
            Error::InvalidCredential => Failure::new(ErrorCode::InvalidApiKey, message),
            Error::WebhookNotFound => Failure::new(ErrorCode::WebhookNotFound, message),
            Error::CrawlNotFound { .. } => {
                Failure::new(ErrorCode::CrawlNotFound, clipped(message)).with("field", "name")
            }
            Error::ResearchNotFound => Failure::new(ErrorCode::ResearchNotFound, message),
            Error::ResearchConcurrency { limit } => {
                Failure::new(ErrorCode::RateLimited, message).with("limit", "research_concurrency").with("max", limit)
            }
            Error::ResearchReaders { limit } => {
                Failure::new(ErrorCode::RateLimited, message).with("limit", "research_readers").with("max", limit)
            }
            Error::FileTooLarge { size: _, max_object_bytes } => Failure::new(ErrorCode::FileTooLarge, message)
                .with("field", "size")
                .with("max_object_bytes", max_object_bytes),
            Error::UnsupportedFileType { .. } => {
                Failure::new(ErrorCode::UnsupportedFileType, clipped(message)).with("field", "filename")
            }
            Error::QuotaExceeded(quota) => quota_exceeded(quota, message),
            Error::InsufficientBalance => Failure::new(ErrorCode::InsufficientBalance, message),
            Error::Unavailable { backend: _, source } => {
                Failure { cause: Some(source), ..Failure::new(ErrorCode::ProviderUnavailable, message) }
            }
            Error::Overloaded { message: _, retry_after } => Failure::overloaded(message, retry_after),
            Error::NoRetrieval => Failure::new(ErrorCode::RetrievalNotConfigured, message),
            Error::Internal(source) => Failure::internal(source),
        }
    }
}
