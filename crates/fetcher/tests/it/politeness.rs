use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fetcher::{FetchError, FetcherOptions, TimeoutStage};

use crate::site::{Piece, Site, bytes, page, redirect_to};
use crate::support::{fetch, fetcher, options};

/// A site that takes 200 ms per page.
async fn slow_site() -> Site {
    Site::start(|_, _| vec![Piece::Pause(Duration::from_millis(200)), Piece::Bytes(page("x"))]).await
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

#[tokio::test]
async fn waiting_for_a_host_counts_towards_the_total_timeout() {
    let site = Site::start(|_, _| vec![Piece::Pause(Duration::from_secs(60))]).await;
    let mut impatient = options();
    impatient.politeness.concurrent = 1;
    impatient.time_limits.total = Duration::from_millis(400);
    let fetcher = fetcher(impatient);
    let started = Instant::now();
    let (first, second) = tokio::join!(fetch(&fetcher, site.url("/a")), fetch(&fetcher, site.url("/b")));
    for error in [first.err(), second.err()] {
        assert_eq!(error, Some(FetchError::Timeout { stage: TimeoutStage::Total }));
    }
    assert!(started.elapsed() < Duration::from_secs(2));
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
