//! Several instances, and several crawls of one site.

use std::time::Duration;

use crawler::Plan;
use docstore::CrawlLimits;
use test_support::crawl_site::{CrawlSite, generated};
use test_support::site::Page;

use crate::polite::shortest_pause;
use crate::world::{World, plan};

const PAGES: usize = 60;

/// Limits of crawls that get no links here.
const LIMITS: CrawlLimits =
    CrawlLimits { queries_per_path: 1, same_content: 1, shortest_interval: Duration::ZERO, is_depth_bounded: false };

fn ring(path: &str) -> Page {
    match path.strip_prefix("/page/").and_then(|number| number.parse::<usize>().ok()) {
        Some(number) if number < PAGES => {
            let links: Vec<String> = (1..5).map(|n| format!("/page/{}", (number + n * n) % PAGES)).collect();
            generated(number, &links)
        }
        _ => Page::status(404),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instances_share_the_hosts() {
    let world = World::new().await;
    let sites = ["127.0.0.2", "127.0.0.3", "127.0.0.4"].map(|address| CrawlSite::start(address, ring));
    let seeds: Vec<String> = sites.iter().map(|site| site.url("/page/0")).collect();
    world.start("shared", plan(&seeds)).await;
    let instances = [world.instance(), world.instance(), world.instance()];
    let crawl = world.finish("shared").await;
    for instance in instances {
        instance.stop().await;
    }
    assert_eq!(crawl.pages, 3 * PAGES as i64);
    for site in &sites {
        let log = site.take_log();
        let pages: Vec<_> = log.iter().filter(|request| request.path.starts_with("/page/")).cloned().collect();
        assert_eq!(pages.len(), PAGES);
        shortest_pause(&pages);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_crawls_of_one_site_share_its_turn_and_its_pages() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", ring);
    world.start("first", plan(&[site.url("/page/0")])).await;
    world.start("second", plan(&[site.url("/page/7")])).await;
    let instances = [world.instance(), world.instance()];
    let (first, second) = (world.finish("first").await, world.finish("second").await);
    for instance in instances {
        instance.stop().await;
    }
    assert_eq!((first.pages, second.pages), (PAGES as i64, PAGES as i64));
    assert_eq!(world.listed().await.len(), PAGES);
    shortest_pause(&site.take_log());
    // Pages that the other crawl lists stay.
    let now = model::Clock::now(world.clock.as_ref());
    while !world.store.delete_crawl(first.crawl_id, true, 17, now, None).await.unwrap() {}
    assert_eq!(world.listed().await.len(), PAGES);
    while !world.store.delete_crawl(second.crawl_id, true, 17, now, None).await.unwrap() {}
    assert_eq!(world.listed().await.len(), 0);
    assert!(world.store.list_crawls().await.unwrap().is_empty());
}

/// The answer to a claim may be lost, or the release of a host fail.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lease_without_a_session_expires() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", ring);
    world.start("orphan", plan(&[site.url("/page/0")])).await;
    let now = || model::Clock::now(world.clock.as_ref());
    let host = site.url("").replace("http://", "");
    let lease = Duration::from_millis(300);
    let claimed = world.store.claim_crawl_host(host, "owner".to_owned(), now(), now() + lease).await.unwrap();
    assert!(claimed.is_some());
    let instance = world.instance_of("owner", lease);
    test_support::until("a visit", async || {
        // About as fast as the leases are extended.
        world.clock.advance(lease / 20);
        tokio::time::sleep(lease / 20).await;
        (!site.paths().is_empty()).then_some(())
    })
    .await;
    instance.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_crawl_goes_on_where_it_was() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", ring);
    world.start("stopped", plan(&[site.url("/page/0")])).await;
    let instance = world.instance();
    test_support::until("some pages", async || (world.crawl("stopped").await.pages > 5).then_some(())).await;
    world.store.set_crawl_status("stopped".to_owned(), model::CrawlStatus::Stopped, None).await.unwrap();
    let before = test_support::until("a pause", async || {
        let before = world.crawl("stopped").await.pages;
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        (world.crawl("stopped").await.pages == before).then_some(before)
    })
    .await;
    assert!(before < PAGES as i64);
    world.start("stopped", plan(&[site.url("/page/0")])).await;
    let crawl = world.finish("stopped").await;
    instance.stop().await;
    assert_eq!(crawl.pages, PAGES as i64);
    let visits = site.paths().iter().filter(|path| path.starts_with("/page/")).count();
    assert!(visits <= PAGES + 1, "{visits}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crawl_of_a_newer_version_is_left_alone() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", ring);
    world.start("newer", plan(&[site.url("/page/0")])).await;
    let newer = docstore::Crawl { settings: "newer".to_owned(), ..world.crawl("newer").await };
    let now = || model::Clock::now(world.clock.as_ref());
    world.store.start_crawl(newer, Vec::new(), LIMITS, now(), None).await.unwrap();
    let instance = world.instance();
    let host = site.url("").replace("http://", "");
    let due = async || world.store.list_due_crawl_hosts(None, now(), 10).await.unwrap().contains(&host);
    test_support::until("the host rests", async || (!due().await).then_some(())).await;
    tokio::time::timeout(std::time::Duration::from_secs(10), instance.stop()).await.expect("the session has ended");
    assert!(world.store.list_crawl_owners().await.unwrap().is_empty() && !due().await);
    world.clock.advance(std::time::Duration::from_secs(61));
    assert!(due().await);
    assert!(site.paths().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn schedule_of_a_crawl_of_a_newer_version_is_left_alone() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", ring);
    let every = Plan { every_seconds: Some(3 * 86_400), ..plan(&[site.url("/page/0")]) };
    world.run("newer", every).await;
    let known = world.crawl("newer").await;
    let settings = known.settings.replace("\"auto\"", "\"unknown_variant\"");
    assert_ne!(settings, known.settings);
    let now = || model::Clock::now(world.clock.as_ref());
    let newer = docstore::Crawl { settings, ..known };
    world.store.start_crawl(newer, Vec::new(), LIMITS, now(), None).await.unwrap();
    // Schedules are looked at before the first visit.
    let other = CrawlSite::start("127.0.0.3", ring);
    world.run("other", plan(&[other.url("/page/0")])).await;
    let host = site.url("").replace("http://", "");
    let in_two_days = now() + Duration::from_hours(48);
    assert!(world.store.next_crawl_urls(host.clone(), None, in_two_days, 10).await.unwrap().is_empty());
    let in_four_days = now() + Duration::from_hours(96);
    assert!(!world.store.next_crawl_urls(host, None, in_four_days, 10).await.unwrap().is_empty());
}
