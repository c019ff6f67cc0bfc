//! Visits of single pages.

use std::time::Duration;

use crawler::{Address, Plan, SINGLE_PAGES, Sitemaps};
use ingest::prepare::{self, Content, Source};
use model::{Clock, Collection, CrawlStatus, DocId};
use test_support::crawl_site::{CrawlSite, generated};
use test_support::site::Page;

use crate::rounds::three;
use crate::world::{World, plan};

/// Queues a visit of a page by its exact URL.
async fn refresh(world: &World, url: &str) {
    let address = Address::exact(url).unwrap();
    crawler::refresh(&world.store, &address, 1_000, world.clock.now()).await.unwrap();
}

/// Lists a page as `web import` does, which no crawl knows. Returns it with the digest of its content.
async fn import(world: &World, url: &str) -> (DocId, String) {
    let source = Source {
        collection: Collection::Web,
        canonical_url: url.to_owned(),
        source_url: url.to_owned(),
        source_uri: None,
        mime: None,
        country: None,
        listed: true,
    };
    let content = Content { markdown: "the text that was imported".to_owned(), ..Content::default() };
    let imported = prepare::document(source, content, world.clock.now());
    let (doc_id, digest) = (imported.document.doc_id, imported.capture.content_digest.clone());
    world.store.save_documents(vec![imported], world.clock.now()).await.unwrap();
    (doc_id, digest)
}

/// Path of an imported page.
const PATH: &str = "/imported";

/// Site whose imported page redirects to another host with this status.
fn moved_away(path: &str, status: u16) -> Page {
    match path {
        PATH => Page { status, ..Page::redirect("http://127.0.0.9:8080/x") },
        _ => Page::status(404),
    }
}

