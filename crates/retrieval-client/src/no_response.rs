//! Reasons for a request without a response.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use error_causes::causes;

/// Time for name resolution, connecting and the TLS handshake.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The reason for a request without a response.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoResponse {
    /// Nothing listens at the address.
    #[error("connection refused")]
    Refused,
    #[error("unknown host")]
    UnknownHost,
    #[error("cannot connect within {} s", CONNECT_TIMEOUT.as_secs())]
    ConnectTimeout,
    /// No route to the address, or no permission to connect.
    #[error("{0}")]
    Unreachable(String),
    /// The TLS handshake failed, most often because of the certificate.
    #[error("TLS failed: {0}")]
    Tls(String),
    /// The server answered the TLS handshake with something else.
    #[error("the server does not speak TLS")]
    NotTls,
    #[error("the response is not HTTP")]
    NotHttp,
    /// The connection broke.
    #[error("{0}")]
    Broken(String),
}

impl NoResponse {
    pub(crate) fn of(error: &reqwest::Error) -> Self {
        if let Some(reason) = tls(error) {
            return reason;
        }
        let last = causes(error).last().map(ToString::to_string).unwrap_or_default();
        // The HTTP library hides its types.
        if last.starts_with("invalid HTTP") {
            return NoResponse::NotHttp;
        }
        if !error.is_connect() {
            return NoResponse::Broken(last);
        }
        if error.is_timeout() {
            return NoResponse::ConnectTimeout;
        }
        if causes(error).any(|cause| cause.to_string() == "dns error") {
            return NoResponse::UnknownHost;
        }
        let kinds = causes(error).filter_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
        match kinds.last() {
            Some(io::ErrorKind::ConnectionRefused) => NoResponse::Refused,
            Some(io::ErrorKind::TimedOut) => NoResponse::ConnectTimeout,
            _ => NoResponse::Unreachable(last),
        }
    }

    /// True if a second attempt at once can succeed.
    pub(crate) fn is_worth_a_retry(&self) -> bool {
        !matches!(self, NoResponse::Tls(_) | NoResponse::NotTls | NoResponse::NotHttp)
    }
}

/// Beginnings of the messages of a failed handshake. A connection that is cut later begins with "peer closed connection", and is none.
const HANDSHAKE_FAILURES: [&str; 7] = [
    "invalid peer certificate",
    "received corrupt message",
    "received fatal alert",
    "peer is incompatible",
    "peer misbehaved",
    "peer sent",
    "peer doesn't support",
];

fn tls(error: &(dyn StdError + 'static)) -> Option<NoResponse> {
    let is_failure = |text: &String| HANDSHAKE_FAILURES.iter().any(|start| text.starts_with(start));
    let text = causes(error).map(ToString::to_string).find(is_failure)?;
    if text.starts_with("received corrupt message") {
        return Some(NoResponse::NotTls);
    }
    Some(NoResponse::Tls(match text.strip_prefix("invalid peer certificate: ") {
        Some("UnknownIssuer") => "the certificate is not from a trusted issuer".to_owned(),
        Some(reason) if reason.starts_with("certificate not valid for name") || reason == "NotValidForName" => {
            "the certificate is for another host".to_owned()
        }
        Some(reason) if reason.starts_with("certificate expired") || reason == "Expired" => {
            "the certificate has expired".to_owned()
        }
        _ => text,
    }))
}
