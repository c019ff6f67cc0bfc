use std::time::Duration;

use fetcher::{FetchError, FetcherOptions};

use crate::site::{Answer, Piece, Site, answer, bytes, page, to};
use crate::world::{fetch, fetcher, options};

fn respectful() -> FetcherOptions {
    let mut options = options();
    options.respect_robots = true;
    options
}

/// A site with this answer for robots.txt and a page everywhere else.
async fn site(robots: impl Into<Answer>) -> Site {
    let robots = robots.into();
    Site::start(move |path, _| if path == "/robots.txt" { robots.clone() } else { bytes(page("x")) }).await
}

fn rules(text: &str) -> Answer {
    bytes(answer("200 OK", &["Content-Type: text/plain"], text))
}

#[tokio::test]
async fn forbidden_pages_are_not_asked_for() {
    let site = site(rules("User-agent: example-bot\nDisallow: /private\n\nUser-agent: *\nDisallow: /")).await;
    let fetcher = fetcher(respectful());
    assert!(fetch(&fetcher, site.url("/open")).await.is_ok());
    let error = fetch(&fetcher, site.url("/private/a")).await.unwrap_err();
    assert_eq!(error, FetchError::Robots);
    assert!(!error.is_temporary());
    assert_eq!(site.paths(), ["/robots.txt", "/open"], "the rules are asked for once");
    assert!(site.heads()[0].contains("user-agent: example-bot/1.0"));
}

#[tokio::test]
async fn the_token_is_configurable_and_robots_can_be_passed_over() {
    let site = site(rules("User-agent: example-bot\nDisallow: /\n\nUser-agent: other\nAllow: /")).await;
    let mut other = respectful();
    other.robots_token = "other".to_owned();
    assert!(fetch(&fetcher(other), site.url("/a")).await.is_ok());
    assert_eq!(fetch(&fetcher(respectful()), site.url("/a")).await.err(), Some(FetchError::Robots));
    assert!(fetch(&fetcher(options()), site.url("/a")).await.is_ok());
}

