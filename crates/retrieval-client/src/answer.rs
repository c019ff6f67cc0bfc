use std::ops::Deref;

use api_types::RateLimit;
use bytes::Bytes;
use serde::de::DeserializeOwned;

use crate::Error;
use crate::transport::Reply;

/// A successful response: the typed body (also by dereference), the raw body, and the rate limit.
#[derive(Clone, Debug)]
pub struct Answer<T> {
    pub body: T,
    /// The JSON as sent, including fields unknown to this version.
    pub raw: Bytes,
    /// From the `X-RateLimit-*` headers.
    pub rate_limit: Option<RateLimit>,
}

impl<T: DeserializeOwned> Answer<T> {
    pub(crate) fn parse(reply: Reply, server: &str) -> Result<Self, Error> {
        let Reply { status, body: raw, rate_limit } = reply;
        match serde_json::from_slice(&raw) {
            Ok(body) => Ok(Self { body, raw, rate_limit }),
            // The message has the expected type and the position, and at most one word of the body.
            Err(error) => Err(Error::Malformed { status, reason: format!("{error}, from `{server}`") }),
        }
    }
}

impl<T> Deref for Answer<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.body
    }
}
