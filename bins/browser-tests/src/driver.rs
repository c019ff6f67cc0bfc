//! The driver process and sessions of the browser.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

const START_TIMEOUT: Duration = Duration::from_secs(20);

/// A running chromedriver, which ends with this value.
pub struct Driver {
    process: Child,
    url: String,
}

impl Driver {
    pub fn start(program: &Path) -> anyhow::Result<Self> {
        let port = free_port()?;
        let mut command = Command::new(program);
        command.arg(format!("--port={port}")).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().with_context(|| format!("starting `{}`", program.display()))?;
        let driver = Driver { process, url: format!("http://127.0.0.1:{port}") };
        wait_for_port(port)?;
        Ok(driver)
    }

    /// Starts a browser with a new profile.
    pub async fn session(&self, chromium: &Path, profile: &Path) -> anyhow::Result<Client> {
        let fixed = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
        ];
        let mut arguments: Vec<Value> = fixed.into_iter().map(Value::from).collect();
        arguments.push(format!("--user-data-dir={}", profile.display()).into());
        let capabilities = json!({
            "goog:chromeOptions": {"binary": chromium, "args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"},
        });
        let Value::Object(capabilities) = capabilities else { bail!("the capabilities are an object") };
        let client = ClientBuilder::new(HttpConnector::new()).capabilities(capabilities).connect(&self.url).await;
        client.context("starting the browser")
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns a port that was free a moment ago.
pub fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Waits until a program listens.
pub fn wait_for_port(port: u16) -> anyhow::Result<()> {
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if start.elapsed() > START_TIMEOUT {
            bail!("nothing listens on port {port}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
