use std::time::Duration;

/// Why a page was not fetched. No message tells what a name resolves to, nor what else is found in a network: the
/// texts may be shown to whoever named the URL.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    #[error("the URL {reason}")]
    InvalidUrl { reason: &'static str },
    /// The host, or all addresses it has, is none that may be connected to.
    #[error("the host is not on a network that may be fetched from")]
    RefusedAddress,
    #[error("port `{port}` may not be fetched from")]
    RefusedPort { port: u16 },
    #[error("the host's name cannot be resolved")]
    Dns,
    #[error("cannot connect to the host")]
    Connect,
    /// The certificate is not valid for the host, or no common version of TLS.
    #[error("cannot make a secure connection to the host")]
    Tls,
    #[error("{stage} took too long")]
    Timeout { stage: TimeoutStage },
    /// An answer that is no page; `retry_after` is what the host asked for.
    #[error("the host answers with status `{status}`")]
    Status { status: u16, retry_after: Option<Duration> },
    /// No kind of document that is read. Empty where the host names none and the content is none.
    #[error("content of type `{content_type}` is not read")]
    ContentType { content_type: String },
    #[error("the content is larger than `{limit}` bytes")]
    TooLarge { limit: usize },
    #[error("more than `{limit}` redirects")]
    TooManyRedirects { limit: usize },
    #[error("the redirects go in a circle")]
    RedirectLoop,
    /// robots.txt forbids the page, or one it redirects to.
    #[error("the host's robots.txt forbids it")]
    Robots,
    /// robots.txt cannot be read for now; until then everything counts as forbidden (RFC 9309, 2.3.1.4).
    #[error("the host's robots.txt cannot be read")]
    RobotsUnreachable,
    /// The connection ended in the middle of the answer.
    #[error("the answer breaks off")]
    Interrupted,
    /// What came is no HTTP, or not what its head says.
    #[error("the answer {reason}")]
    Protocol { reason: &'static str },
}

/// What took too long.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TimeoutStage {
    Connect,
    FirstByte,
    Whole,
}

impl std::fmt::Display for TimeoutStage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TimeoutStage::Connect => "connecting",
            TimeoutStage::FirstByte => "the host's answer",
            TimeoutStage::Whole => "the fetch",
        })
    }
}

impl FetchError {
    /// Whether the same request may succeed before long, so that a caller remembers the failure only shortly.
    pub fn is_temporary(&self) -> bool {
        match self {
            FetchError::Dns
            | FetchError::Connect
            | FetchError::Timeout { .. }
            | FetchError::RobotsUnreachable
            | FetchError::Interrupted => true,
            FetchError::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500 | 502..=504 | 520..=530),
            FetchError::InvalidUrl { .. }
            | FetchError::RefusedAddress
            | FetchError::RefusedPort { .. }
            | FetchError::Tls
            | FetchError::ContentType { .. }
            | FetchError::TooLarge { .. }
            | FetchError::TooManyRedirects { .. }
            | FetchError::RedirectLoop
            | FetchError::Robots
            | FetchError::Protocol { .. } => false,
        }
    }

    /// How long the host asked to be left alone (`Retry-After`); at most a day.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            FetchError::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

/// Why a fetcher cannot be made with these options.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    #[error("`{0}` cannot be sent as a user agent")]
    UserAgent(String),
    #[error("`{0}` is no product token: letters, `-` and `_`")]
    RobotsToken(String),
    #[error("a root certificate cannot be read")]
    RootCertificate(#[source] reqwest::Error),
    #[error("`{0}` must not be zero")]
    Zero(&'static str),
    #[error("cannot make the HTTP client")]
    Client(#[source] reqwest::Error),
}
