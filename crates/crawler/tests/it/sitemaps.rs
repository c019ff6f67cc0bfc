//! Sitemaps and feeds.

use std::io::Write;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crawler::{Address, Plan, Sitemaps};
use flate2::Compression;
use flate2::write::GzEncoder;
use test_support::crawl_site::{CrawlSite, Request, generated};
use test_support::site::Page;

use crate::world::{World, plan};

fn xml(text: &str) -> Page {
    Page::of("application/xml", text)
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// Site whose pages only sitemaps and feeds lead to.
fn listed_site() -> CrawlSite {
    let base = Arc::new(OnceLock::<String>::new());
    let known = Arc::clone(&base);
    // Lists of URLs have no relative ones.
    let list = move || format!("{}/a\n", known.get().unwrap());
    let site = CrawlSite::start("127.0.0.2", move |path| match path {
        "/robots.txt" => Page::of("text/plain", "Sitemap: /index.xml\nUser-agent: *\nDisallow: /private"),
        "/index.xml" => {
            xml("<sitemapindex><sitemap><loc>/one.xml</loc></sitemap><sitemap><loc>/two.xml.gz</loc></sitemap>\
             <sitemap><loc>/index.xml</loc></sitemap></sitemapindex>")
        }
        "/one.xml" => xml("<urlset><url><loc>/a</loc></url><url><loc>/private/x</loc></url></urlset>"),
        "/two.xml.gz" => Page::of("application/octet-stream", gzip("<urlset><url><loc>/b</loc></url></urlset>")),
        "/list.txt" => Page::of("text/plain", list()),
        "/list.txt.gz" => Page::of("application/octet-stream", gzip(&list())),
        "/notes.txt.gz" => Page::of("application/octet-stream", gzip(&format!("{}See also the rest.\n", list()))),
        "/pages.csv.gz" => Page::of("application/octet-stream", gzip(&list())),
        "/dump.tar.gz" => Page::of("application/gzip", gzip(&list())),
        "/about.tar.gz" => generated(6, &[]),
        "/feed" => xml("<rss><channel><item><link>/c</link></item></channel></rss>"),
        "/" => {
            let page = generated(1, &["/linked".to_owned()]);
            let feed = "<link rel=alternate type='application/rss+xml' href=/feed><title>";
            let body = String::from_utf8(page.body.clone()).unwrap().replace("<title>", feed);
            Page { body: body.into_bytes(), ..page }
        }
        "/a" => generated(2, &["/linked".to_owned()]),
        "/b" => generated(3, &[]),
        "/c" => generated(4, &[]),
        "/linked" => generated(5, &[]),
        _ => Page::status(404),
    });
    base.set(site.base.clone()).unwrap();
    site
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sitemaps_and_feeds_lead_to_pages() {
    for (sitemaps, expected) in [
        (Sitemaps::Auto, vec!["/", "/a", "/b", "/c", "/linked"]),
        (Sitemaps::Only, vec!["/", "/a", "/b", "/c"]),
        (Sitemaps::Off, vec!["/", "/linked"]),
    ] {
        let world = World::new().await;
        let site = listed_site();
        world.run("site", Plan { sitemaps, ..plan(&[site.url("/")]) }).await;
        assert_eq!(world.listed().await, expected, "{sitemaps:?}");
        assert!(!site.paths().contains(&"/private/x".to_owned()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sitemaps_and_feeds_can_be_seeds() {
    for seed in ["/one.xml", "/feed", "/two.xml.gz", "/list.txt", "/list.txt.gz"] {
        let world = World::new().await;
        let site = listed_site();
        world.run("site", Plan { sitemaps: Sitemaps::Off, ..plan(&[site.url(seed)]) }).await;
        let listed = world.listed().await;
        assert_eq!(
            listed.iter().filter(|path| ["/a", "/b", "/c"].contains(&path.as_str())).count(),
            1,
            "{seed}: {listed:?}"
        );
        assert!(!listed.contains(&seed.to_owned()), "{listed:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_archives_are_no_sitemaps() {
    for (seed, outcome) in [
        ("/notes.txt.gz", "failed/not_a_sitemap"),
        ("/pages.csv.gz", "failed/unsupported_type"),
        ("/dump.tar.gz", "failed/unsupported_type"),
        ("/about.tar.gz", "listed"),
    ] {
        let world = World::new().await;
        let site = listed_site();
        let crawl = world.run("site", Plan { sitemaps: Sitemaps::Off, ..plan(&[site.url(seed)]) }).await;
        let outcomes = world.outcomes("site").await;
        assert_eq!((crawl.urls, outcomes.get(outcome)), (1, Some(&1)), "{seed}: {outcomes:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_of_a_sitemap_is_no_trap_unless_its_url_is_too_long() {
    let world = World::new().await;
    let long = format!("/{}", "x".repeat(3_000));
    let site = CrawlSite::start("127.0.0.2", move |path| match path {
        "/" => generated(1, &["/1912/04/17/linked".to_owned()]),
        "/sitemap.xml" => xml(&format!(
            "<urlset><url><loc>/1912/04/16/titanic</loc></url><url><loc>/a/a/a/a</loc></url>\
             <url><loc>{long}</loc></url></urlset>"
        )),
        "/1912/04/16/titanic" => generated(2, &[]),
        "/a/a/a/a" => generated(3, &[]),
        _ => Page::status(404),
    });
    world.run("site", plan(&[site.url("/")])).await;
    let outcomes = world.outcomes("site").await;
    assert_eq!(world.listed().await, ["/", "/1912/04/16/titanic", "/a/a/a/a"], "{outcomes:?}");
    for reason in ["link/calendar", "link/url_too_long"] {
        assert_eq!(outcomes.get(reason), Some(&1), "{reason}: {outcomes:?}");
    }
}

/// The sitemap has not changed, but its pages had no place.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn raised_limit_of_urls_finds_the_rest_of_a_sitemap() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| match path {
        "/" => generated(1, &[]),
        "/sitemap.xml" => {
            xml("<urlset><url><loc>/a</loc></url><url><loc>/b</loc></url></urlset>").with("ETag", "\"map\"")
        }
        "/a" => generated(2, &[]),
        "/b" => generated(3, &[]),
        _ => Page::status(404),
    });
    for (limit, pages) in [(3, 2), (100, 3)] {
        world.start_with_limits("site", plan(&[site.url("/")]), None, limit).await;
        let instance = world.instance();
        world.finish("site").await;
        instance.stop().await;
        assert_eq!(world.listed().await.len(), pages, "{:?}", world.outcomes("site").await);
        world.clock.advance(Duration::from_secs(10));
    }
}

/// The sitemap has not changed, but its pages were removed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crawl_that_was_removed_in_part_finds_all_pages_of_a_sitemap() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |_| Page::status(404));
    let id_of = |path: &str| Address::parse(&site.url(path)).unwrap().doc_id();
    // URLs are removed in the order of their ids: ten pages before the sitemap.
    let map_id = id_of("/sitemap.xml");
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for number in 0.. {
        let side = if id_of(&format!("/page/{number}")) < map_id { &mut before } else { &mut after };
        if side.len() < 10 {
            side.push(number);
        }
        if before.len() + after.len() == 20 {
            break;
        }
    }
    let entries = [before, after].concat().into_iter().map(|number| format!("<url><loc>/page/{number}</loc></url>"));
    let map = format!("<urlset>{}</urlset>", entries.collect::<String>());
    site.change(move |path| match path.strip_prefix("/page/") {
        Some(number) => generated(number.parse().unwrap(), &[]),
        None if path == "/sitemap.xml" => xml(&map).with("ETag", "\"map\""),
        None => Page::status(404),
    });
    let crawl = world.run("site", plan(&[site.url("/sitemap.xml")])).await;
    assert_eq!(crawl.pages, 20);
    let now = || model::Clock::now(world.clock.as_ref());
    world.store.set_crawl_status("site".to_owned(), model::CrawlStatus::Stopped, None).await.unwrap();
    assert!(!world.store.delete_crawl(crawl.crawl_id, true, 10, now(), None).await.unwrap());
    assert_eq!(world.listed().await.len(), 10);
    world.clock.advance(Duration::from_secs(10));
    world.run("site", plan(&[site.url("/sitemap.xml")])).await;
    assert_eq!(world.listed().await.len(), 20, "{:?}", world.outcomes("site").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn raised_limit_of_bytes_finds_the_rest_of_a_sitemap() {
    let world = World::new().await;
    let filler = "x".repeat(8_192);
    let site = CrawlSite::start("127.0.0.2", move |path| match path {
        "/" => generated(1, &[]),
        "/sitemap.xml" => {
            let rest = format!("<!--{filler}--><url><loc>/b</loc></url>");
            xml(&format!("<urlset><url><loc>/a</loc></url>{rest}</urlset>")).with("ETag", "\"map\"")
        }
        "/a" => generated(2, &[]),
        "/b" => generated(3, &[]),
        _ => Page::status(404),
    });
    let request = |log: Vec<Request>| log.into_iter().find(|request| request.path == "/sitemap.xml");
    for (max_bytes, pages, is_conditional) in [(4_096, 2, false), (65_536, 3, false), (65_536, 3, true)] {
        world.start("site", plan(&[site.url("/")])).await;
        let instance = world.instance_with(|options| options.max_bytes = max_bytes);
        world.finish("site").await;
        instance.stop().await;
        assert_eq!(world.listed().await.len(), pages, "{:?}", world.outcomes("site").await);
        let request = request(site.take_log()).map(|request| request.is_conditional());
        assert_eq!(request, Some(is_conditional), "{max_bytes}");
        world.clock.advance(Duration::from_secs(10));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn modified_pages_of_a_sitemap_are_visited_again() {
    let world = World::new().await;
    let sitemap = |date: &'static str| {
        move |path: &str| match path {
            "/sitemap.xml" => xml(&format!(
                "<urlset><url><loc>/a</loc><lastmod>{date}</lastmod></url><url><loc>/b</loc></url></urlset>"
            )),
            "/" => generated(1, &[]),
            "/a" => generated(2, &[]),
            "/b" => generated(3, &[]),
            _ => Page::status(404),
        }
    };
    let site = CrawlSite::start("127.0.0.2", sitemap("2020-01-01"));
    let every = Plan { every_seconds: Some(86_400), ..plan(&[site.url("/")]) };
    world.start("site", every).await;
    let instance = world.instance();
    world.finish("site").await;
    site.take_log();
    world.clock.advance(Duration::from_hours(1));
    site.change(sitemap("2020-01-02"));
    let id = crawler::Address::parse(&site.url("/sitemap.xml")).unwrap().doc_id();
    let refresh = async || {
        world.store.refresh_crawled_page(id, model::Clock::now(world.clock.as_ref())).await.unwrap();
        world.finish("site").await;
        site.take_log().into_iter().map(|request| request.path).collect::<Vec<_>>()
    };
    assert_eq!(refresh().await, ["/sitemap.xml"], "older than the last visit");
    let modified_now = || {
        let now = ingest::clock::to_date_time(model::Clock::now(world.clock.as_ref()));
        let text = format!("{}T{:02}:{:02}:{:02}Z", now.date(), now.hour(), now.minute(), now.second());
        let date: &'static str = Box::leak(text.into_boxed_str());
        site.change(sitemap(date));
        world.clock.advance(Duration::from_mins(1));
    };
    modified_now();
    assert_eq!(refresh().await, ["/sitemap.xml"], "the interval is not over");
    // Visits of the next minutes.
    let visits = async |minutes: u64| {
        world.clock.advance(Duration::from_mins(minutes));
        test_support::until("a pause", async || {
            let now = model::Clock::now(world.clock.as_ref());
            let due = world.store.list_due_crawl_hosts(None, now, 1).await.unwrap();
            (due.is_empty() && world.store.list_crawl_owners().await.unwrap().is_empty()).then_some(())
        })
        .await;
        let mut paths: Vec<String> = site.take_log().into_iter().map(|request| request.path).collect();
        paths.sort();
        paths
    };
    // An hour and a minute have passed. Pages that have not changed wait for two intervals.
    assert_eq!(visits(23 * 60 + 29).await, ["/", "/a", "/b"]);
    assert_eq!(visits(60).await, ["/sitemap.xml"]);
    modified_now();
    assert_eq!(refresh().await, ["/sitemap.xml"], "the interval is not over");
    assert_eq!(visits(22 * 60).await, [] as [&str; 0]);
    assert_eq!(visits(90).await, ["/a"], "one interval after the last visit");
    instance.stop().await;
}
