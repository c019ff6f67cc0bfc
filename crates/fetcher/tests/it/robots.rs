use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use fetcher::{FetchError, Fetcher, FetcherOptions, Resolver, RobotsFailure, TimeoutStage};
use futures_util::future::join_all;
use model::OrganizationId;
use tokio::sync::Notify;

use crate::site::{Piece, Response, Site, bytes, page, redirect_to, response, without_body};
use crate::support::{ORGANIZATION, OTHER, Unresponsive, fetch, fetch_for, fetcher, options};

fn robots_options() -> FetcherOptions {
    let mut options = options();
    options.respect_robots = true;
    options
}

/// A site with this response for robots.txt and a page for every other path.
async fn site(robots: impl Into<Response>) -> Site {
    let robots = robots.into();
    Site::start(move |path, _| if path == "/robots.txt" { robots.clone() } else { bytes(page("x")) }).await
}

fn rules(text: &str) -> Response {
    bytes(response("200 OK", &["Content-Type: text/plain"], text))
}

fn robots_failure(error: &FetchError) -> Option<RobotsFailure> {
    match error {
        FetchError::RobotsUnreachable { cause, .. } => Some(*cause),
        _ => None,
    }
}

#[tokio::test]
async fn disallowed_pages_are_not_requested() {
    let site = site(rules("User-agent: example-bot\nDisallow: /private\n\nUser-agent: *\nDisallow: /")).await;
    let fetcher = fetcher(robots_options());
    assert!(fetch(&fetcher, site.url("/open")).await.is_ok());
    let error = fetch(&fetcher, site.url("/private/a")).await.unwrap_err();
    assert_eq!(error, FetchError::Robots);
    assert!(!error.is_temporary());
    assert_eq!(site.paths(), ["/robots.txt", "/open"], "robots.txt is requested once");
    assert!(site.heads()[0].contains("user-agent: example-bot/1.0"));
}

#[tokio::test]
async fn the_token_is_configurable_and_robots_can_be_ignored() {
    let site = site(rules("User-agent: example-bot\nDisallow: /\n\nUser-agent: other\nAllow: /")).await;
    let mut other = robots_options();
    other.robots_token = "other".to_owned();
    assert!(fetch(&fetcher(other), site.url("/a")).await.is_ok());
    assert_eq!(fetch(&fetcher(robots_options()), site.url("/a")).await.err(), Some(FetchError::Robots));
    assert!(fetch(&fetcher(options()), site.url("/a")).await.is_ok());
}

#[tokio::test]
async fn a_missing_file_allows_everything() {
    for status in ["404 Not Found", "401 Unauthorized", "403 Forbidden", "410 Gone"] {
        let site = site(bytes(response(status, &[], "User-agent: *\nDisallow: /"))).await;
        assert!(fetch(&fetcher(robots_options()), site.url("/a")).await.is_ok(), "{status}");
    }
}

#[tokio::test]
async fn a_missing_file_whose_body_does_not_arrive_allows_everything() {
    let site = site(without_body("404 Not Found", "Content-Type: text/html")).await;
    let mut options = robots_options();
    options.time_limits.total = Duration::from_secs(4);
    assert_eq!(fetch(&fetcher(options), site.url("/a")).await.map(|page| page.status), Ok(200));
}

