//! Hostile sites: every harm is bounded and has its reason in the report.

use std::io::Write;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use test_support::crawl_site::{CrawlSite, generated};
use test_support::site::Page;

use crate::world::{World, plan};

fn bomb(start: &str, mebibytes: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(start.as_bytes()).unwrap();
    for _ in 0..mebibytes {
        encoder.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    encoder.finish().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_responses_are_bounded_and_reported() {
    let world = World::new().await;
    let robots = format!("User-agent: *\nDisallow: /private\n{}", "# filler\n".repeat(1_200_000));
    let page_bomb = bomb("<html><p>text", 50);
    let feed_bomb = bomb("<urlset><url><loc>/from-bomb</loc></url><!--", 50);
    let lines = "http://127.0.0.2/none\n".repeat(60_000);
    let entities = "<?xml version='1.0'?><!DOCTYPE urlset [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;'>\
                    <!ENTITY x SYSTEM 'file:///etc/passwd'>]><urlset><url><loc>/entity&b;&x;</loc></url></urlset>";
    let site = CrawlSite::start("127.0.0.2", move |path| match path {
        "/robots.txt" => Page::of("text/plain", robots.clone()),
        "/sitemap.xml" => Page::of(
            "text/xml",
            "<sitemapindex><sitemap><loc>/sitemap.xml</loc></sitemap><sitemap><loc>/bomb.xml.gz</loc></sitemap>\
             <sitemap><loc>/lines.txt</loc></sitemap><sitemap><loc>/entities.xml</loc></sitemap>\
             <sitemap><loc>/nested/1</loc></sitemap><sitemap><loc>/html</loc></sitemap></sitemapindex>",
        ),
        "/bomb.xml.gz" => Page::of("application/gzip", feed_bomb.clone()),
        "/lines.txt" => Page::of("text/plain", lines.clone()),
        "/entities.xml" => Page::of("text/xml", entities),
        "/html" => Page::html("<p>no sitemap</p>"),
        path if path.starts_with("/nested/") => {
            let level: usize = path["/nested/".len()..].parse().unwrap();
            Page::of(
                "text/xml",
                format!("<sitemapindex><sitemap><loc>/nested/{}</loc></sitemap></sitemapindex>", level + 1),
            )
        }
        "/" => generated(
            1,
            &["/bomb", "/private/x", "/inside", "/slow", "/image", "/long", "/redirects/1"].map(str::to_owned),
        ),
        "/bomb" => Page::of("text/html", page_bomb.clone()).with("Content-Encoding", "gzip"),
        "/inside" => Page::redirect("http://169.254.169.254/latest/meta-data/"),
        "/slow" => generated(2, &[]).after(Duration::from_secs(5)),
        "/image" => Page::of("image/png", "png"),
        "/long" => Page::of("text/html", "x".repeat(3 << 20)),
        path if path.starts_with("/redirects/") => {
            let number: usize = path["/redirects/".len()..].parse().unwrap();
            Page::redirect(&format!("/redirects/{}", number + 1))
        }
        _ => generated(3, &[]),
    });
    let started = Instant::now();
    let crawl = world.run("hostile", plan(&[site.url("/")])).await;
    let outcomes = world.outcomes("hostile").await;
    assert!(started.elapsed() < Duration::from_secs(50), "{outcomes:?}");
    for reason in [
        "link/robots_too_long",
        "skipped/robots",
        "link/sitemap_cut",
        "link/sitemap_too_deep",
        "link/other_host",
        "failed/not_a_sitemap",
        "failed/too_large",
        "failed/timeout",
        "failed/unsupported_type",
        "link/too_many_redirects",
    ] {
        assert!(outcomes.contains_key(reason), "{reason}: {outcomes:?}");
    }
    // The redirect into the internal network leaves the crawl's hosts or is refused: it is never requested.
    assert!(outcomes.contains_key("failed/refused_address") || outcomes.contains_key("skipped/redirect_outside"));
    assert!(crawl.urls < 60, "{outcomes:?}");
    let listed = world.listed().await;
    assert!(listed.contains(&"/entity".to_owned()), "entities are left out: {listed:?}");
    assert!(!site.paths().contains(&"/private/x".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_hosts_are_reported_and_never_contacted() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |_| generated(1, &[]));
    world.start("refused", plan(&[site.url("/"), "http://10.0.0.1/".to_owned(), "http://localhost/".to_owned()])).await;
    let instance = world.instance_with(|options| options.allow_networks = Vec::new());
    let crawl = world.finish("refused").await;
    instance.stop().await;
    assert_eq!((crawl.pages, crawl.urls), (0, 3));
    assert_eq!(world.outcomes("refused").await.get("failed/refused_address"), Some(&3));
    assert!(site.paths().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unreachable_host_is_given_up() {
    let world = World::new().await;
    // The address of a listener that is gone.
    let base = {
        let listener = std::net::TcpListener::bind("127.0.0.7:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let seeds: Vec<String> = (0..40).map(|number| format!("{base}/{number}")).collect();
    let crawl = world.run("gone", plan(&seeds)).await;
    assert_eq!((crawl.pages, crawl.queued), (0, 0));
    let outcomes = world.outcomes("gone").await;
    let failed: i64 = outcomes.iter().filter(|(key, _)| key.starts_with("failed/")).map(|(_, count)| count).sum();
    assert_eq!(failed, 40, "{outcomes:?}");
    assert!(outcomes.contains_key("failed/host_unreachable"), "{outcomes:?}");
}

/// Its pages stay, since a failure of the network removes nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn host_that_is_gone_in_a_further_round_is_given_up() {
    const PAGES: usize = 40;
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.8", |path| match path.strip_prefix("/page/") {
        Some(number) => generated(number.parse().unwrap(), &[]),
        None => Page::status(404),
    });
    let seeds: Vec<String> = (0..PAGES).map(|number| site.url(&format!("/page/{number}"))).collect();
    world.run("gone", plan(&seeds)).await;
    assert_eq!(world.listed().await.len(), PAGES);
    site.close();
    world.clock.advance(Duration::from_secs(10));
    let crawl = world.run("gone", plan(&seeds)).await;
    assert_eq!((crawl.pages, crawl.queued), (PAGES as i64, 0), "{:?}", world.outcomes("gone").await);
    assert_eq!(world.listed().await.len(), PAGES);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn site_without_readable_rules_is_not_crawled() {
    let world = World::new().await;
    let site = CrawlSite::start("127.0.0.2", |path| match path {
        "/robots.txt" => Page::status(500),
        _ => generated(1, &[]),
    });
    world.start("site", plan(&[site.url("/")])).await;
    let instance = world.instance();
    test_support::until("the last attempt", async || {
        world.clock.advance(Duration::from_mins(5));
        (world.crawl("site").await.queued == 0).then_some(())
    })
    .await;
    instance.stop().await;
    assert_eq!(world.outcomes("site").await.get("failed/robots_unreachable"), Some(&1));
    assert_eq!(site.paths(), ["/robots.txt"]);
}
