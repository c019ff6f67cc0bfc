//! Classification of the HTTP client's errors. Their texts are only logged, because they contain addresses.

use std::error::Error;
use std::io;

use error_causes::causes;

use crate::error::{FetchError, TimeoutStage};
use crate::resolver::ResolveError;

/// Classifies an error of sending a request or reading a response.
pub(crate) fn classify(error: &reqwest::Error) -> FetchError {
    tracing::debug!(error = error as &dyn Error, "request failed");
    for cause in causes(error) {
        if let Some(error) = cause.downcast_ref::<ResolveError>() {
            return error.into();
        }
        if cause.is::<rustls::Error>() {
            return FetchError::Tls;
        }
    }
    if error.is_connect() && error.is_timeout() {
        return FetchError::Timeout { stage: TimeoutStage::Connect };
    }
    if error.is_connect() {
        return FetchError::Connect;
    }
    // Body streams yield the same error types, so only the causes distinguish a lost connection from a malformed
    // response.
    let is_lost = causes(error).any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| {
            use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
            matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
        }) || cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_incomplete_message)
            || cause.downcast_ref::<h2::Error>().is_some_and(is_ended_by_peer)
    });
    if is_lost { FetchError::Interrupted } else { FetchError::Protocol { reason: "is not valid HTTP" } }
}

/// Returns true if the peer reset the stream (RST_STREAM), closed the connection (GOAWAY), or the connection is dead. Other errors of
/// HTTP/2 are violations of the protocol that were found here.
fn is_ended_by_peer(error: &h2::Error) -> bool {
    // Has no source, so its I/O error is not among the causes.
    error.is_io() || error.is_remote()
}
