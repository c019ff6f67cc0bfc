use std::error::Error as StdError;
use std::path::PathBuf;
use std::time::Duration;

use api_types::RateLimit;
use serde_json::{Map, Value};

use crate::NoResponse;

/// A failed request. No message contains the API key or a signed URL.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the service.
    #[error(transparent)]
    Api(Box<ApiError>),
    /// A status without an error of the service: a redirect, the failure of a proxy, or another service.
    #[error("`{server}` responded with status {status} and no error of the service")]
    Status {
        status: u16,
        /// The base URL.
        server: String,
        /// Origin that a redirect leads to.
        redirect: Option<String>,
    },
    /// The connection failed or broke.
    #[error("no response from `{server}`: {reason}")]
    Transport {
        /// The base URL.
        server: String,
        reason: NoResponse,
        source: Box<dyn StdError + Send + Sync>,
    },
    #[error("no response from `{server}` within {} s", limit.as_secs_f64())]
    Timeout { server: String, limit: Duration },
    /// A response that breaks the interface.
    #[error("malformed response with status {status}: {reason}")]
    Malformed { status: u16, reason: String },
    #[error("the response is longer than {limit} bytes")]
    TooLarge { limit: usize },
    /// Storage refused the file.
    #[error("storage refused `{name}` with status {status}")]
    Storage { name: String, status: u16 },
    /// The connection to storage failed or broke.
    #[error("no response from storage at `{server}`: {reason}")]
    StorageTransport { server: String, reason: NoResponse, source: Box<dyn StdError + Send + Sync> },
    /// Storage neither took or sent bytes nor responded in time. The timeout of the client does not apply to storage.
    #[error("no response from storage at `{server}` within {} s", limit.as_secs_f64())]
    StorageTimeout { server: String, limit: Duration },
    /// The length of the file changed during the upload, or the file was written during every attempt.
    #[error("`{}` changed during the upload", path.display())]
    FileChanged { path: PathBuf },
    #[error("cannot read `{}`", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("cannot write the downloaded file")]
    Write { source: std::io::Error },
    /// The document was captured again between two pages, which therefore do not fit together.
    #[error("the document changed during the read: capture `{requested}` is no longer the latest")]
    StaleCapture { requested: String },
    /// An invalid setting or argument.
    #[error("{0}")]
    Setting(String),
}

/// An error of the service.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message} ({code})")]
pub struct ApiError {
    pub status: u16,
    /// Stable; branch on this.
    pub code: String,
    /// Human-readable; may change.
    pub message: String,
    /// Often `field` or `error`.
    pub details: Map<String, Value>,
    pub request_id: String,
    /// From the `X-RateLimit-*` headers; 401 and 403 carry none.
    pub rate_limit: Option<RateLimit>,
}

impl Error {
    /// The service's error, for [`Error::Api`].
    pub fn api(&self) -> Option<&ApiError> {
        match self {
            Error::Api(error) => Some(error),
            _ => None,
        }
    }

    /// True for errors that may vanish on their own: the rate limit, a failing server, no connection.
    pub fn is_transient(&self) -> bool {
        match self {
            Error::Api(error) => is_transient(error.status),
            Error::Status { status, .. } | Error::Storage { status, .. } => is_transient(*status),
            Error::Transport { .. }
            | Error::StorageTransport { .. }
            | Error::StorageTimeout { .. }
            | Error::Timeout { .. }
            | Error::StaleCapture { .. } => true,
            _ => false,
        }
    }
}

fn is_transient(status: u16) -> bool {
    status == 429 || status >= 500
}
