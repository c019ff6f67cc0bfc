//! Pages that are empty without their scripts.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use crawler::{Plan, Sitemaps};
use fetcher::{RenderError, RenderRequest, Renderer};
use test_support::crawl_site::{CrawlSite, generated};
use test_support::site::Page;

use crate::world::{World, plan};

/// Renderer that knows the documents of some paths, and fails for others.
struct FakeRenderer {
    rendered: Mutex<Vec<String>>,
    /// Outcome of all renders, in place of the usual ones.
    failure: Mutex<Option<Result<Bytes, RenderError>>>,
}

#[async_trait]
impl Renderer for FakeRenderer {
    async fn render(&self, request: RenderRequest<'_>) -> Result<Bytes, RenderError> {
        assert!(request.is_patient, "a page of a crawl is not refused");
        let path = request.page.final_url.path().to_owned();
        self.rendered.lock().unwrap().push(path.clone());
        if let Some(failure) = self.failure.lock().unwrap().clone() {
            return failure;
        }
        let links = ["/hidden".to_owned(), "/next".to_owned()];
        match path.as_str() {
            "/app" => Ok(generated(1, &links).body.into()),
            "/hidden" => {
                let page = String::from_utf8(generated(2, &["/never".to_owned()]).body).unwrap();
                Ok(page.replace("<title>", "<meta name=robots content=noindex,nofollow><title>").into())
            }
            _ => Err(RenderError::Crashed),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_and_directives_of_scripts_count() {
    let mut world = World::new().await;
    let renderer = Arc::new(FakeRenderer { rendered: Mutex::default(), failure: Mutex::default() });
    world.renderer = Some(Arc::clone(&renderer) as _);
    let site = CrawlSite::start("127.0.0.2", |path| match path {
        "/robots.txt" | "/sitemap.xml" => Page::status(404),
        "/next" => generated(3, &["/broken".to_owned()]),
        _ => Page::html("<div id=root></div><script src=/app.js></script>").with("ETag", "\"shell\""),
    });
    world.run("apps", plan(&[site.url("/app")])).await;
    assert_eq!(world.listed().await, ["/app", "/next"]);
    let outcomes = world.outcomes("apps").await;
    assert_eq!((outcomes["skipped/noindex"], outcomes["skipped/no_text"]), (1, 1), "{outcomes:?}");
    let mut rendered = renderer.rendered.lock().unwrap().clone();
    rendered.sort();
    assert_eq!(rendered, ["/app", "/broken", "/hidden"]);
    assert!(!site.paths().iter().any(|path| path == "/never" || path == "/app.js"), "{:?}", site.paths());
}

/// The browser may be away, and a page without its data may be empty.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_render_leaves_listed_pages_as_they_are() {
    let mut world = World::new().await;
    let renderer = Arc::new(FakeRenderer { rendered: Mutex::default(), failure: Mutex::default() });
    world.renderer = Some(Arc::clone(&renderer) as _);
    let shell = |text: &'static str| {
        move |path: &str| match path {
            "/app" => Page::html(&format!("<div id=root>{text}</div><script src=/app.js></script>")),
            _ => Page::status(404),
        }
    };
    let site = CrawlSite::start("127.0.0.2", shell(""));
    let only = || Plan { depth: Some(0), sitemaps: Sitemaps::Off, ..plan(&[site.url("/app")]) };
    let id = crawler::Address::parse(&site.url("/app")).unwrap().doc_id();
    let store = world.store.clone();
    let content = async || store.list_valid_digests(vec![id]).await.unwrap();
    world.run("apps", only()).await;
    let written = content().await;
    assert_eq!((world.listed().await, written.len()), (vec!["/app".to_owned()], 1));
    for text in ["", "Loading"] {
        site.change(shell(text));
        for failure in [Err(RenderError::Crashed), Ok("<div id=root></div>".into())] {
            *renderer.failure.lock().unwrap() = Some(failure);
            world.clock.advance(Duration::from_secs(10));
            world.run("apps", only()).await;
            assert_eq!(content().await, written, "{text}");
        }
    }
    // Nor does another crawl replace it.
    world.run("others", only()).await;
    assert_eq!(content().await, written);
    assert_eq!(world.outcomes("others").await.get("failed/not_rendered"), Some(&1));
    *renderer.failure.lock().unwrap() = None;
    world.clock.advance(Duration::from_secs(10));
    world.run("others", only()).await;
    assert_eq!((content().await, world.crawl("others").await.pages), (written.clone(), 1));
    // Without a renderer the page has no text at all.
    world.renderer = None;
    site.change(shell(""));
    world.clock.advance(Duration::from_secs(10));
    world.run("apps", only()).await;
    assert_eq!(content().await, written);
}

/// Renderer that crashes after its first page.
#[derive(Default)]
struct ShortLived {
    has_rendered: AtomicBool,
}

#[async_trait]
impl Renderer for ShortLived {
    async fn render(&self, _: RenderRequest<'_>) -> Result<Bytes, RenderError> {
        match self.has_rendered.swap(true, Ordering::SeqCst) {
            false => Ok(generated(1, &[]).body.into()),
            true => Err(RenderError::Crashed),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_render_of_one_crawl_keeps_what_another_has_just_listed() {
    let mut world = World::new().await;
    world.renderer = Some(Arc::new(ShortLived::default()));
    let site = CrawlSite::start("127.0.0.2", |path| match path {
        "/app" => Page::html("<div id=root>Loading</div><script src=/app.js></script>"),
        _ => Page::status(404),
    });
    let only = || Plan { depth: Some(0), sitemaps: Sitemaps::Off, ..plan(&[site.url("/app")]) };
    world.start("first", only()).await;
    world.start("second", only()).await;
    // One session visits the page for both.
    let instance = world.instance();
    world.finish("first").await;
    world.finish("second").await;
    instance.stop().await;
    let pages = world.store.list_web_pages(None, None, 10).await.unwrap();
    let titles: Vec<_> = pages.into_iter().map(|page| page.title).collect();
    assert_eq!(titles, [Some("Report 1".to_owned())]);
    let (first, second) = (world.outcomes("first").await, world.outcomes("second").await);
    let failed = |outcomes: &BTreeMap<String, i64>| outcomes.get("failed/not_rendered").copied().unwrap_or(0);
    assert_eq!(failed(&first) + failed(&second), 1, "{first:?} {second:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unfinished_page_is_visited_without_validators() {
    let mut world = World::new().await;
    let unfinished = Mutex::new(Some(Ok("<p>Loading</p>".into())));
    let renderer = Arc::new(FakeRenderer { rendered: Mutex::default(), failure: unfinished });
    world.renderer = Some(Arc::clone(&renderer) as _);
    let site = CrawlSite::start("127.0.0.2", |path| match path {
        "/app" => Page::html("<div id=root>Loading</div><script src=/app.js></script>").with("ETag", "\"shell\""),
        _ => Page::status(404),
    });
    let only = || Plan { depth: Some(0), sitemaps: Sitemaps::Off, ..plan(&[site.url("/app")]) };
    world.run("apps", only()).await;
    assert_eq!(world.listed().await, ["/app"]);
    *renderer.failure.lock().unwrap() = None;
    world.clock.advance(Duration::from_secs(10));
    world.run("apps", only()).await;
    let pages = world.store.list_web_pages(None, None, 10).await.unwrap();
    let titles: Vec<_> = pages.into_iter().map(|page| page.title).collect();
    assert_eq!(titles, [Some("Report 1".to_owned())]);
}
