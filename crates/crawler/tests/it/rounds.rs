//! Further rounds: conditional requests, intervals, removal, changes of the clock.

use std::time::Duration;

use crawler::Plan;
use model::{Clock, CrawlUrlState};
use test_support::crawl_site::{CrawlSite, generated};
use test_support::site::Page;

use crate::world::{World, plan};

pub fn three(path: &str) -> Page {
    match path {
        "/" => generated(1, &["/a".to_owned(), "/b".to_owned()]),
        "/a" => generated(2, &[]),
        "/b" => generated(3, &[]),
        _ => Page::status(404),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn second_round_makes_conditional_requests_only() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", three);
    world.run("site", plan(&[site.url("/")])).await;
    assert!(site.take_log().iter().all(|request| !request.is_conditional()));
    let outbox = world.store.count_outbox(model::IndexName::Web).await.unwrap();
    world.clock.advance(Duration::from_secs(60));
    let crawl = world.run("site", plan(&[site.url("/")])).await;
    assert_eq!((crawl.pages, crawl.queued), (3, 0));
    let log = site.take_log();
    let pages: Vec<_> =
        log.iter().filter(|request| !request.path.contains(".txt") && !request.path.contains(".xml")).collect();
    assert_eq!(pages.len(), 3);
    assert!(pages.iter().all(|request| request.is_conditional()), "{pages:?}");
    assert_eq!(world.store.count_outbox(model::IndexName::Web).await.unwrap(), outbox, "nothing to index");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recrawls_follow_the_interval_of_the_crawl() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", three);
    let every = Plan { every_seconds: Some(3_600), ..plan(&[site.url("/")]) };
    world.start("site", every).await;
    let instance = world.instance();
    world.finish("site").await;
    site.take_log();
    world.clock.advance(Duration::from_secs(3_500));
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(site.take_log().is_empty(), "too early");
    world.clock.advance(Duration::from_secs(200));
    test_support::until("the next round", async || {
        (["/", "/a", "/b"].iter().all(|path| site.paths().contains(&(*path).to_owned()))).then_some(())
    })
    .await;
    site.take_log();
    // Unchanged pages wait twice as long.
    world.clock.advance(Duration::from_secs(3_700));
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(site.take_log().iter().all(|request| request.path.ends_with(".xml")));
    instance.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn known_pages_are_visited_again_while_the_frontier_is_full() {
    const PAGES: usize = 300;
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| match path.strip_prefix("/page/") {
        Some(number) => generated(number.parse().unwrap(), &[]),
        None if path == "/" => {
            let links: Vec<String> = (0..PAGES).map(|number| format!("/page/{number}")).collect();
            generated(1_000, &links)
        }
        None => Page::status(404),
    });
    world.start("site", Plan { every_seconds: Some(60), ..plan(&[site.url("/")]) }).await;
    let instance = world.instance();
    test_support::until("some pages", async || (world.crawl("site").await.pages > 10).then_some(())).await;
    world.clock.advance(Duration::from_secs(61));
    world.finish("site").await;
    instance.stop().await;
    let paths = site.paths();
    let again = ["/", "/sitemap.xml"].map(|path| {
        let requests: Vec<usize> = (0..paths.len()).filter(|at| paths[*at] == path).collect();
        assert!(requests.len() > 1, "{path}: {requests:?}");
        requests[1]
    });
    let is_first = |at: &usize| !paths[..*at].contains(&paths[*at]);
    let last_new = (0..paths.len()).rfind(is_first).unwrap();
    assert!(again.iter().all(|at| *at < last_new), "{again:?} {last_new}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_is_removed_after_two_missing_responses_and_never_by_a_server_error() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", three);
    world.run("site", plan(&[site.url("/")])).await;
    assert_eq!(world.listed().await, ["/", "/a", "/b"]);
    site.change(|path| match path {
        "/a" => Page::status(410),
        "/b" => Page::status(500),
        path => three(path),
    });
    world.clock.advance(Duration::from_secs(10));
    world.run("site", plan(&[site.url("/")])).await;
    assert_eq!(world.listed().await, ["/", "/a", "/b"], "one response is not enough");
    world.clock.advance(Duration::from_secs(10));
    world.run("site", plan(&[site.url("/")])).await;
    assert_eq!(world.listed().await, ["/", "/b"]);
    for _ in 0..3 {
        world.clock.advance(Duration::from_secs(10));
        world.run("site", plan(&[site.url("/")])).await;
    }
    assert_eq!(world.listed().await, ["/", "/b"]);
    assert_eq!(world.outcomes("site").await.get("gone/http_410"), Some(&1));
    // It comes back with its page.
    site.change(three);
    world.clock.advance(Duration::from_secs(10));
    world.run("site", plan(&[site.url("/")])).await;
    assert_eq!(world.listed().await, ["/", "/a", "/b"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_page_is_checked_again_without_a_new_round() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", three);
    world.run("site", plan(&[site.url("/")])).await;
    site.change(|path| if path == "/a" { Page::status(404) } else { three(path) });
    world.clock.advance(Duration::from_secs(10));
    let id = crawler::Address::parse(&site.url("/a")).unwrap().doc_id();
    world.store.refresh_crawled_page(id, world.clock.now()).await.unwrap();
    let instance = world.instance();
    world.finish("site").await;
    assert_eq!(world.listed().await, ["/", "/a", "/b"]);
    world.clock.advance(Duration::from_secs(3_601));
    test_support::until("the removal", async || (world.listed().await == ["/", "/b"]).then_some(())).await;
    instance.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crawl_goes_on_after_the_clock_is_set_back() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| match path {
        "/a" => Page::status(503),
        path => three(path),
    });
    world.clock.advance(Duration::from_secs(400 * 86_400));
    world.start("site", plan(&[site.url("/")])).await;
    let instance = world.instance();
    test_support::until("a failure", async || site.paths().contains(&"/a".to_owned()).then_some(())).await;
    // A killed one could record the visit after the other has looked for dates in the future.
    instance.stop().await;
    // The pause of the host and the retry end in the far future.
    world.clock.set(model::SystemClock.now());
    site.change(three);
    let instance = world.instance();
    let crawl = world.finish("site").await;
    instance.stop().await;
    assert_eq!(crawl.pages, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_whose_visit_began_under_former_settings_is_visited_again() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| match path {
        "/" => three(path).after(Duration::from_millis(500)),
        path => three(path),
    });
    let to_depth = |depth: u32| Plan { depth: Some(depth), ..plan(&[site.url("/")]) };
    world.start("site", to_depth(0)).await;
    let instance = world.instance();
    test_support::until("the begin of the visit", async || {
        site.paths().contains(&"/robots.txt".to_owned()).then_some(())
    })
    .await;
    world.start("site", to_depth(1)).await;
    world.finish("site").await;
    instance.stop().await;
    assert_eq!(world.listed().await, ["/", "/a", "/b"], "{:?}", world.outcomes("site").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_that_new_settings_exclude_is_removed_without_a_request() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", three);
    world.run("site", plan(&[site.url("/")])).await;
    assert_eq!(world.listed().await, ["/", "/a", "/b"]);
    site.take_log();
    site.change(|path| if path == "/a" { Page::status(500) } else { three(path) });
    for _ in 0..2 {
        world.clock.advance(Duration::from_secs(10));
        world.run("site", Plan { exclude: vec!["/a".to_owned()], ..plan(&[site.url("/")]) }).await;
        let outcomes = world.outcomes("site").await;
        assert!(!site.paths().contains(&"/a".to_owned()), "{outcomes:?}");
        assert_eq!(world.listed().await, ["/", "/b"], "{outcomes:?}");
        assert_eq!(outcomes.get("skipped/excluded"), Some(&1), "{outcomes:?}");
    }
    site.change(three);
    world.clock.advance(Duration::from_secs(10));
    world.run("site", plan(&[site.url("/")])).await;
    assert_eq!(world.listed().await, ["/", "/a", "/b"], "{:?}", world.outcomes("site").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn removed_page_is_not_crawled_again() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", three);
    let crawl = world.run("site", plan(&[site.url("/")])).await;
    let id = crawler::Address::parse(&site.url("/a")).unwrap().doc_id();
    assert_eq!(world.store.remove_web_pages(vec![id], world.clock.now(), None).await.unwrap(), 1);
    assert_eq!(world.crawl("site").await.pages, crawl.pages - 1);
    world.clock.advance(Duration::from_secs(10));
    world.run("site", plan(&[site.url("/")])).await;
    assert_eq!(world.listed().await, ["/", "/b"]);
    let skipped = CrawlUrlState::Skipped.as_str();
    assert_eq!(world.outcomes("site").await.get(&format!("{skipped}/removed_by_operator")), Some(&1));
}
