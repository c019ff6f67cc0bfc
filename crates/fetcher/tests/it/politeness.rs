use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use fetcher::{FetchError, FetchRequest, Fetcher, FetcherOptions, Resolver, TimeoutStage};
use model::OrganizationId;

use crate::site::{Piece, Site, bytes, page, redirect_to};
use crate::support::{ORGANIZATION, OTHER, fetch, fetch_for, fetcher, options};

/// A site that takes 200 ms per page.
async fn slow_site() -> Site {
    Site::start(|_, _| vec![Piece::Pause(Duration::from_millis(200)), Piece::Bytes(page("x"))]).await
}

fn silence() -> Vec<Piece> {
    vec![Piece::Pause(Duration::from_secs(60))]
}

/// A site that never answers.
async fn silent_site() -> Site {
    Site::start(|_, _| silence()).await
}

/// Fetches all URLs concurrently; returns the time until the last page arrived.
async fn fetch_all(options: FetcherOptions, urls: Vec<String>) -> Duration {
    let fetcher = fetcher(options);
    let started = Instant::now();
    let fetches: Vec<_> = urls
        .into_iter()
        .map(|url| {
            let fetcher = fetcher.clone();
            tokio::spawn(async move { fetch(&fetcher, url).await.map(|page| page.status) })
        })
        .collect();
    for fetch in fetches {
        assert_eq!(fetch.await.unwrap(), Ok(200));
    }
    started.elapsed()
}

#[tokio::test]
async fn requests_to_one_host_are_limited() {
    let site = slow_site().await;
    let mut two = options();
    two.politeness.concurrent = 2;
    let urls = (0..6).map(|number| site.url(&format!("/{number}"))).collect();
    assert!(fetch_all(two, urls).await >= Duration::from_millis(600));
}

#[tokio::test]
async fn hosts_do_not_wait_for_each_other() {
    let site = slow_site().await;
    let mut one = options();
    one.politeness.concurrent = 1;
    let urls = vec![site.url_for("a.test", "/"), site.url_for("b.test", "/"), site.url_for("site.test", "/")];
    assert!(fetch_all(one, urls).await < Duration::from_millis(590));
}

#[tokio::test]
async fn requests_to_all_hosts_are_limited() {
    let site = slow_site().await;
    let mut one = options();
    one.max_concurrent = 1;
    let urls = vec![site.url_for("a.test", "/"), site.url_for("b.test", "/"), site.url_for("site.test", "/")];
    assert!(fetch_all(one, urls).await >= Duration::from_millis(600));
}

#[tokio::test]
async fn requests_are_delayed_but_redirects_within_a_host_are_not() {
    let site = Site::start(|path, _| bytes(if path == "/from" { redirect_to("/to") } else { page("x") })).await;
    let mut distant = options();
    distant.politeness.delay = Duration::from_secs(1);
    let fetcher = fetcher(distant);
    let started = Instant::now();
    fetch(&fetcher, site.url("/a")).await.unwrap();
    assert!(started.elapsed() < Duration::from_millis(900), "the first request does not wait");
    fetch(&fetcher, site.url("/from")).await.unwrap();
    let spent = started.elapsed();
    assert!(spent >= Duration::from_secs(1) && spent < Duration::from_millis(1900), "{spent:?}");
}

/// A wait for a permit is no failure of the page.
#[tokio::test]
async fn fetch_that_waits_too_long_is_refused() {
    let site = silent_site().await;
    let mut impatient = options();
    impatient.politeness.concurrent = 1;
    impatient.time_limits.wait = Duration::from_millis(100);
    impatient.time_limits.total = Duration::from_millis(800);
    let fetcher = fetcher(impatient);
    let (first, second) = tokio::join!(fetch(&fetcher, site.url("/a")), fetch(&fetcher, site.url("/b")));
    assert_eq!(first.err(), Some(FetchError::Timeout { stage: TimeoutStage::Total }));
    assert_eq!(second.err(), Some(FetchError::Overloaded { retry_after: Duration::from_secs(1) }));
}

