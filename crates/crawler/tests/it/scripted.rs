//! Pages that are empty without their scripts.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use fetcher::{RenderError, RenderRequest, Renderer};
use test_support::crawl_site::{CrawlSite, generated};
use test_support::site::Page;

use crate::world::{World, plan};

/// Renderer that knows the documents of some paths, and fails for others.
struct FakeRenderer {
    rendered: Mutex<Vec<String>>,
}

#[async_trait]
impl Renderer for FakeRenderer {
    async fn render(&self, request: RenderRequest<'_>) -> Result<Bytes, RenderError> {
        assert!(request.is_patient, "a page of a crawl is not refused");
        let path = request.page.final_url.path().to_owned();
        self.rendered.lock().unwrap().push(path.clone());
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
    let renderer = Arc::new(FakeRenderer { rendered: Mutex::default() });
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
