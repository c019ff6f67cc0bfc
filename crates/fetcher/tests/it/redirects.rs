use fetcher::FetchError;

use crate::site::{Site, bytes, page, redirect_to, response, without_body};
use crate::support::{fetch, fetch_once, fetcher, options};

#[tokio::test]
async fn every_redirect_status_is_followed() {
    for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"] {
        let site = Site::start(move |path, _| {
            bytes(match path {
                "/b%20c" => page("there"),
                _ => response(status, &["Location: b c#part"], "moved"),
            })
        })
        .await;
        let page = fetch_once(site.url("/a")).await.unwrap();
        assert_eq!(page.body, "there", "{status}");
        assert_eq!(page.final_url.as_str(), site.url("/b%20c"));
        assert_eq!(page.redirects, 1);
    }
}

#[tokio::test]
async fn redirects_are_followed_up_to_the_limit() {
    let site = Site::start(|path, _| {
        let number: usize = path[1..].parse().unwrap();
        bytes(if number == 0 { page("there") } else { redirect_to(&format!("/{}", number - 1)) })
    })
    .await;
    assert_eq!(fetch_once(site.url("/5")).await.unwrap().redirects, 5);
    assert_eq!(fetch_once(site.url("/6")).await.err(), Some(FetchError::TooManyRedirects { limit: 5 }));
    assert_eq!(site.heads().len(), 6 + 6, "the sixth redirect is read, not followed");
    let mut none = options();
    none.max_redirects = 0;
    assert_eq!(fetch(&fetcher(none), site.url("/1")).await.err(), Some(FetchError::TooManyRedirects { limit: 0 }));
}

#[tokio::test]
async fn redirect_loops_are_detected() {
    let site = Site::start(|path, _| bytes(redirect_to(if path == "/a" { "/b" } else { "/a" }))).await;
    assert_eq!(fetch_once(site.url("/a")).await.err(), Some(FetchError::RedirectLoop));
    let itself = Site::serving(redirect_to("?")).await;
    assert_eq!(fetch_once(itself.url("/a?")).await.err(), Some(FetchError::RedirectLoop));
    assert_eq!(itself.heads().len(), 1);
}

#[tokio::test]
async fn redirects_without_a_valid_location_are_errors() {
    let site = Site::serving(response("302 Found", &[], "")).await;
    assert!(matches!(fetch_once(site.url("/")).await, Err(FetchError::Protocol { .. })));
    let site = Site::serving(redirect_to("http://[")).await;
    assert!(matches!(fetch_once(site.url("/")).await, Err(FetchError::InvalidUrl { .. })));
}

#[tokio::test]
async fn credentials_in_a_location_are_not_sent() {
    let other = Site::serving(page("x")).await;
    let site = Site::serving(redirect_to(&format!("http://user:word@b.test:{}/", other.address.port()))).await;
    let page = fetch_once(site.url_for("a.test", "/")).await.unwrap();
    assert_eq!(page.final_url.as_str(), other.url_for("b.test", "/"));
    assert!(!other.heads()[0].to_ascii_lowercase().contains("authorization"));
    assert!(!other.heads()[0].to_ascii_lowercase().contains("referer"));
}

#[tokio::test]
async fn a_redirect_whose_body_does_not_arrive_is_followed() {
    let site = Site::start(|path, _| match path {
        "/there" => bytes(page("x")),
        _ => without_body("302 Found", "Location: /there"),
    })
    .await;
    let mut options = options();
    options.time_limits.total = std::time::Duration::from_secs(4);
    assert_eq!(fetch(&fetcher(options), site.url("/")).await.unwrap().body, "x");
}

#[tokio::test]
async fn the_endless_body_of_a_redirect_is_not_read() {
    use crate::site::Piece;
    use std::time::Duration;
    let site = Site::start(|path, _| match path {
        "/there" => bytes(page("x")),
        _ => vec![
            Piece::Bytes(b"HTTP/1.1 302 Found\r\nLocation: /there\r\n\r\n".to_vec()),
            Piece::Forever(vec![b'x'; 4096], Duration::from_millis(1)),
        ],
    })
    .await;
    let started = std::time::Instant::now();
    assert_eq!(fetch_once(site.url("/")).await.unwrap().body, "x");
    assert!(started.elapsed() < Duration::from_secs(2));
}
