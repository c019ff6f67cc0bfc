use fetcher::FetchError;

use crate::site::{Site, answer, bytes, page, to};
use crate::world::{fetch, fetch_once, fetcher, options};

#[tokio::test]
async fn every_status_of_a_redirect_is_followed() {
    for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"] {
        let site = Site::start(move |path, _| {
            bytes(match path {
                "/b%20c" => page("there"),
                _ => answer(status, &["Location: b c#part"], "moved"),
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
async fn as_many_redirects_as_allowed_are_followed_and_no_more() {
    let site = Site::start(|path, _| {
        let number: usize = path[1..].parse().unwrap();
        bytes(if number == 0 { page("there") } else { to(&format!("/{}", number - 1)) })
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
async fn circles_are_found() {
    let site = Site::start(|path, _| bytes(to(if path == "/a" { "/b" } else { "/a" }))).await;
    assert_eq!(fetch_once(site.url("/a")).await.err(), Some(FetchError::RedirectLoop));
    let itself = Site::saying(to("?")).await;
    assert_eq!(fetch_once(itself.url("/a?")).await.err(), Some(FetchError::RedirectLoop));
    assert_eq!(itself.heads().len(), 1);
}

#[tokio::test]
async fn a_redirect_to_nowhere_is_no_page() {
    let site = Site::saying(answer("302 Found", &[], "")).await;
    assert!(matches!(fetch_once(site.url("/")).await, Err(FetchError::Protocol { .. })));
    let site = Site::saying(to("http://[")).await;
    assert!(matches!(fetch_once(site.url("/")).await, Err(FetchError::InvalidUrl { .. })));
}

#[tokio::test]
async fn credentials_of_a_location_are_sent_to_nobody() {
    let other = Site::saying(page("x")).await;
    let site = Site::saying(to(&format!("http://user:word@b.test:{}/", other.address.port()))).await;
    let page = fetch_once(site.named("a.test", "/")).await.unwrap();
    assert_eq!(page.final_url.as_str(), other.named("b.test", "/"));
    assert!(!other.heads()[0].to_ascii_lowercase().contains("authorization"));
    assert!(!other.heads()[0].to_ascii_lowercase().contains("referer"));
}

#[tokio::test]
async fn an_endless_body_under_a_redirect_is_not_read() {
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
