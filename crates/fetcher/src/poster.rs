use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};

use crate::admitted::requested_delay;
use crate::body;
use crate::client::Client;
use crate::error::{FetchError, OptionsError, TimeoutStage};
use crate::guard::AddressGuard;
use crate::options::FetcherOptions;
use crate::resolver::{Resolver, SystemResolver};
use crate::targets::{Target, TargetPolicy};

/// Client for POST requests to untrusted addresses, with the fetcher's connection policy. Redirects are not followed.
///
/// Of the options, those of the connection apply; robots.txt, politeness and limits on pages do not.
pub struct Poster {
    client: Client,
    /// Timeout from the lookup of the host to the head of the response.
    timeout: Duration,
}

/// Response without its body, which is not read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PostReply {
    pub status: u16,
    /// Delay that the host asks for, at most one day.
    pub retry_after: Option<Duration>,
}

impl Poster {
    /// Creates a client that uses the system's resolver.
    ///
    /// # Errors
    /// Invalid options; see [`OptionsError`].
    pub fn new(options: &FetcherOptions) -> Result<Self, OptionsError> {
        Self::with_resolver(options, Arc::new(SystemResolver::undivided()))
    }

    /// Creates a client that uses `resolver`. Its addresses are checked like those of the system's resolver.
    ///
    /// # Errors
    /// As [`Poster::new`].
    pub fn with_resolver(options: &FetcherOptions, resolver: Arc<dyn Resolver>) -> Result<Self, OptionsError> {
        let guard = AddressGuard::new(options.allow_networks.clone());
        let policy = TargetPolicy { guard, ports: options.allow_ports.clone() };
        Ok(Self { client: Client::new(options, resolver, policy)?, timeout: options.time_limits.total })
    }

    /// Checks a URL without looking up its host name. Control characters and surrounding blanks, which parsing drops or encodes, are
    /// refused: callers store the text, and not every database stores NUL.
    ///
    /// # Errors
    /// `InvalidUrl`, `RefusedAddress`, `RefusedPort`.
    pub fn check(&self, url: &str) -> Result<(), FetchError> {
        if url.contains(char::is_control) || url.trim() != url {
            return Err(FetchError::InvalidUrl { reason: "contains control characters or surrounding blanks" });
        }
        Target::parse(url, self.client.policy()).map(drop)
    }

    /// Sends a JSON body with additional headers. Any status is a success here. The future can be dropped at any time.
    ///
    /// # Errors
    /// As for [`Poster::check`], and `Dns`, `Overloaded`, `Connect`, `Tls`, `Timeout`, `Interrupted`, `Protocol`.
    pub async fn post_json(
        &self,
        url: &str,
        headers: &[(&'static str, &str)],
        body: Vec<u8>,
    ) -> Result<PostReply, FetchError> {
        let target = Target::parse(url, self.client.policy())?;
        let mut all = HeaderMap::new();
        all.insert(reqwest::header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        all.insert(ACCEPT, HeaderValue::from_static("*/*"));
        for (name, value) in headers {
            let malformed = |_| FetchError::Protocol { reason: "cannot be requested: a header is malformed" };
            all.insert(HeaderName::from_static(name), HeaderValue::from_str(value).map_err(malformed)?);
        }
        let timed_out = |_| Err(FetchError::Timeout { stage: TimeoutStage::Total });
        let sent = tokio::time::timeout(self.timeout, self.client.post(&target, all, body)).await;
        let response = sent.unwrap_or_else(timed_out)?;
        let retry_after = requested_delay(response.headers());
        let reply = PostReply { status: response.status().as_u16(), retry_after };
        body::drain(response).await;
        Ok(reply)
    }
}
