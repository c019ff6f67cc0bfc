//! Failed exchanges with storage.

use std::time::Duration;

use reqwest::Url;

use crate::{Error, NoResponse};

/// Returns the origin of a signed URL. The rest is a secret while it is valid.
pub(crate) fn origin(signed_url: &str) -> String {
    Url::parse(signed_url).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
}

/// Converts the error of an exchange with the storage at `server` that may take `limit`.
pub(crate) fn failure(error: reqwest::Error, server: String, limit: Duration) -> Error {
    if error.is_timeout() && !error.is_connect() {
        return Error::StorageTimeout { server, limit };
    }
    let reason = NoResponse::of(&error);
    Error::StorageTransport { server, reason, source: error.without_url().into() }
}
