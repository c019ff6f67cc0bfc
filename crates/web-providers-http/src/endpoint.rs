//! Requests to the endpoint of one provider.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, Url};
use serde_json::Value;
use web_providers::ProviderError;

use crate::retry_after;

const POOL_IDLE: Duration = Duration::from_secs(20);
const MAX_CONNECT: Duration = Duration::from_secs(5);
/// Largest response. Fifty results with long snippets are 200 kB.
const MAX_RESPONSE: usize = 2 << 20;

/// Invalid options of an endpoint. The message does not contain the value, which may be secret.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    #[error("the URL is not an http or https URL")]
    Url,
    #[error("the name of the header is invalid")]
    HeaderName,
    #[error("the key contains characters that a header cannot have")]
    Key,
    #[error("the HTTP client cannot be built")]
    Client(#[source] reqwest::Error),
}

/// Endpoint with its credentials.
pub struct Endpoint {
    client: Client,
    url: Url,
    header: Option<(HeaderName, HeaderValue)>,
    /// Advice for a refused request, by status.
    hint: fn(u16) -> &'static str,
}

impl Endpoint {
    /// Builds the client without connecting. `header` is the header with the key.
    ///
    /// # Errors
    /// The URL, the header or the key is invalid.
    pub fn new(
        url: &str,
        header: Option<(&str, &str)>,
        timeout: Duration,
        hint: fn(u16) -> &'static str,
    ) -> Result<Self, EndpointError> {
        let url =
            Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https")).ok_or(EndpointError::Url)?;
        let header = match header {
            None => None,
            Some((name, key)) => {
                let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| EndpointError::HeaderName)?;
                let mut value = HeaderValue::from_str(key).map_err(|_| EndpointError::Key)?;
                value.set_sensitive(true);
                Some((name, value))
            }
        };
        let client = Client::builder()
            .user_agent(concat!("retrieval/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(timeout.min(MAX_CONNECT))
            .timeout(timeout)
            .pool_idle_timeout(POOL_IDLE)
            .tcp_nodelay(true)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            // Loading the certificates takes longer than the rest of the start.
            .tls_built_in_root_certs(url.scheme() == "https")
            .build()
            .map_err(EndpointError::Client)?;
        Ok(Self { client, url, header, hint })
    }

    /// Requests the URL with these parameters added.
    pub async fn get(&self, parameters: &[(&str, &str)]) -> Result<Value, ProviderError> {
        self.send(self.client.get(self.url_with(parameters))).await
    }

    /// Sends a JSON body to the URL with these parameters added.
    pub async fn post(&self, parameters: &[(&str, &str)], body: &Value) -> Result<Value, ProviderError> {
        self.send(self.client.post(self.url_with(parameters)).json(body)).await
    }

    fn url_with(&self, parameters: &[(&str, &str)]) -> Url {
        let mut url = self.url.clone();
        if !parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(parameters);
        }
        url
    }

    async fn send(&self, request: RequestBuilder) -> Result<Value, ProviderError> {
        let mut request = request.header(ACCEPT, "application/json");
        if let Some((name, value)) = &self.header {
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(|error| failed(&error))?;
        let status = response.status().as_u16();
        match (status, retry_after::delay(response.headers())) {
            (200, _) => {}
            (429, retry_after) | (503, retry_after @ Some(_)) => {
                return Err(ProviderError::RateLimited { retry_after });
            }
            (400 | 401 | 402 | 403 | 404 | 405 | 422, _) => {
                return Err(ProviderError::Refused { status, hint: (self.hint)(status) });
            }
            _ => return Err(ProviderError::Status(status)),
        }
        let body = read(response).await?;
        parse(&body)
    }
}

async fn read(mut response: Response) -> Result<Vec<u8>, ProviderError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error))? {
        if body.len() + chunk.len() > MAX_RESPONSE {
            return Err(ProviderError::InvalidResponse(format!("longer than {MAX_RESPONSE} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn parse(body: &[u8]) -> Result<Value, ProviderError> {
    serde_json::from_slice(body).map_err(|error| {
        let is_page = body.trim_ascii_start().starts_with(b"<");
        let message = if is_page { "a page instead of JSON".to_owned() } else { format!("not JSON: {error}") };
        ProviderError::InvalidResponse(message)
    })
}

/// Converts an error of the client to one without the address, which is internal.
fn failed(error: &reqwest::Error) -> ProviderError {
    if error.is_timeout() {
        return ProviderError::Timeout;
    }
    let cause = match error {
        error if error.is_connect() => "connecting failed",
        error if error.is_decode() || error.is_body() => "the response broke off",
        _ => "the connection was lost",
    };
    ProviderError::Unreachable(Arc::new(std::io::Error::other(cause)))
}
