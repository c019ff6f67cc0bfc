use std::error::Error as StdError;
use std::path::PathBuf;
use std::time::Duration;

use api_types::RateLimit;
use serde_json::{Map, Value};

/// Why there is no answer. No message holds the API key or a signed address.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The service refused, or failed, and said why.
    #[error(transparent)]
    Api(Box<ApiError>),
    /// A status that is no answer of the service: a redirect, or a failure of something in between.
    #[error("unexpected status {status} from the server")]
    Status { status: u16 },
    /// No answer: the connection could not be made, or it broke.
    #[error("no answer from the server")]
    Transport(#[source] Box<dyn StdError + Send + Sync>),
    #[error("no answer within {} s", limit.as_secs_f64())]
    Timeout { limit: Duration },
    /// An answer that is not what the interface promises.
    #[error("malformed answer with status {status}: {reason}")]
    Malformed { status: u16, reason: String },
    #[error("the answer is longer than {limit} bytes")]
    TooLarge { limit: usize },
    /// Storage did not take the file.
    #[error("storage refused `{name}` with status {status}")]
    Storage { name: String, status: u16 },
    /// The file was read to another length than it had at first.
    #[error("`{}` changed while it was uploaded", path.display())]
    FileChanged { path: PathBuf },
    #[error("cannot read `{}`", path.display())]
    File { path: PathBuf, source: std::io::Error },
    /// The document was captured anew between two pages: what was read does not belong to what follows.
    #[error("the document changed while it was read: capture `{requested}` is no longer the latest")]
    StaleCapture { requested: String },
    /// A setting of the client that cannot work.
    #[error("{0}")]
    Setting(String),
}

/// The service's own error.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message} ({code})")]
pub struct ApiError {
    pub status: u16,
    /// Stable; branch on this.
    pub code: String,
    /// For people; the wording may change.
    pub message: String,
    /// Often `field` or `error`.
    pub details: Map<String, Value>,
    pub request_id: String,
    /// From the `X-RateLimit-*` headers; 401 and 403 carry none.
    pub rate_limit: Option<RateLimit>,
}

impl Error {
    /// The service's error, when it is one.
    pub fn api(&self) -> Option<&ApiError> {
        match self {
            Error::Api(error) => Some(error),
            _ => None,
        }
    }

    /// Trying later may help: the rate limit, a failing server, no connection.
    pub fn is_transient(&self) -> bool {
        match self {
            Error::Api(error) => is_transient(error.status),
            Error::Status { status } | Error::Storage { status, .. } => is_transient(*status),
            Error::Transport(_) | Error::Timeout { .. } | Error::StaleCapture { .. } => true,
            _ => false,
        }
    }
}

fn is_transient(status: u16) -> bool {
    status == 429 || status >= 500
}
