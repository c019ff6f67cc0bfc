//! Renderers for tests.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use fetcher::{Connector, FetchedPage, FetcherOptions, RenderError, RenderRequest, Renderer};
use file_types::FileKind;
use model::OrganizationId;
use renderer_chromium::{BrowserSource, Chromium, ChromiumOptions, Sandbox, find_program};
use uuid::Uuid;

pub const ORGANIZATION: OrganizationId = OrganizationId(Uuid::from_u128(1));

/// Returns the Chromium of this machine.
#[expect(clippy::print_stdout, reason = "says why nothing is tested")]
pub fn program() -> Option<PathBuf> {
    let found = find_program(&std::env::var_os("PATH").unwrap_or_default());
    if found.is_none() {
        println!("NOT TESTED: no Chromium on the PATH");
    }
    found
}

/// Options with a proxy port of its own, by which the browser's processes can be told from those of other tests.
pub fn options() -> Option<ChromiumOptions> {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    Some(ChromiumOptions {
        // The machine of the tests need not have one.
        sandbox: Sandbox::BestEffort,
        proxy_bind: SocketAddr::from(([127, 0, 0, 1], port)),
        timeout: Duration::from_secs(20),
        max_bytes: 4 << 20,
        ..ChromiumOptions::new(BrowserSource::Program(program()?), "testbot/1.0")
    })
}

/// Starts a renderer whose pages may connect to 127.0.0.1 only.
pub async fn chromium(options: ChromiumOptions) -> Chromium {
    let mut fetcher = FetcherOptions::new("testbot", "1.0", None);
    fetcher.allow_networks = vec!["127.0.0.1/32".parse().unwrap()];
    Chromium::new(options, Connector::new(&fetcher).unwrap()).await.unwrap()
}

pub fn page(url: &str, html: &str) -> FetchedPage {
    FetchedPage {
        final_url: url.parse().unwrap(),
        status: 200,
        kind: FileKind::Html,
        content_type: Some("text/html; charset=utf-8".to_owned()),
        charset: Some("utf-8".to_owned()),
        body: format!("<!doctype html><html><body>{html}</body></html>").into_bytes().into(),
        validators: None,
        redirects: 0,
    }
}

pub async fn render(chromium: &Chromium, page: &FetchedPage) -> Result<String, RenderError> {
    let request = RenderRequest { organization_id: ORGANIZATION, page, is_patient: true };
    let html = chromium.render(request).await?;
    Ok(String::from_utf8(html.to_vec()).unwrap())
}

/// Renders a page of nothing but text, which works after whatever happened before.
pub async fn assert_works(chromium: &Chromium) {
    let script = "<div id=a></div><script>a.textContent = 'still ' + 'alive. '.repeat(40)</script>";
    let html = render(chromium, &page("http://example.com/", script)).await.unwrap();
    assert!(html.contains("still alive."), "{html}");
}

/// Returns the processes of the browser that uses the proxy at `address`.
pub fn processes(address: SocketAddr) -> Vec<u32> {
    let argument = format!("--proxy-server=http://{address}");
    let ids =
        std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let uses = |id: &u32| {
        let line = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|given| given == argument.as_bytes())
    };
    ids.filter(uses).collect()
}

/// Waits until a condition holds.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..400 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{what}: not within 20 seconds");
}
