use std::sync::Arc;
use std::time::Duration;

use fetcher::{FetchError, PostReply, Poster};

use crate::site::{Piece, Site};
use crate::support::{FakeResolver, options};

const OK: &str = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";

fn poster() -> Poster {
    let names = FakeResolver::new(&[("hook.test", &["127.0.0.1"]), ("inside.test", &["10.0.0.1"])]);
    Poster::with_resolver(&options(), names).unwrap()
}

async fn post(url: &str) -> Result<PostReply, FetchError> {
    poster().post_json(url, &[("webhook-id", "1")], b"{}".to_vec()).await
}

#[tokio::test]
async fn body_and_headers_arrive() {
    let site = Site::serving(OK).await;
    assert_eq!(post(&site.url_for("hook.test", "/in")).await, Ok(PostReply { status: 204, retry_after: None }));
    let head = site.heads()[0].to_ascii_lowercase();
    assert!(head.starts_with("post /in "), "{head}");
    for header in ["content-type: application/json", "webhook-id: 1", "content-length: 2", "accept: */*"] {
        assert!(head.contains(header), "{head}");
    }
}

#[tokio::test]
async fn redirects_and_failures_are_replies() {
    let redirect = "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n";
    let busy = "HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n";
    for (response, status, seconds) in [(redirect, 302, None), (busy, 429, Some(7))] {
        let site = Site::serving(response).await;
        let retry_after = seconds.map(Duration::from_secs);
        assert_eq!(post(&site.url("/")).await, Ok(PostReply { status, retry_after }));
    }
}

#[tokio::test]
async fn refused_addresses_are_never_connected_to() {
    let site = Site::serving(OK).await;
    let port = site.address.port();
    assert_eq!(post(&site.url_for("inside.test", "/")).await, Err(FetchError::RefusedAddress));
    assert_eq!(post("http://[::1]/").await, Err(FetchError::RefusedAddress));
    let mut public = options();
    public.allow_networks.clear();
    let names = FakeResolver::new(&[("hook.test", &["127.0.0.1"])]);
    let poster = Poster::with_resolver(&public, Arc::clone(&names) as _).unwrap();
    assert_eq!(poster.check(&format!("http://127.0.0.1:{port}/")), Err(FetchError::RefusedAddress));
    assert!(poster.check("ftp://hook.test/").is_err());
    assert_eq!(poster.check("https://hook.test/"), Ok(()));
    assert!(names.lookups().is_empty());
    let outcome = poster.post_json(&site.url_for("hook.test", "/"), &[], Vec::new()).await;
    assert_eq!(outcome, Err(FetchError::RefusedAddress));
    assert!(site.heads().is_empty());
}

#[test]
fn addresses_that_parsing_would_change_are_refused() {
    let poster = poster();
    for url in [
        "https://hook.test/in\0",
        "https://hook.test/\0in",
        "\0https://hook.test/",
        "https://hook.test/a\nb",
        "https://hook.test/\u{7f}",
        "https://hook.test/\u{85}",
        "https://ho\tok.test/",
        " https://hook.test/",
        "https://hook.test/ ",
    ] {
        assert!(matches!(poster.check(url), Err(FetchError::InvalidUrl { .. })), "{url:?}");
    }
    assert_eq!(poster.check("https://hook.test/a b/é?q=%00"), Ok(()));
}

#[tokio::test]
async fn endless_bodies_are_not_read() {
    let head = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    let site = Site::start(move |_, _| {
        vec![Piece::Bytes(head.clone()), Piece::Forever(vec![b'x'; 4096], Duration::from_millis(1))]
    })
    .await;
    assert_eq!(post(&site.url("/")).await, Ok(PostReply { status: 200, retry_after: None }));
}

#[tokio::test]
async fn body_that_does_not_arrive_fails_no_request() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n".to_vec();
    let site = Site::start(move |_, _| vec![Piece::Bytes(head.clone()), Piece::Pause(Duration::from_secs(60))]).await;
    let mut options = options();
    options.time_limits.total = Duration::from_millis(500);
    let outcome = Poster::new(&options).unwrap().post_json(&site.url("/"), &[], Vec::new()).await;
    assert_eq!(outcome, Ok(PostReply { status: 200, retry_after: None }));
}

#[tokio::test]
async fn silent_target_times_out() {
    let site = Site::start(|_, _| vec![Piece::Pause(Duration::from_secs(60))]).await;
    let mut options = options();
    options.time_limits.total = Duration::from_millis(50);
    let outcome = Poster::new(&options).unwrap().post_json(&site.url("/"), &[], Vec::new()).await;
    assert!(matches!(outcome, Err(FetchError::Timeout { .. })), "{outcome:?}");
}