#[tokio::test]
async fn no_file_forbids_nothing() {
    for status in ["404 Not Found", "401 Unauthorized", "403 Forbidden", "410 Gone"] {
        let site = site(bytes(answer(status, &[], "User-agent: *\nDisallow: /"))).await;
        assert!(fetch(&fetcher(respectful()), site.url("/a")).await.is_ok(), "{status}");
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_read_forbids_everything_for_a_while() {
    for robots in [
        bytes(answer("500 Broken", &[], "")),
        bytes(answer("503 Busy", &[], "")),
        bytes(answer("429 Too Many", &[], "")),
        bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nUser-agent: *".to_vec()),
        bytes(b"no HTTP\r\n\r\n".to_vec()),
    ] {
        let site = site(robots).await;
        let fetcher = fetcher(respectful());
        for _ in 0..2 {
            let error = fetch(&fetcher, site.url("/a")).await.unwrap_err();
            assert_eq!(error, FetchError::RobotsUnreachable);
            assert!(error.is_temporary());
        }
        assert_eq!(site.paths(), ["/robots.txt"]);
    }
}

#[tokio::test]
async fn a_file_that_drips_counts_as_unreachable_before_the_fetch_is_over() {
    let head = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    let site = site(vec![Piece::Bytes(head), Piece::Forever(b"#".to_vec(), Duration::from_millis(50))]).await;
    let mut options = respectful();
    options.time_limits.whole = Duration::from_secs(1);
    assert_eq!(fetch(&fetcher(options), site.url("/a")).await.err(), Some(FetchError::RobotsUnreachable));
}

#[tokio::test]
async fn redirects_of_the_file_are_followed_under_the_same_guard() {
    let elsewhere = Site::saying(answer("200 OK", &[], "User-agent: *\nDisallow: /private")).await;
    let moved = site(bytes(to(&elsewhere.named("b.test", "/rules")))).await;
    let agent = fetcher(respectful());
    assert_eq!(fetch(&agent, moved.url("/private")).await.err(), Some(FetchError::Robots));
    assert!(fetch(&agent, moved.url("/open")).await.is_ok());

    let mut narrow = respectful();
    narrow.allow_networks = vec!["127.0.0.1/32".parse().unwrap()];
    let inside = site(bytes(to(&format!("http://127.0.0.2:{}/", elsewhere.address.port())))).await;
    let before = elsewhere.heads().len();
    assert_eq!(fetch(&fetcher(narrow), inside.url("/a")).await.err(), Some(FetchError::RefusedAddress));
    assert_eq!(elsewhere.heads().len(), before);
}

#[tokio::test]
async fn a_file_behind_too_many_redirects_is_none() {
    let circle = site(bytes(to("/robots.txt"))).await;
    assert!(fetch(&fetcher(respectful()), circle.url("/a")).await.is_ok());
}

#[tokio::test]
async fn only_the_first_500_kib_of_a_file_are_read() {
    let text = format!("User-agent: *\nDisallow: /early\n{}\nDisallow: /late\n", "#".repeat(512 * 1024));
    let site = site(rules(&text)).await;
    let fetcher = fetcher(respectful());
    assert_eq!(fetch(&fetcher, site.url("/early")).await.err(), Some(FetchError::Robots));
    assert!(fetch(&fetcher, site.url("/late")).await.is_ok());
}

#[tokio::test]
async fn fetches_at_the_same_time_ask_for_the_file_once() {
    let slow = [vec![Piece::Pause(Duration::from_millis(200))], rules("User-agent: *\nDisallow: /no")].concat();
    let site = site(slow).await;
    let fetcher = fetcher(respectful());
    let fetches = (0..8).map(|number| {
        let (fetcher, url) = (fetcher.clone(), site.url(&format!("/{number}")));
        tokio::spawn(async move { fetch(&fetcher, url).await.map(|page| page.status) })
    });
    for fetch in fetches.collect::<Vec<_>>() {
        assert_eq!(fetch.await.unwrap(), Ok(200));
    }
    let asked = site.paths().iter().filter(|path| *path == "/robots.txt").count();
    assert_eq!(asked, 1);
}

#[tokio::test]
async fn who_leaves_while_the_file_is_read_takes_nobody_along() {
    let slow = [vec![Piece::Pause(Duration::from_millis(300))], rules("")].concat();
    let site = site(slow).await;
    let fetcher = fetcher(respectful());
    let url = site.url("/a");
    let first = tokio::time::timeout(Duration::from_millis(100), fetch(&fetcher, url.clone()));
    let second = fetch(&fetcher, url.clone());
    let (first, second) = tokio::join!(first, second);
    assert!(first.is_err());
    assert!(second.is_ok());
}

#[tokio::test]
async fn every_hop_asks_its_own_host() {
    let target = site(rules("User-agent: *\nDisallow: /private")).await;
    let location = target.named("b.test", "/private");
    let start = Site::start(move |path, _| {
        bytes(if path == "/robots.txt" { answer("404 Not Found", &[], "") } else { to(&location) })
    })
    .await;
    assert_eq!(fetch(&fetcher(respectful()), start.url("/")).await.err(), Some(FetchError::Robots));
    assert_eq!(target.paths(), ["/robots.txt"]);
}

#[tokio::test]
async fn a_host_that_cannot_be_reached_fails_as_its_page_would() {
    let fetcher = fetcher(respectful());
    assert_eq!(fetch(&fetcher, "http://nobody.test/").await.err(), Some(FetchError::Dns));
    assert_eq!(fetch(&fetcher, "http://10.0.0.1/").await.err(), Some(FetchError::RefusedAddress));
}

#[tokio::test]
async fn a_delay_asked_for_is_kept_up_to_a_bound() {
    let site = site(rules("User-agent: *\nCrawl-delay: 3600")).await;
    let mut options = respectful();
    options.politeness.max_crawl_delay = Duration::from_millis(300);
    let fetcher = fetcher(options);
    let started = std::time::Instant::now();
    for _ in 0..3 {
        fetch(&fetcher, site.url("/a")).await.unwrap();
    }
    let spent = started.elapsed();
    assert!(spent >= Duration::from_millis(600) && spent < Duration::from_secs(5), "{spent:?}");
}