/// The permits of a host that never answers are all in use, and those of the fetcher are free.
#[tokio::test]
async fn slow_host_leaves_the_permits_of_the_fetcher() {
    let site = Site::start(|path, _| if path == "/quick" { bytes(page("x")) } else { silence() }).await;
    let mut few = options();
    few.max_concurrent = 12;
    few.politeness.concurrent = 4;
    let fetcher = fetcher(few);
    let readers: Vec<_> = (0..64)
        .map(|number| {
            let (fetcher, url) = (fetcher.clone(), site.url_for("a.test", &format!("/{number}")));
            tokio::spawn(async move { fetch(&fetcher, url).await.map(drop) })
        })
        .collect();
    tokio::task::yield_now().await;
    let soon = Duration::from_secs(2);
    let same = fetch_for(ORGANIZATION, &fetcher, site.url_for("b.test", "/quick"));
    assert!(tokio::time::timeout(soon, same).await.expect("another host is free").is_ok());
    let other = fetch_for(OTHER, &fetcher, site.url_for("a.test", "/quick"));
    assert!(tokio::time::timeout(soon, other).await.expect("one organization does not take the whole host").is_ok());
    readers.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn organization_with_many_slow_hosts_leaves_room_for_others() {
    let site = Site::start(|path, _| if path == "/quick" { bytes(page("x")) } else { silence() }).await;
    let mut few = options();
    few.max_concurrent = 3;
    let fetcher = fetcher(few);
    let readers = ["a.test", "b.test"].map(|host| {
        let (fetcher, url) = (fetcher.clone(), site.url_for(host, "/slow"));
        tokio::spawn(async move { fetch(&fetcher, url).await.map(drop) })
    });
    let other = fetch_for(OTHER, &fetcher, site.url("/quick"));
    assert!(tokio::time::timeout(Duration::from_secs(2), other).await.expect("room").is_ok());
    readers.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn a_dropped_fetch_releases_its_permits() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let site = Site::start(move |_, _| {
        if counted.fetch_add(1, Ordering::SeqCst) < 3 {
            vec![Piece::Pause(Duration::from_secs(60))]
        } else {
            bytes(page("x"))
        }
    })
    .await;
    let mut one = options();
    one.politeness.concurrent = 1;
    one.max_concurrent = 1;
    let fetcher = fetcher(one);
    for _ in 0..3 {
        let left = tokio::time::timeout(Duration::from_millis(100), fetch(&fetcher, site.url("/"))).await;
        assert!(left.is_err());
    }
    assert!(fetch(&fetcher, site.url("/")).await.is_ok());
}

/// Resolver that never answers: nothing is connected to, so that the time can be paused.
struct Silent;

#[async_trait]
impl Resolver for Silent {
    async fn resolve(&self, _: &str, _: OrganizationId) -> io::Result<Vec<IpAddr>> {
        std::future::pending().await
    }
}

/// Fetcher with 2 s between the requests to a host, of which a fetch waits for one.
fn distant_fetcher(total: Duration) -> Fetcher {
    let mut distant = options();
    distant.politeness.delay = Duration::from_secs(2);
    distant.time_limits.wait = Duration::from_secs(3);
    distant.time_limits.total = total;
    Fetcher::with_resolver(distant, Arc::new(Silent)).unwrap()
}

fn request(organization: OrganizationId) -> FetchRequest {
    FetchRequest::new(organization, "http://a.test/")
}

#[tokio::test(start_paused = true)]
async fn aborted_fetches_do_not_delay_the_host() {
    let fetcher = distant_fetcher(Duration::from_secs(10));
    let started = tokio::time::Instant::now();
    let _first = fetcher.admit(request(ORGANIZATION)).await.unwrap();
    for _ in 0..20 {
        let aborted = tokio::time::timeout(Duration::from_millis(10), fetcher.admit(request(ORGANIZATION))).await;
        assert!(aborted.is_err());
    }
    assert!(fetcher.admit(request(OTHER)).await.is_ok());
    let spent = started.elapsed();
    assert!(spent >= Duration::from_secs(2) && spent < Duration::from_secs(3), "{spent:?}");
}

/// Starts of two fetches pass while other hosts have all permits.
#[tokio::test(start_paused = true)]
async fn fetches_that_wait_for_permits_keep_the_delay() {
    let seconds = Duration::from_secs;
    let mut few = options();
    // Two of one organization.
    few.max_concurrent = 6;
    few.politeness.delay = seconds(2);
    few.time_limits.wait = seconds(20);
    few.time_limits.total = seconds(30);
    let fetcher = Fetcher::with_resolver(few, Arc::new(Silent)).unwrap();
    let started = tokio::time::Instant::now();
    let _first = fetcher.admit(request(OTHER)).await.unwrap();
    let admit = async || {
        let admitted = fetcher.admit(request(ORGANIZATION)).await.unwrap();
        (admitted, started.elapsed())
    };
    let others = async {
        tokio::time::sleep(seconds(1)).await;
        let b = fetcher.admit(FetchRequest::new(ORGANIZATION, "http://b.test/")).await.unwrap();
        let c = fetcher.admit(FetchRequest::new(ORGANIZATION, "http://c.test/")).await.unwrap();
        tokio::time::sleep(seconds(8)).await;
        drop((b, c));
    };
    let ((_second, second), (_third, third), ()) = tokio::join!(admit(), admit(), others);
    assert!(second >= seconds(9) && second < seconds(10), "{second:?}");
    assert!(third >= second + seconds(2) && third < second + seconds(3), "{third:?}");
}

#[tokio::test(start_paused = true)]
async fn fetch_whose_start_is_too_far_away_is_refused_at_once() {
    let fetcher = distant_fetcher(Duration::from_secs(10));
    let admit = || fetcher.admit(request(ORGANIZATION));
    let started = tokio::time::Instant::now();
    let refused = async {
        let refused = admit().await.err();
        (refused, started.elapsed())
    };
    let (first, second, refused) = tokio::join!(admit(), admit(), refused);
    assert!(first.is_ok() && second.is_ok());
    let overloaded = FetchError::Overloaded { retry_after: Duration::from_secs(4) };
    assert_eq!(refused, (Some(overloaded), Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn waiting_for_the_start_counts_as_time_of_the_fetch() {
    let fetcher = distant_fetcher(Duration::from_secs(3));
    let started = tokio::time::Instant::now();
    let _first = fetcher.admit(request(ORGANIZATION)).await.unwrap();
    let mut second = fetcher.admit(request(ORGANIZATION)).await.unwrap();
    // The lookup alone would have 1.5 s.
    let outcome = second.run().await.err();
    assert_eq!(outcome, Some(FetchError::Timeout { stage: TimeoutStage::Total }));
    let spent = started.elapsed();
    assert!(spent >= Duration::from_secs(3) && spent < Duration::from_millis(3_400), "{spent:?}");
}
