//! Crawls whose server is killed again and again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::json;
use test_support::crawl_site::{CrawlSite, Request, generated};

use crate::support::{Database, Page, Server, until};

on_both_databases!(crawl_killed_ten_times_loses_and_repeats_nothing, delays_of_hosts_outlast_kills);

const OPEN: &str = "[fetch]\nallow_networks = [\"127.0.0.0/8\"]\n";
const KILLS: usize = 10;
const HOSTS: usize = 4;
/// Pages of one host that links lead to; its sitemaps name as many others.
const LINKED: usize = 120;

fn number(path: &str, prefix: &str) -> Option<usize> {
    path.strip_prefix(prefix)?.parse().ok()
}

fn sitemap(address: &str, pages: std::ops::Range<usize>) -> Page {
    let urls: String = pages.map(|n| format!("<url><loc>{address}/listed/{n}</loc></url>")).collect();
    let text =
        format!("<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{urls}</urlset>");
    Page::of("application/xml", text)
}

/// Site of two sitemaps in an index, and of pages that link to each other.
fn site(host: usize) -> CrawlSite {
    let base = std::sync::Arc::new(std::sync::OnceLock::<String>::new());
    let known = std::sync::Arc::clone(&base);
    let site = CrawlSite::start(&format!("127.0.3.{}", host + 1), move |path| {
        let base = known.get().map(String::as_str).unwrap_or_default();
        match path {
            "/robots.txt" => {
                Page::of("text/plain", format!("User-agent: *\nDisallow: /private/\nSitemap: {base}/index.xml\n"))
            }
            "/index.xml" => {
                let maps: String =
                    (0..2).map(|n| format!("<sitemap><loc>{base}/part/{n}.xml</loc></sitemap>")).collect();
                Page::of("application/xml", format!("<sitemapindex>{maps}</sitemapindex>"))
            }
            "/part/0.xml" => sitemap(base, 0..LINKED / 2),
            "/part/1.xml" => sitemap(base, LINKED / 2..LINKED),
            _ => match (number(path, "/page/"), number(path, "/listed/")) {
                (Some(n), _) if n < LINKED => {
                    let mut links: Vec<String> =
                        (1..4).map(|step| format!("/page/{}", (n * 3 + step) % LINKED)).collect();
                    links.push("/private/page".to_owned());
                    generated(host * 10_000 + n, &links)
                }
                (_, Some(n)) if n < LINKED => generated(host * 10_000 + 5_000 + n, &[]),
                _ => Page::status(404),
            },
        }
    });
    base.set(site.base.clone()).unwrap();
    site
}

/// Asserts that a host had one request at a time.
pub fn assert_one_at_a_time(log: &[Request]) {
    for pair in log.windows(2) {
        assert!(pair[1].began >= pair[0].ended, "{} and {} overlap", pair[0].path, pair[1].path);
    }
}