#[tokio::test]
async fn an_unreachable_file_disallows_everything_for_a_while() {
    for (robots, cause) in [
        (bytes(response("500 Broken", &[], "")), RobotsFailure::Status),
        (bytes(response("503 Busy", &[], "")), RobotsFailure::Status),
        (bytes(response("429 Too Many", &[], "")), RobotsFailure::Status),
        (bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nUser-agent: *".to_vec()), RobotsFailure::Response),
        (bytes(b"no HTTP\r\n\r\n".to_vec()), RobotsFailure::Response),
    ] {
        let site = site(robots).await;
        let fetcher = fetcher(robots_options());
        for _ in 0..2 {
            let error = fetch(&fetcher, site.url("/a")).await.unwrap_err();
            assert_eq!(robots_failure(&error), Some(cause));
            assert!(error.is_temporary());
            let minutes = error.retry_after().unwrap().as_secs_f64() / 60.0;
            assert!(minutes > 4.0 && minutes <= 5.0, "{minutes}");
        }
        assert_eq!(site.paths(), ["/robots.txt"]);
    }
}

#[tokio::test]
async fn a_dripping_file_counts_as_unreachable_before_the_fetch_times_out() {
    let head = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    let site = site(vec![Piece::Bytes(head), Piece::Forever(b"#".to_vec(), Duration::from_millis(50))]).await;
    let mut options = robots_options();
    options.time_limits.total = Duration::from_secs(1);
    let error = fetch(&fetcher(options), site.url("/a")).await.unwrap_err();
    assert_eq!(robots_failure(&error), Some(RobotsFailure::Timeout));
}

#[tokio::test]
async fn a_host_that_does_not_answer_is_tried_again_at_once() {
    let silent = Unresponsive::start(("127.0.0.1", 0));
    let mut options = robots_options();
    options.time_limits.connect = Duration::from_millis(1200);
    options.time_limits.total = Duration::from_secs(2);
    let fetcher = fetcher(options);
    let url = format!("http://{}/a", silent.address);
    assert_eq!(fetch(&fetcher, &url).await.err(), Some(FetchError::Timeout { stage: TimeoutStage::Connect }));
    let _site = Site::on(silent.into_listener(), |_, _| bytes(page("x")));
    assert_eq!(fetch(&fetcher, &url).await.map(|page| page.status), Ok(200));
}

#[tokio::test]
async fn redirects_of_the_file_are_followed_and_checked() {
    let elsewhere = Site::serving(response("200 OK", &[], "User-agent: *\nDisallow: /private")).await;
    let moved = site(bytes(redirect_to(&elsewhere.url_for("b.test", "/rules")))).await;
    let agent = fetcher(robots_options());
    assert_eq!(fetch(&agent, moved.url("/private")).await.err(), Some(FetchError::Robots));
    assert!(fetch(&agent, moved.url("/open")).await.is_ok());

    let mut narrow = robots_options();
    narrow.allow_networks = vec!["127.0.0.1/32".parse().unwrap()];
    let inside = site(bytes(redirect_to(&format!("http://127.0.0.2:{}/", elsewhere.address.port())))).await;
    let before = elsewhere.heads().len();
    assert_eq!(fetch(&fetcher(narrow), inside.url("/a")).await.err(), Some(FetchError::RefusedAddress));
    assert_eq!(elsewhere.heads().len(), before);
}

#[tokio::test]
async fn a_file_behind_too_many_redirects_counts_as_missing() {
    let circle = site(bytes(redirect_to("/robots.txt"))).await;
    assert!(fetch(&fetcher(robots_options()), circle.url("/a")).await.is_ok());
}

#[tokio::test]
async fn only_the_first_500_kib_of_a_file_are_parsed() {
    let text = format!("User-agent: *\nDisallow: /early\n{}\nDisallow: /late\n", "#".repeat(512 * 1024));
    let site = site(rules(&text)).await;
    let fetcher = fetcher(robots_options());
    assert_eq!(fetch(&fetcher, site.url("/early")).await.err(), Some(FetchError::Robots));
    assert!(fetch(&fetcher, site.url("/late")).await.is_ok());
}

#[tokio::test]
async fn a_line_that_the_limit_cuts_is_no_rule() {
    let begin = "User-agent: *\nDisallow: /early\n#";
    let cut = "\nDisallow: /";
    let filler = "#".repeat(500 * 1024 - begin.len() - cut.len());
    let site = site(rules(&format!("{begin}{filler}{cut}private\n"))).await;
    let fetcher = fetcher(robots_options());
    assert!(fetch(&fetcher, site.url("/open")).await.is_ok());
    assert_eq!(fetch(&fetcher, site.url("/early")).await.err(), Some(FetchError::Robots));
}

#[tokio::test]
async fn concurrent_fetches_request_the_file_once() {
    let slow = [vec![Piece::Pause(Duration::from_millis(200))], rules("User-agent: *\nDisallow: /no")].concat();
    let site = site(slow).await;
    let fetcher = fetcher(robots_options());
    let fetches = (0..8).map(|number| {
        let (fetcher, url) = (fetcher.clone(), site.url(&format!("/{number}")));
        tokio::spawn(async move { fetch(&fetcher, url).await.map(|page| page.status) })
    });
    for fetch in fetches.collect::<Vec<_>>() {
        assert_eq!(fetch.await.unwrap(), Ok(200));
    }
    let requests = site.paths().iter().filter(|path| *path == "/robots.txt").count();
    assert_eq!(requests, 1);
}

#[tokio::test]
async fn a_cancelled_fetch_does_not_cancel_others_waiting_for_the_file() {
    let slow = [vec![Piece::Pause(Duration::from_millis(300))], rules("")].concat();
    let site = site(slow).await;
    let fetcher = fetcher(robots_options());
    let url = site.url("/a");
    let first = tokio::time::timeout(Duration::from_millis(100), fetch(&fetcher, url.clone()));
    let second = fetch(&fetcher, url.clone());
    let (first, second) = tokio::join!(first, second);
    assert!(first.is_err());
    assert!(second.is_ok());
}

/// Resolver that has no place for an organization, as it turns out once released.
#[derive(Default)]
struct NoPlace {
    asked: Notify,
    released: Notify,
}

#[async_trait]
impl Resolver for NoPlace {
    async fn resolve(&self, _: &str, organization: OrganizationId) -> io::Result<Vec<IpAddr>> {
        if organization == ORGANIZATION {
            self.asked.notify_one();
            self.released.notified().await;
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        Ok(vec![IpAddr::from([127, 0, 0, 1])])
    }
}

#[tokio::test]
async fn refusal_of_one_organization_is_not_that_of_another() {
    let site = site(rules("User-agent: *\nDisallow: /private")).await;
    let resolver = Arc::new(NoPlace::default());
    let fetcher = Fetcher::with_resolver(robots_options(), Arc::clone(&resolver) as _).unwrap();
    let (ours, theirs) = (site.url_for("a.test", "/a"), site.url_for("a.test", "/b"));
    let refused = fetch_for(ORGANIZATION, &fetcher, ours);
    let read = async {
        resolver.asked.notified().await;
        let mut reading = std::pin::pin!(fetch_for(OTHER, &fetcher, theirs));
        // Joins the request for the same file.
        assert!(tokio::time::timeout(Duration::from_millis(100), reading.as_mut()).await.is_err());
        resolver.released.notify_one();
        reading.await
    };
    let (refused, read) = tokio::join!(refused, read);
    assert!(matches!(refused, Err(FetchError::Overloaded { .. })), "{refused:?}");
    assert!(read.is_ok(), "{read:?}");
    let private = fetch_for(OTHER, &fetcher, site.url_for("a.test", "/private")).await;
    assert_eq!(private.err(), Some(FetchError::Robots));
    assert_eq!(site.paths(), ["/robots.txt", "/b"], "the file is requested once");
}

#[tokio::test]
async fn fetches_that_joined_a_refused_request_request_the_file_once() {
    let slow = [vec![Piece::Pause(Duration::from_millis(200))], rules("")].concat();
    let site = site(slow).await;
    let resolver = Arc::new(NoPlace::default());
    let fetcher = Fetcher::with_resolver(robots_options(), Arc::clone(&resolver) as _).unwrap();
    let refused = fetch_for(ORGANIZATION, &fetcher, site.url_for("a.test", "/a"));
    let read = async {
        resolver.asked.notified().await;
        let others = (0..4).map(|number| fetch_for(OTHER, &fetcher, site.url_for("a.test", &format!("/{number}"))));
        let mut reading = std::pin::pin!(join_all(others));
        assert!(tokio::time::timeout(Duration::from_millis(100), reading.as_mut()).await.is_err());
        resolver.released.notify_one();
        reading.await
    };
    let (refused, read) = tokio::join!(refused, read);
    assert!(matches!(refused, Err(FetchError::Overloaded { .. })), "{refused:?}");
    assert!(read.iter().all(Result::is_ok), "{read:?}");
    let requests = site.paths().iter().filter(|path| *path == "/robots.txt").count();
    assert_eq!(requests, 1);
}

#[tokio::test]
async fn every_hop_checks_robots_of_its_host() {
    let target = site(rules("User-agent: *\nDisallow: /private")).await;
    let location = target.url_for("b.test", "/private");
    let start = Site::start(move |path, _| {
        bytes(if path == "/robots.txt" { response("404 Not Found", &[], "") } else { redirect_to(&location) })
    })
    .await;
    assert_eq!(fetch(&fetcher(robots_options()), start.url("/")).await.err(), Some(FetchError::Robots));
    assert_eq!(target.paths(), ["/robots.txt"]);
}

#[tokio::test]
async fn an_unreachable_host_fails_like_its_page() {
    let fetcher = fetcher(robots_options());
    assert_eq!(fetch(&fetcher, "http://nobody.test/").await.err(), Some(FetchError::Dns));
    assert_eq!(fetch(&fetcher, "http://10.0.0.1/").await.err(), Some(FetchError::RefusedAddress));
}

#[tokio::test]
async fn crawl_delay_is_honoured_up_to_the_maximum() {
    let site = site(rules("User-agent: *\nCrawl-delay: 3600")).await;
    let mut options = robots_options();
    options.politeness.max_crawl_delay = Duration::from_millis(300);
    let fetcher = fetcher(options);
    let started = std::time::Instant::now();
    for _ in 0..3 {
        fetch(&fetcher, site.url("/a")).await.unwrap();
    }
    let spent = started.elapsed();
    assert!(spent >= Duration::from_millis(600) && spent < Duration::from_secs(5), "{spent:?}");
}
