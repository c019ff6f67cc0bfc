use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

/// Origin of the browser.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum BrowserSource {
    /// Program that this process starts.
    Program(PathBuf),
    /// DevTools address of a running browser: `http://HOST:PORT`, or the `ws://` address of its browser target.
    Remote(String),
}

/// Reaction to a system on which Chromium cannot confine its pages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sandbox {
    /// Chromium does not start.
    Required,
    /// Chromium starts without its sandbox.
    BestEffort,
}

#[derive(Clone, Debug)]
pub struct ChromiumOptions {
    pub source: BrowserSource,
    /// Of a program.
    pub sandbox: Sandbox,
    /// Listener of the proxy that all connections of the browser go through.
    pub proxy_bind: SocketAddr,
    /// `HOST:PORT` at which the browser reaches the proxy; `None`: the address of the listener.
    pub proxy_address: Option<String>,
    /// Maximum number of pages that are rendered at a time.
    pub renders_at_a_time: usize,
    /// Maximum number of renders of one organization that wait.
    pub max_waiting: usize,
    /// Expected wait beyond which a render is refused.
    pub max_wait: Duration,
    /// Time for one page, without the wait.
    pub timeout: Duration,
    /// Maximum number of bytes that all scripts of a page receive and send, and maximum size of its document.
    pub max_bytes: usize,
    /// Pages after which the browser is replaced.
    pub renders_per_browser: u32,
    /// `User-Agent` of the requests of scripts.
    pub user_agent: String,
}

impl ChromiumOptions {
    pub fn new(source: BrowserSource, user_agent: impl Into<String>) -> Self {
        Self {
            source,
            sandbox: Sandbox::Required,
            proxy_bind: SocketAddr::from(([127, 0, 0, 1], 0)),
            proxy_address: None,
            renders_at_a_time: 2,
            max_waiting: 64,
            max_wait: Duration::from_secs(8),
            timeout: Duration::from_secs(10),
            max_bytes: 10 << 20,
            renders_per_browser: 200,
            user_agent: user_agent.into(),
        }
    }
}

/// Failure to provide a browser.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("listening on `{address}` for the connections of Chromium")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("the DevTools address `{url}` is not of the form `http://HOST:PORT` or `ws://HOST:PORT/PATH`")]
    InvalidUrl { url: String },
    #[error("`{}` cannot be started", program.display())]
    Spawn { program: PathBuf, source: io::Error },
    /// The program ended. Without a usable sandbox it does.
    #[error("Chromium does not start: {reason}")]
    Ended { reason: String },
    /// The program runs, but does not answer as a browser does.
    #[error("Chromium does not answer: {reason}")]
    Silent { reason: String },
    #[error("no Chromium responds at `{url}`: {reason}")]
    Unreachable { url: String, reason: String },
}

impl StartError {
    pub(crate) fn invalid_url(address: &str) -> Self {
        Self::InvalidUrl { url: without_secrets(address) }
    }

    pub(crate) fn unreachable(address: &str, reason: String) -> Self {
        Self::Unreachable { url: without_secrets(address), reason }
    }
}

/// Returns the address without credentials and query. Hosted browsers expect their token there.
fn without_secrets(address: &str) -> String {
    let address = address.split('?').next().unwrap_or_default();
    match Url::parse(address) {
        Ok(mut url) if url.password().is_some() || !url.username().is_empty() => {
            // Fails only for URLs without a host, which have neither.
            let _ = url.set_password(None);
            let _ = url.set_username("");
            url.to_string()
        }
        Ok(_) | Err(_) => address.to_owned(),
    }
}
