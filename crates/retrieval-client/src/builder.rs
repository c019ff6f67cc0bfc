use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::HeaderValue;

use crate::session::session_header;
use crate::slow_connect::SlowConnect;
use crate::transport::{Transport, http_client};
use crate::{Client, Error};

/// Fetching a page from the web may take ten seconds, and a busy server needs a few more.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Settings of a [`Client`].
#[derive(Clone)]
pub struct ClientBuilder {
    base_url: String,
    api_key: Option<String>,
    session_id: Option<String>,
    timeout: Duration,
    name: String,
    proxies: bool,
    slow_connect: Option<SlowConnect>,
}

impl Default for ClientBuilder {
    fn default() -> Self {
        Self {
            base_url: String::new(),
            api_key: None,
            session_id: None,
            timeout: DEFAULT_TIMEOUT,
            name: concat!("retrieval-client/", env!("CARGO_PKG_VERSION")).to_owned(),
            proxies: true,
            slow_connect: None,
        }
    }
}

impl ClientBuilder {
    /// URL of the service, such as `https://search.example.com`. A path is kept as a prefix. Required.
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.base_url = base_url.into();
        self
    }

    pub fn api_key(mut self, api_key: impl Into<String>) -> Self {
        self.api_key = Some(api_key.into());
        self
    }

    /// UUID to send as `X-Session-ID` with every request.
    pub fn session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = Some(session_id.into());
        self
    }

    /// Timeout of one attempt, from connecting to the last byte. Default: 30 seconds. Uploads have their own timeout.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Name of the calling program, as `name/version`, to send as `X-Service-Client` and `User-Agent`.
    pub fn client_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Ignores `HTTP_PROXY` and related variables.
    pub fn no_proxy(mut self) -> Self {
        self.proxies = false;
        self
    }

    /// Calls `report` once if connecting takes longer than `limit`, while the attempt continues.
    pub fn on_slow_connect(mut self, limit: Duration, report: impl Fn() + Send + Sync + 'static) -> Self {
        self.slow_connect = Some(SlowConnect::new(limit, Arc::new(report)));
        self
    }

    /// Builds the client without connecting.
    ///
    /// # Errors
    /// [`Error::Setting`] for an invalid URL, or a key, session or name that no header can carry.
    pub fn build(self) -> Result<Client, Error> {
        let base = base(&self.base_url)?;
        let authorization = self.api_key.as_deref().map(authorization).transpose()?;
        let session_id = self.session_id.as_deref().map(session_header).transpose()?;
        let name = HeaderValue::from_str(&self.name)
            .map_err(|_| Error::Setting(format!("invalid client name `{}`: use printable ASCII", self.name)))?;
        let http = http_client(base.scheme() == "https", self.proxies, self.slow_connect)?;
        let transport = Transport::new(http, base, authorization, name, self.timeout, self.proxies);
        Ok(Client::new(Arc::new(transport), session_id))
    }
}

/// Omits the key.
impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { base_url, api_key: _, session_id, timeout, name, proxies, slow_connect: _ } = self;
        let mut shown = f.debug_struct("ClientBuilder");
        shown.field("base_url", base_url).field("session_id", session_id).field("timeout", timeout);
        shown.field("name", name).field("proxies", proxies).finish_non_exhaustive()
    }
}

/// Parses the base URL and appends `/` to its path, so that joining appends. Messages do not repeat the URL, which may be
/// a key pasted into the wrong place.
fn base(text: &str) -> Result<Url, Error> {
    let wrong = |why: &str| Error::Setting(format!("invalid base URL: {why}"));
    let scheme_missing = || wrong("start it with http:// or https://");
    let mut url = Url::parse(text.trim()).map_err(|error| match text.contains("://") {
        true => wrong(&error.to_string()),
        false => scheme_missing(),
    })?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(scheme_missing());
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("remove credentials, query and fragment"));
    }
    if !url.path().ends_with('/') {
        url.set_path(&format!("{}/", url.path()));
    }
    Ok(url)
}

fn authorization(key: &str) -> Result<HeaderValue, Error> {
    let key = key.trim();
    if key.is_empty() {
        return Err(Error::Setting("the API key is empty".to_owned()));
    }
    let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
        .map_err(|_| Error::Setting("the API key has characters that a header cannot carry".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_are_validated() {
        assert_eq!(base("http://localhost:8080").expect("good").as_str(), "http://localhost:8080/");
        assert_eq!(base(" https://example.com/api ").expect("good").as_str(), "https://example.com/api/");
        let bad = ["", "localhost:8080", "ftp://example.com", "http://", "http://u:p@example.com", "http://e.com/?k=1"];
        for wrong in bad {
            assert!(matches!(base(wrong), Err(Error::Setting(_))), "{wrong}");
        }
    }

    #[test]
    fn debug_output_and_errors_omit_the_key() {
        let builder = ClientBuilder::default().base_url("http://localhost").api_key("very-secret");
        assert!(!format!("{builder:?}").contains("very-secret"));
        let client = builder.build().expect("good");
        assert!(!format!("{client:?}").contains("very-secret"));
        let broken = ClientBuilder::default().base_url("http://localhost").api_key("very-secret\nkey").build();
        let error = broken.expect_err("a line break cannot be sent");
        assert!(!format!("{error} {error:?}").contains("very-secret"));
    }
}