/// Works on single pages until all are visited.
async fn visit_single_pages(world: &World) {
    let instance = world.instance();
    world.finish(SINGLE_PAGES).await;
    instance.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn single_page_that_the_plan_lacks_is_visited() {
    let world = World::new().await;
    let sites = ["127.0.0.2", "127.0.0.3"].map(|address| CrawlSite::start(address, three));
    let [first, second] = [sites[0].url("/a"), sites[1].url("/b")];
    for url in [&first, &second] {
        refresh(&world, url).await;
    }
    // As another start writes it that has read the plan before the first one.
    let late = Plan { depth: Some(0), sitemaps: Sitemaps::Off, ..plan(&[second]) };
    world.start(SINGLE_PAGES, late).await;
    visit_single_pages(&world).await;
    assert_eq!(world.listed().await, ["/a", "/b"], "{:?}", world.outcomes(SINGLE_PAGES).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_of_a_stopped_crawl_is_visited_as_a_single_page() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", three);
    world.run("site", plan(&[site.url("/")])).await;
    world.store.set_crawl_status("site".to_owned(), CrawlStatus::Stopped, None).await.unwrap();
    site.take_log();
    world.clock.advance(Duration::from_secs(10));
    refresh(&world, &site.url("/a")).await;
    visit_single_pages(&world).await;
    let pages = || {
        let log = site.take_log().into_iter().map(|request| request.path);
        let mut pages: Vec<String> = log.filter(|path| !path.contains(".txt") && !path.contains(".xml")).collect();
        pages.sort();
        pages
    };
    assert_eq!(pages(), ["/a"]);
    world.clock.advance(Duration::from_secs(10));
    world.run("site", plan(&[site.url("/")])).await;
    assert_eq!(pages(), ["/", "/a", "/b"], "the next start begins a new round");
}

/// The round of the stopped crawl has visited the page.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn single_page_is_visited_again_in_an_unfinished_round_that_was_stopped() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| if path == "/b" { Page::status(503) } else { three(path) });
    for path in ["/a", "/b"] {
        refresh(&world, &site.url(path)).await;
    }
    let instance = world.instance();
    test_support::until("the first page", async || {
        // The host may be left alone after a failure of the other page.
        world.clock.advance(Duration::from_secs(1));
        (world.listed().await == ["/a"]).then_some(())
    })
    .await;
    instance.stop().await;
    let crawl = world.store.set_crawl_status(SINGLE_PAGES.to_owned(), CrawlStatus::Stopped, None).await.unwrap();
    assert_eq!(crawl.map(|crawl| crawl.queued), Some(1));
    site.take_log();
    site.change(three);
    refresh(&world, &site.url("/a")).await;
    visit_single_pages(&world).await;
    assert!(site.paths().contains(&"/a".to_owned()), "{:?}", site.paths());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_with_a_session_parameter_keeps_its_address() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| match path {
        "/robots.txt" => Page::status(404),
        "/talk?session=12" => {
            let page = String::from_utf8(generated(1, &[]).body).unwrap();
            Page::html(&page.replace("<title>", "<link rel=canonical href=\"/talk?session=12\"><title>"))
        }
        _ => generated(2, &[]),
    });
    let url = site.url("/talk?session=12");
    let (doc_id, before) = import(&world, &url).await;
    for _ in 0..2 {
        world.clock.advance(Duration::from_secs(10));
        refresh(&world, &url).await;
        visit_single_pages(&world).await;
        assert_eq!(world.listed().await, ["/talk?session=12"], "{:?}", world.outcomes(SINGLE_PAGES).await);
        let after = world.store.list_valid_digests(vec![doc_id]).await.unwrap();
        assert!(after.len() == 1 && after[0].1 != before, "the content is new");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn imported_page_leaves_the_index_when_its_site_says_so() {
    type Answer = fn(&str) -> Page;
    let cases: [(&str, Answer); 5] = [
        ("noindex", |path| match path {
            PATH => generated(1, &[]).with("X-Robots-Tag", "noindex"),
            _ => Page::status(404),
        }),
        ("robots", |path| match path {
            "/robots.txt" => Page::of("text/plain", "User-agent: *\nDisallow: /imported"),
            _ => generated(1, &[]),
        }),
        ("redirect", |path| match path {
            PATH => Page::redirect("/target"),
            _ => Page::status(404),
        }),
        ("301 to another host", |path| moved_away(path, 301)),
        ("308 to another host", |path| moved_away(path, 308)),
    ];
    for (case, answer) in cases {
        let world = World::new().await;
        let site = CrawlSite::start("127.0.0.2", answer);
        import(&world, &site.url(PATH)).await;
        refresh(&world, &site.url(PATH)).await;
        visit_single_pages(&world).await;
        assert!(world.listed().await.is_empty(), "{case}: {:?}", world.outcomes(SINGLE_PAGES).await);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn imported_page_stays_while_it_is_redirected_to_another_host() {
    for status in [302, 303, 307] {
        let world = World::new().await;
        let site = CrawlSite::start("127.0.0.2", move |path| moved_away(path, status));
        import(&world, &site.url(PATH)).await;
        for _ in 0..2 {
            world.clock.advance(Duration::from_secs(10));
            refresh(&world, &site.url(PATH)).await;
            visit_single_pages(&world).await;
            let outcomes = world.outcomes(SINGLE_PAGES).await;
            assert_eq!(outcomes.get("skipped/redirect_outside"), Some(&1), "{status}: {outcomes:?}");
            assert_eq!(world.listed().await, [PATH], "{status}: {outcomes:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn imported_page_leaves_the_index_after_two_missing_responses() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |_| Page::status(410));
    import(&world, &site.url("/imported")).await;
    for left in [1, 0] {
        world.clock.advance(Duration::from_secs(10));
        refresh(&world, &site.url("/imported")).await;
        visit_single_pages(&world).await;
        let outcomes = world.outcomes(SINGLE_PAGES).await;
        assert_eq!(world.listed().await.len(), left, "{outcomes:?}");
        assert_eq!(outcomes.get("gone/http_410"), Some(&1), "{outcomes:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_imported_page_is_checked_again_within_an_hour() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| match path {
        "/" => generated(1, &["/a".to_owned()]),
        _ => Page::status(404),
    });
    import(&world, &site.url("/a")).await;
    world.start("site", plan(&[site.url("/")])).await;
    let instance = world.instance();
    world.finish("site").await;
    assert_eq!(world.listed().await, ["/", "/a"], "one response is not enough");
    world.clock.advance(Duration::from_secs(3_601));
    test_support::until("the removal", async || (world.listed().await == ["/"]).then_some(())).await;
    instance.stop().await;
}
