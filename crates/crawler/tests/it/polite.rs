//! Whole sites: complete, and one request at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use crawler::{Plan, Sitemaps};
use extract::{ExtractRequest, Extracted};
use extract_worker::{Extractor, InProcess, Input, Turn, WorkError};
use test_support::crawl_site::{CrawlSite, Request, generated};
use test_support::site::Page;

use crate::world::{World, plan};

const PAGES: usize = 40;

/// Site of a tree of pages with a robots.txt.
fn tree(robots: &'static str) -> impl Fn(&str) -> Page + Send + Sync {
    move |path| match path {
        "/robots.txt" => Page::of("text/plain", robots),
        "/" => generated(1_000, &["/page/0".to_owned(), "/private/secret".to_owned()]),
        path => match path.strip_prefix("/page/").and_then(|number| number.parse::<usize>().ok()) {
            Some(number) if number < PAGES => {
                let links: Vec<String> = [2 * number + 1, 2 * number + 2]
                    .iter()
                    .filter(|n| **n < PAGES)
                    .map(|n| format!("/page/{n}"))
                    .collect();
                generated(number, &links)
            }
            _ => Page::status(404),
        },
    }
}

/// Asserts that no two requests overlap, and returns the shortest pause between two.
pub fn shortest_pause(log: &[Request]) -> Duration {
    let pauses = log.windows(2).map(|pair| {
        assert!(pair[0].ended <= pair[1].began, "two requests at a time: {} and {}", pair[0].path, pair[1].path);
        pair[1].began - pair[0].ended
    });
    pauses.min().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sites_are_crawled_completely_and_politely() {
    let world = World::new().await;
    let sites = [
        CrawlSite::start("127.0.0.2", tree("User-agent: *\nDisallow: /private")),
        CrawlSite::start("127.0.0.3", tree("User-agent: testbot\nCrawl-delay: 0.05\nDisallow: /private")),
        CrawlSite::start("127.0.0.4", tree("")),
    ];
    let seeds: Vec<String> = sites.iter().map(|site| site.url("/")).collect();
    let crawl = world.run("all", plan(&seeds)).await;
    assert_eq!(crawl.pages, 3 * (PAGES as i64 + 1));
    let outcomes = world.outcomes("all").await;
    assert_eq!(outcomes.get("skipped/robots"), Some(&2));
    assert_eq!(outcomes.get("gone/http_404"), Some(&1), "the private page of the third site: {outcomes:?}");
    for (site, delay) in sites.iter().zip([0, 50, 0]) {
        let log = site.take_log();
        assert_eq!(log[0].path, "/robots.txt");
        assert!(shortest_pause(&log[1..]) >= Duration::from_millis(delay));
        let mut paths: Vec<&str> = log.iter().map(|request| request.path.as_str()).collect();
        let all = paths.len();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), all, "no path is requested twice");
    }
    for site in &sites[..2] {
        assert!(!site.paths().iter().any(|path| path.starts_with("/private")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn url_that_takes_no_request_takes_no_delay() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| match path {
        "/robots.txt" => Page::of("text/plain", "User-agent: *\nCrawl-delay: 0.5\nDisallow: /x/"),
        "/" => {
            let disallowed = (0..40).map(|number| format!("/x/{number}"));
            generated(1, &disallowed.chain(["/a".to_owned()]).collect::<Vec<_>>())
        }
        "/a" => generated(2, &[]),
        _ => Page::status(404),
    });
    let only_links = || Plan { sitemaps: Sitemaps::Off, ..plan(&[site.url("/")]) };
    let started = Instant::now();
    world.run("one", only_links()).await;
    // New settings exclude what the first round has visited.
    world.clock.advance(Duration::from_secs(10));
    world.run("one", Plan { exclude: vec!["/x/*".to_owned()], ..only_links() }).await;
    let log = site.take_log();
    let paths: Vec<&str> = log.iter().map(|request| request.path.as_str()).collect();
    assert_eq!(paths, ["/robots.txt", "/", "/a", "/robots.txt", "/", "/a"]);
    for round in [&log[..3], &log[3..]] {
        assert!(shortest_pause(round) >= Duration::from_millis(500));
    }
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    let outcomes = world.outcomes("one").await;
    assert_eq!(outcomes.get("skipped/excluded"), Some(&40), "{outcomes:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn busy_host_is_left_alone_for_as_long_as_it_asks() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| match path {
        "/" => generated(1, &["/a".to_owned()]),
        "/a" => Page::status(429).with("Retry-After", "120"),
        _ => Page::status(404),
    });
    world.start("one", plan(&[site.url("/")])).await;
    let instance = world.instance();
    test_support::until("the refusal", async || {
        let crawl = world.crawl("one").await;
        (crawl.pages == 1 && site.paths().contains(&"/a".to_owned())).then_some(())
    })
    .await;
    let before = site.paths().len();
    world.clock.advance(Duration::from_secs(119));
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(site.paths().len(), before);
    site.change(|_| generated(2, &[]));
    world.clock.advance(Duration::from_secs(2));
    let crawl = world.finish("one").await;
    assert_eq!(crawl.pages, 2);
    instance.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn host_is_left_alone_while_its_robots_txt_cannot_be_read() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |_| Page::status(503));
    world.start("one", plan(&[site.url("/")])).await;
    let instance = world.instance();
    test_support::until("the pause", async || {
        let due = world.store.list_due_crawl_hosts(None, model::Clock::now(world.clock.as_ref()), 1).await.unwrap();
        let leased = world.store.list_crawl_owners().await.unwrap();
        (due.is_empty() && leased.is_empty()).then_some(())
    })
    .await;
    instance.stop().await;
    site.change(|path| if path == "/" { generated(1, &[]) } else { Page::status(404) });
    // Has not cached the failure.
    let instance = world.instance();
    world.clock.advance(Duration::from_mins(4));
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(site.paths(), ["/robots.txt"]);
    world.clock.advance(Duration::from_mins(1));
    let crawl = world.finish("one").await;
    assert_eq!(crawl.pages, 1);
    instance.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_pages_of_a_host_that_was_given_up_are_visited_at_the_next_interval() {
    const PAGES: usize = 20;
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |_| Page::status(503));
    let seeds: Vec<String> = (0..PAGES).map(|number| site.url(&format!("/{number}"))).collect();
    world.start("one", Plan { every_seconds: Some(86_400), sitemaps: Sitemaps::Off, ..plan(&seeds) }).await;
    let instance = world.instance();
    test_support::until("the host is given up", async || {
        world.clock.advance(Duration::from_mins(10));
        (world.crawl("one").await.queued == 0).then_some(())
    })
    .await;
    instance.stop().await;
    site.change(|path| match path.trim_start_matches('/').parse() {
        Ok(number) => generated(number, &[]),
        Err(_) => Page::status(404),
    });
    // Has not cached the failure.
    let instance = world.instance();
    test_support::until("all pages", async || {
        world.clock.advance(Duration::from_hours(1));
        (world.listed().await.len() == PAGES).then_some(())
    })
    .await;
    instance.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn delay_of_a_host_outlasts_an_interrupted_request() {
    let world = World::new().await;
    let has_begun = Arc::new(AtomicBool::new(false));
    let begins = Arc::clone(&has_begun);
    let site = CrawlSite::start("127.0.0.2", move |path| match path {
        "/robots.txt" => Page::of("text/plain", "User-agent: *\nCrawl-delay: 1"),
        _ => {
            begins.store(true, Ordering::SeqCst);
            generated(1, &[]).after(Duration::from_secs(2))
        }
    });
    world.start("one", Plan { sitemaps: Sitemaps::Off, ..plan(&[site.url("/")]) }).await;
    let instance = world.instance();
    test_support::until("the request", async || has_begun.load(Ordering::SeqCst).then_some(())).await;
    instance.stop().await;
    assert_eq!(world.crawl("one").await.queued, 1, "the request was interrupted");
    let is_due = async || {
        let now = model::Clock::now(world.clock.as_ref());
        !world.store.list_due_crawl_hosts(None, now, 1).await.unwrap().is_empty()
    };
    assert!(!is_due().await);
    world.clock.advance(Duration::from_millis(900));
    assert!(!is_due().await);
    world.clock.advance(Duration::from_millis(100));
    assert!(is_due().await);
}

