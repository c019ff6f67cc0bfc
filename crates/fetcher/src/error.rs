use std::time::Duration;

use admission::Overloaded;

/// Failure to fetch a page.
///
/// Messages reveal neither the addresses that a name resolves to nor anything else about the network, so they may be
/// shown to the caller.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    #[error("the URL {reason}")]
    InvalidUrl { reason: &'static str },
    /// The host, or every address of it, is outside the permitted networks.
    #[error("the host is not on a permitted network")]
    RefusedAddress,
    #[error("port `{port}` is not permitted")]
    RefusedPort { port: u16 },
    #[error("cannot resolve the host name")]
    Dns,
    #[error("cannot connect to the host")]
    Connect,
    /// The certificate is invalid for the host, or there is no common TLS version.
    #[error("cannot establish a TLS connection to the host")]
    Tls,
    #[error("{stage} timed out")]
    Timeout { stage: TimeoutStage },
    /// A status other than success or redirect, with the host's `Retry-After`.
    #[error("the host returned status `{status}`")]
    Status { status: u16, retry_after: Option<Duration> },
    /// Unsupported document type. Empty if neither the headers nor the content reveal a type.
    #[error("unsupported content type `{content_type}`")]
    ContentType { content_type: String },
    #[error("the content exceeds the limit of `{limit}` bytes")]
    TooLarge { limit: usize },
    #[error("more than `{limit}` redirects")]
    TooManyRedirects { limit: usize },
    #[error("redirect loop")]
    RedirectLoop,
    /// robots.txt disallows the page or one of its redirects.
    #[error("disallowed by the host's robots.txt")]
    Robots,
    /// robots.txt is unreachable for now; until it is reachable everything counts as disallowed (RFC 9309, 2.3.1.4). It is requested
    /// again after `retry_after`.
    #[error("the host's robots.txt cannot be read")]
    RobotsUnreachable { cause: RobotsFailure, retry_after: Duration },
    /// Too many fetches wait for the host or in all, or too many names are being looked up, in all or for the organization.
    /// Says nothing about the page.
    #[error("too many pages are being fetched")]
    Overloaded { retry_after: Duration },
    /// The connection closed in the middle of the response.
    #[error("the response is incomplete")]
    Interrupted,
    /// Invalid HTTP, or a body that contradicts its headers.
    #[error("the response {reason}")]
    Protocol { reason: &'static str },
}

/// Cause of an unreachable robots.txt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RobotsFailure {
    /// The host answered with a status that says nothing about its rules.
    Status,
    Timeout,
    /// No valid or complete response.
    Response,
}

/// Stage of a fetch that exceeded its time limit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TimeoutStage {
    Connect,
    FirstByte,
    Total,
}

impl std::fmt::Display for TimeoutStage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TimeoutStage::Connect => "connecting",
            TimeoutStage::FirstByte => "the host's response",
            TimeoutStage::Total => "the fetch",
        })
    }
}

impl FetchError {
    /// Returns true if the same request may succeed soon. Callers should remember such a failure only briefly.
    pub fn is_temporary(&self) -> bool {
        match self {
            FetchError::Dns
            | FetchError::Connect
            | FetchError::Timeout { .. }
            | FetchError::RobotsUnreachable { .. }
            | FetchError::Overloaded { .. }
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

    /// Returns the delay requested by the host (`Retry-After`), at most one day, or until robots.txt is requested again.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            FetchError::Status { retry_after, .. } => *retry_after,
            FetchError::RobotsUnreachable { retry_after, .. } => Some(*retry_after),
            _ => None,
        }
    }
}

impl From<Overloaded> for FetchError {
    fn from(refused: Overloaded) -> Self {
        FetchError::Overloaded { retry_after: refused.retry_after }
    }
}

/// Invalid [`FetcherOptions`](crate::FetcherOptions).
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    #[error("user agent `{0}` is not a valid header value")]
    UserAgent(String),
    #[error("invalid robots.txt token `{0}`: use letters, `-` and `_`")]
    RobotsToken(String),
    #[error("cannot parse a root certificate")]
    RootCertificate(#[source] reqwest::Error),
    #[error("`{0}` must be greater than zero")]
    Zero(&'static str),
    #[error("cannot create the HTTP client")]
    Client(#[source] reqwest::Error),
}
