//! A browser that others started.

use std::process::{Child, Command, Stdio};

use fetcher::RenderError;
use renderer_chromium::{BrowserSource, ChromiumOptions, StartError};

use crate::site::{Forbidden, Site, plain};
use crate::support::{assert_works, chromium, options, page, program, render, until};

/// Browser with an open DevTools port, which ends with this value.
struct Other {
    process: Child,
    folder: tempfile::TempDir,
}

impl Other {
    fn start() -> Option<Self> {
        let program = program()?;
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(program);
        // As root it has no sandbox. Proxy settings of its own would not matter.
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
        command.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
        command.args(["--disable-dev-shm-usage", "--remote-debugging-port=0", "about:blank"]);
        command.arg(format!("--user-data-dir={}", folder.path().display()));
        let process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Some(Self { process, folder })
    }

    /// Returns its DevTools port.
    async fn port(&self) -> u16 {
        let file = self.folder.path().join("DevToolsActivePort");
        let read = || std::fs::read_to_string(&file).ok()?.lines().next()?.parse().ok();
        until("the browser listens", || read().is_some()).await;
        read().unwrap()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_a_remote_browser_use_the_proxy() {
    let (Some(options), Some(other)) = (options(), Other::start()) else { return };
    let source = BrowserSource::Remote(format!("http://127.0.0.1:{}", other.port().await));
    let chromium = chromium(ChromiumOptions { source, ..options }).await;
    assert!(chromium.check().await.unwrap().contains('/'));
    let forbidden = Forbidden::start("127.0.0.2");
    let site = Site::start(|_| plain(&"Text of the site. ".repeat(20)));
    let shell = format!(
        "<p id=a></p><script>
            fetch('http://{}/', {{mode: 'no-cors'}}).then(() => 'reached', () => 'refused').then(outcome =>
                fetch('/data').then(r => r.text()).then(t => {{ a.textContent = outcome + ': ' + t }}));
        </script>",
        forbidden.address
    );
    let html = render(&chromium, &page(&site.url("/"), &shell)).await.unwrap();
    assert!(html.contains("refused: Text of the site."), "{html}");
    forbidden.assert_untouched();
    // It is not ours to end.
    chromium.shutdown().await;
    assert_works(&chromium).await;
}

#[tokio::test]
async fn unreachable_browser_is_reported() {
    let remote = |url: &str| ChromiumOptions::new(BrowserSource::Remote(url.to_owned()), "testbot/1.0");
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let other = chromium(remote(&format!("http://{closed}"))).await;
    let outcome = render(&other, &page("http://example.com/", "")).await;
    assert!(matches!(outcome, Err(RenderError::Unavailable { .. })), "{outcome:?}");
    assert!(other.state().unwrap().is_err());
    // A server that is no browser.
    let site = Site::start(|_| plain("hello"));
    let error = chromium(remote(&site.url(""))).await.check().await.unwrap_err().to_string();
    assert!(error.contains("without `webSocketDebuggerUrl`"), "{error}");
    let error = chromium(remote("ftp://example.com")).await.check().await.unwrap_err();
    assert!(matches!(error, StartError::InvalidUrl { .. }), "{error}");
}

#[tokio::test]
async fn errors_contain_no_token_of_the_address() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for url in [
        format!("http://{closed}/?token=hunter2"),
        format!("ws://{closed}/?token=hunter2"),
        format!("ws://user:hunter2@{closed}/"),
        "wss://browser.test/?token=hunter2".to_owned(),
    ] {
        let options = ChromiumOptions::new(BrowserSource::Remote(url), "testbot/1.0");
        let error = chromium(options).await.check().await.unwrap_err().to_string();
        assert!(error.contains("://") && !error.contains("hunter2"), "{error}");
    }
}
