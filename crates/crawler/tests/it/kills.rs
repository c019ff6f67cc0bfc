//! Instances that are killed lose nothing and record nothing twice.

use std::time::Duration;

use test_support::crawl_site::{CrawlSite, generated};
use test_support::site::Page;

use crate::world::{LEASE, World, plan};

const PAGES: usize = 150;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_ten_times_nothing_is_lost_or_duplicated() {
    let world = World::new().await;
    let pages = |path: &str| match path.strip_prefix("/page/").and_then(|number| number.parse::<usize>().ok()) {
        Some(number) if number < PAGES => {
            let links: Vec<String> = (1..4).map(|n| format!("/page/{}", (number * 3 + n) % PAGES)).collect();
            generated(number, &links)
        }
        _ => Page::status(404),
    };
    let sites = [CrawlSite::start("127.0.0.2", pages), CrawlSite::start("127.0.0.3", pages)];
    let seeds: Vec<String> = sites.iter().map(|site| site.url("/page/0")).collect();
    world.start("killed", plan(&seeds)).await;
    let mut unfinished = 0;
    for kill in 0..10_u64 {
        let instance = world.instance();
        tokio::time::sleep(Duration::from_millis(30 + kill * 37 % 110)).await;
        instance.kill().await;
        unfinished += usize::from(world.crawl("killed").await.queued > 0);
        world.clock.advance(LEASE + Duration::from_secs(1));
    }
    assert!(unfinished >= 5, "the kills came too late to matter");
    let instance = world.instance();
    let crawl = world.finish("killed").await;
    instance.stop().await;
    // Two sitemaps that do not exist.
    assert_eq!((crawl.pages, crawl.urls, crawl.queued), (2 * PAGES as i64, 2 * PAGES as i64 + 2, 0));
    let outcomes = world.outcomes("killed").await;
    assert_eq!(outcomes.get("listed"), Some(&(2 * PAGES as i64)), "{outcomes:?}");
    assert_eq!(world.listed().await.len(), 2 * PAGES);
    let requests: usize =
        sites.iter().map(|site| site.paths().iter().filter(|path| path.contains("page")).count()).sum();
    assert!(requests <= 2 * PAGES + 10 * 2, "only visits that were not recorded are repeated: {requests}");
}