/// Extractor whose workers cannot be started for a while.
#[derive(Default)]
struct Absent {
    is_back: AtomicBool,
}

#[async_trait]
impl Extractor for Absent {
    async fn extract(&self, turn: &Turn, request: ExtractRequest, input: Input) -> Result<Extracted, WorkError> {
        match self.is_back.load(Ordering::SeqCst) {
            true => InProcess.extract(turn, request, input).await,
            false => Err(WorkError::Unavailable("no worker".to_owned())),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_that_no_worker_reads_is_requested_a_few_times_only() {
    let mut world = World::new().await;
    let extractor = Arc::new(Absent::default());
    world.extractor = Arc::clone(&extractor) as _;
    let site = CrawlSite::start("127.0.0.2", |path| if path == "/a" { generated(1, &[]) } else { Page::status(404) });
    let only = || Plan { depth: Some(0), sitemaps: Sitemaps::Off, ..plan(&[site.url("/a")]) };
    world.start("one", only()).await;
    let instance = world.instance();
    let requests = || site.paths().iter().filter(|path| *path == "/a").count();
    test_support::until("the first request", async || (requests() == 1).then_some(())).await;
    for _ in 0..9 {
        // Less than the first retry in all.
        world.clock.advance(Duration::from_secs(1));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(requests(), 1);
    test_support::until("the last attempt", async || {
        world.clock.advance(Duration::from_mins(10));
        (world.crawl("one").await.queued == 0).then_some(())
    })
    .await;
    assert!(requests() <= 8, "{}", requests());
    assert_eq!(world.outcomes("one").await.get("failed/not_read"), Some(&1));
    instance.stop().await;
    extractor.is_back.store(true, Ordering::SeqCst);
    world.clock.advance(Duration::from_secs(10));
    assert_eq!(world.run("one", only()).await.pages, 1, "the next round reads it");
}