fn crawl_killed_ten_times_loses_and_repeats_nothing(database: Database) {
    let mut server = Server::start_with(database, OPEN);
    let client = server.tenant("acme");
    let sites: Vec<CrawlSite> = (0..HOSTS).map(site).collect();
    let seeds: Vec<String> = sites.iter().map(|site| site.url("/page/0")).collect();
    let mut arguments = vec!["web", "crawl", "--name", "site"];
    arguments.extend(seeds.iter().map(String::as_str));
    server.command(&arguments).object();
    let pages = HOSTS * LINKED * 2;
    let visited = || sites.iter().map(|site| site.paths().len()).sum::<usize>();
    for kill in 1..=KILLS {
        let target = pages * kill / (KILLS + 2);
        until("the crawl gets on", Duration::from_secs(120), || (visited() >= target).then_some(()));
        server.kill();
        server.resume();
    }
    let shown = until("the crawl ends", Duration::from_secs(180), || {
        let shown = server.command(&["web", "crawl-show", "site"]).object();
        (shown["state"] == "completed").then_some(shown)
    });
    // The sitemaps of each host, too, and the disallowed page that its pages link to.
    assert_eq!((&shown["pages"], &shown["queued"], &shown["failed"]), (&json!(pages), &json!(0), &json!(0)), "{shown}");
    let expected: BTreeSet<String> = sites
        .iter()
        .flat_map(|site| (0..LINKED).flat_map(|n| [site.url(&format!("/page/{n}")), site.url(&format!("/listed/{n}"))]))
        .collect();
    let listed: Vec<String> = server
        .command(&["web", "list", "--limit", "100000"])
        .lines()
        .iter()
        .map(|page| page["url"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!((listed.len(), listed.iter().cloned().collect::<BTreeSet<_>>()), (pages, expected));

    let mut repeated = 0;
    for site in &sites {
        let log = site.take_log();
        assert_one_at_a_time(&log);
        assert!(!log.iter().any(|request| request.path.starts_with("/private/")), "robots.txt is honoured");
        let mut visits: BTreeMap<&str, usize> = BTreeMap::new();
        for request in log.iter().filter(|request| request.path != "/robots.txt") {
            *visits.entry(&request.path).or_default() += 1;
        }
        repeated += visits.values().map(|visits| visits - 1).sum::<usize>();
    }
    // Each kill interrupts one visit of each host at most.
    assert!(repeated <= KILLS * HOSTS, "{repeated} visits are repeated");
    for (host, site) in sites.iter().enumerate() {
        let (query, url) = (format!("Number{}", host * 10_000 + 7), site.url("/page/7"));
        until("the page is found", Duration::from_secs(60), || {
            let found = client.search(&query, json!({ "max_results": 50 })).ok();
            let hits = found["results"].as_array().unwrap().iter();
            let count = hits.filter(|hit| hit["canonical_url"] == url.as_str()).count();
            assert!(count <= 1, "{url} is found {count} times");
            (count == 1).then_some(())
        });
    }
}

/// A `Crawl-delay` of one second, and a `Retry-After` of three.
fn delays_of_hosts_outlast_kills(database: Database) {
    const PAGES: usize = 8;
    let mut server = Server::start_with(database, OPEN);
    let slow = CrawlSite::start("127.0.3.20", |path| match number(path, "/page/") {
        Some(n) if n < PAGES => generated(n, &[format!("/page/{}", n + 1)]),
        _ if path == "/robots.txt" => Page::of("text/plain", "User-agent: *\nCrawl-delay: 1\n"),
        _ => Page::status(404),
    });
    let refusals = std::sync::atomic::AtomicUsize::new(0);
    let busy = CrawlSite::start("127.0.3.21", move |path| match number(path, "/page/") {
        Some(2) if refusals.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0 => {
            Page::status(429).with("Retry-After", "3")
        }
        Some(n) if n < PAGES => generated(n, &[format!("/page/{}", n + 1)]),
        _ => Page::status(404),
    });
    let seeds = [slow.url("/page/0"), busy.url("/page/0")];
    server.command(&["web", "crawl", "--name", "slow", "--sitemaps", "off", &seeds[0], &seeds[1]]).object();
    let requests = || slow.paths().iter().filter(|path| path.starts_with("/page/")).count();
    for kill in 1..=4 {
        until("a request", Duration::from_secs(30), || (requests() > kill).then_some(()));
        server.kill();
        server.resume();
    }
    until("the crawl ends", Duration::from_secs(60), || {
        let shown = server.command(&["web", "crawl-show", "slow"]).object();
        (shown["state"] == "completed").then_some(())
    });
    let log: Vec<Request> = slow.take_log().into_iter().filter(|request| request.path.starts_with("/page/")).collect();
    assert!(log.len() > PAGES, "{} requests", log.len());
    for pair in log.windows(2) {
        let delay = pair[1].began.duration_since(pair[0].began);
        assert!(delay >= Duration::from_millis(950), "{delay:?} between {} and {}", pair[0].path, pair[1].path);
    }
    let log = busy.take_log();
    let refused = log.iter().position(|request| request.path == "/page/2").unwrap();
    let delay = log[refused + 1].began.duration_since(log[refused].began);
    assert!(delay >= Duration::from_millis(2_950), "{delay:?} after `Retry-After: 3`");
}
