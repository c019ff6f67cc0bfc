//! Fetching of keys from the JWKS endpoint.

use std::time::Duration;

use reqwest::Url;

use crate::error::SourceError;
use crate::jwk::KeySet;

/// Maximum size of the response in bytes; the largest kind of key takes 1.5 KB.
const MAX_DOCUMENT: usize = 256 * 1024;

/// JWKS endpoint of an issuer.
pub struct Source {
    client: reqwest::Client,
    url: Url,
}

/// Failure of a fetch.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("the JWKS endpoint is unreachable")]
    Unreachable(#[source] reqwest::Error),
    #[error("the JWKS endpoint returned status `{0}`")]
    Status(u16),
    #[error("the response exceeds {MAX_DOCUMENT} bytes")]
    TooLong,
    #[error("the response contains no usable key: RS256 with 2048 bits or more, ES256, or EdDSA with Ed25519")]
    NoKeys,
}

impl Source {
    /// Builds the client without connecting.
    pub fn new(url: &str, timeout: Duration) -> Result<Self, SourceError> {
        let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = parsed.ok_or_else(|| SourceError::Address(url.to_owned()))?;
        let client = reqwest::Client::builder()
            .connect_timeout(timeout)
            .timeout(timeout)
            .tcp_nodelay(true)
            // A redirect would let its target choose the keys.
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            // Loading the certificates takes longer than the rest of the start.
            .tls_built_in_root_certs(url.scheme() == "https")
            .build()
            .map_err(SourceError::Client)?;
        Ok(Self { client, url })
    }

    pub async fn fetch(&self) -> Result<KeySet, FetchError> {
        let mut response = self.client.get(self.url.clone()).send().await.map_err(unreachable)?;
        if response.status() != 200 {
            return Err(FetchError::Status(response.status().as_u16()));
        }
        let mut document = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            if document.len() + chunk.len() > MAX_DOCUMENT {
                return Err(FetchError::TooLong);
            }
            document.extend_from_slice(&chunk);
        }
        KeySet::read(&document).ok_or(FetchError::NoKeys)
    }
}

/// Fetches the keys of an issuer and returns the number of those that can verify access tokens.
///
/// # Errors
/// The URL is invalid, the fetch fails, or no key is usable.
pub async fn usable_keys(jwks_url: &str, timeout: Duration) -> Result<usize, FetchError> {
    Ok(Source::new(jwks_url, timeout)?.fetch().await?.count())
}

fn unreachable(error: reqwest::Error) -> FetchError {
    FetchError::Unreachable(error.without_url())
}
