//! Pages that are empty without their scripts.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use docstore::Capture;
use extract_worker::InProcess;
use fetcher::{RenderError, RenderRequest, Renderer};
use ingest::pages::{PageRequest, SeenCapture, UnreadableReason};
use ingest::{PageError, Scripted};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::pages::{reader_with, request};
use crate::world::World;

const SHELL: &str = "<div id=root>Loading</div><script src=/app.js></script>";
const WRITTEN: &str = "<h1>Tides</h1><p>The scripts of this page wrote a text about the tides of the northern sea.</p>";

/// Renderer with a fixed outcome that records the pages.
struct FakeRenderer {
    outcome: Mutex<Result<Bytes, RenderError>>,
    rendered: Mutex<Vec<String>>,
}

#[async_trait]
impl Renderer for FakeRenderer {
    async fn render(&self, request: RenderRequest<'_>) -> Result<Bytes, RenderError> {
        assert!(!request.is_patient);
        self.rendered.lock().unwrap().push(request.page.final_url.path().to_owned());
        self.outcome.lock().unwrap().clone()
    }
}

/// Site with the shell at `/shell`, a text without scripts at `/text`, and nothing at `/empty`. Answers 304 to whoever knows a page.
async fn site() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = vec![0; 4096];
            let read = stream.read(&mut head).await.unwrap_or_default();
            let is_known =
                String::from_utf8_lossy(&head[..read]).to_ascii_lowercase().contains("if-none-match: \"v1\"");
            let body = match head[..read].split(|byte| *byte == b' ').nth(1) {
                Some(b"/text") => "<p>A text that needs no scripts.</p>",
                Some(b"/empty") => "<p></p>",
                _ => SHELL,
            };
            let (status, body) = if is_known { ("304 Not Modified", "") } else { ("200 OK", body) };
            let head = "Content-Type: text/html\r\nETag: \"v1\"\r\nConnection: close";
            let answer = format!("HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    base
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_that_scripts_write_is_stored() {
    let world = World::new().await;
    let renderer = Arc::new(FakeRenderer { outcome: Mutex::new(Ok(WRITTEN.into())), rendered: Mutex::default() });
    let reader = reader_with(&world, Arc::new(InProcess), Scripted::new(Some(Arc::clone(&renderer) as _)));
    let base = site().await;
    for path in ["/shell", "/text"] {
        reader.read(request(world.organization_id, format!("{base}{path}"))).await.unwrap();
    }
    let empty = reader.read(request(world.organization_id, format!("{base}/empty"))).await;
    assert!(matches!(empty, Err(PageError::Unreadable(UnreadableReason::NoText))), "{empty:?}");
    assert_eq!(*renderer.rendered.lock().unwrap(), ["/shell"], "the other pages have no scripts");
    let doc_id = request(world.organization_id, format!("{base}/shell")).doc_id;
    let (_, capture) = world.store.find_page_read(world.organization_id, doc_id).await.unwrap().unwrap();
    let capture = capture.unwrap();
    assert!(capture.content.contains("the tides of the northern sea"), "{}", capture.content);
    assert_eq!(capture.etag, None, "it is that of the shell");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_render_keeps_what_was_fetched() {
    let world = World::new().await;
    let renderer =
        Arc::new(FakeRenderer { outcome: Mutex::new(Err(RenderError::Timeout)), rendered: Mutex::default() });
    let reader = reader_with(&world, Arc::new(InProcess), Scripted::new(Some(Arc::clone(&renderer) as _)));
    let base = site().await;
    let page = request(world.organization_id, format!("{base}/shell"));
    reader.read(page.clone()).await.unwrap();
    let stored = async || {
        let read = world.store.find_page_read(world.organization_id, page.doc_id).await.unwrap();
        read.and_then(|(_, capture)| capture).unwrap()
    };
    assert_eq!(stored().await.content.trim(), "Loading");

    // Nor does a render that says less replace it.
    *renderer.outcome.lock().unwrap() = Ok("<p>-</p>".into());
    let less = request(world.organization_id, format!("{base}/less"));
    reader.read(less).await.unwrap();

    // Nor does the page without its scripts replace what they wrote at an earlier read.
    *renderer.outcome.lock().unwrap() = Ok(WRITTEN.into());
    let again = |capture: &Capture| {
        let seen = SeenCapture { capture_id: capture.capture_id, captured_at: capture.captured_at };
        PageRequest { seen: Some(seen), retries: true, ..page.clone() }
    };
    reader.read(again(&stored().await)).await.unwrap();
    for outcome in [Err(RenderError::Crashed), Ok("<p>-</p>".into())] {
        *renderer.outcome.lock().unwrap() = outcome;
        let failed = reader.read(again(&stored().await)).await;
        assert!(matches!(failed, Err(PageError::Unreadable(UnreadableReason::NoText))), "{failed:?}");
        assert!(stored().await.content.contains("the tides of the northern sea"));
    }

    let retry_after = Duration::from_secs(7);
    *renderer.outcome.lock().unwrap() = Err(RenderError::Overloaded { retry_after });
    let refused = reader.read(request(world.organization_id, format!("{base}/more"))).await;
    assert!(
        matches!(refused, Err(PageError::Overloaded { retry_after: after }) if after == retry_after),
        "{refused:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unfinished_page_is_read_again() {
    // Without a renderer, and with one whose page does not get its data.
    for is_rendered in [false, true] {
        let world = World::new().await;
        let unfinished = Ok("<p>Loading</p>".into());
        let renderer = Arc::new(FakeRenderer { outcome: Mutex::new(unfinished), rendered: Mutex::default() });
        let with_renderer = || Scripted::new(Some(Arc::clone(&renderer) as _));
        let first = if is_rendered { with_renderer() } else { Scripted::default() };
        let reader = reader_with(&world, Arc::new(InProcess), first);
        let base = site().await;
        let pages = ["/shell", "/text"].map(|path| request(world.organization_id, format!("{base}{path}")));
        let stored = async |page: &PageRequest| {
            let read = world.store.find_page_read(world.organization_id, page.doc_id).await.unwrap();
            read.and_then(|(_, capture)| capture).unwrap()
        };
        for (page, etag) in pages.iter().zip([None, Some("\"v1\"")]) {
            reader.read(page.clone()).await.unwrap();
            assert_eq!(stored(page).await.etag.as_deref(), etag, "{}", page.canonical_url);
        }
        assert_eq!(stored(&pages[0]).await.content.trim(), "Loading");

        *renderer.outcome.lock().unwrap() = Ok(WRITTEN.into());
        let reader = reader_with(&world, Arc::new(InProcess), with_renderer());
        world.clock.advance(Duration::from_secs(1));
        for page in &pages {
            let before = stored(page).await;
            let seen = SeenCapture { capture_id: before.capture_id, captured_at: before.captured_at };
            reader.read(PageRequest { seen: Some(seen), ..page.clone() }).await.unwrap();
            assert!(stored(page).await.captured_at > before.captured_at);
        }
        let texts = [stored(&pages[0]).await, stored(&pages[1]).await].map(|capture| capture.content);
        assert!(texts[0].contains("the tides of the northern sea"), "{}", texts[0]);
        assert!(texts[1].contains("A text that needs no scripts."), "{}", texts[1]);
    }
}
