//! A presigned URL authorizes one PUT of exactly its size to its key, for a limited time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use blobs::{BlobStore, PresignGet, PresignPut};
use s3_server::S3ServerOptions;
use time::OffsetDateTime;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server::{Fixture, MAX_OBJECT_BYTES};

#[tokio::test]
async fn the_exact_size_is_stored_with_any_content_type() {
    let fixture = Fixture::start().await;
    let url = fixture.presign("plain", 5, "1");
    assert_eq!(fixture.put(&url, "hello").await, 200);
    assert_eq!(fixture.stored("plain").await.as_deref(), Some(&b"hello"[..]));

    let url = fixture.presign("typed", 5, "2");
    let request = fixture.http.put(&url).header("content-type", "application/pdf").body("%PDF-");
    assert_eq!(request.send().await.unwrap().status(), 200);

    let url = fixture.presign("empty", 0, "3");
    // This client omits the length of an empty body.
    assert_eq!(fixture.put(&url, "").await, 200);
    assert_eq!(fixture.stored("empty").await.as_deref(), Some(&b""[..]));

    let url = fixture.presign("odd/a b+c%2F&=", 1, "4");
    assert_eq!(fixture.put(&url, "x").await, 200);
    assert_eq!(fixture.stored("odd/a b+c%2F&=").await.as_deref(), Some(&b"x"[..]));
}

#[tokio::test]
async fn another_length_is_rejected_by_name() {
    let fixture = Fixture::start().await;
    let url = fixture.presign("k", 5, "n");
    // A client that is still sending must receive the response, not a connection reset.
    for (size, code) in
        [(0, "EntityTooSmall"), (4, "EntityTooSmall"), (6, "EntityTooLarge"), (20_000_000, "EntityTooLarge")]
    {
        for chunked in [false, true] {
            let (status, answer) = fixture.put_with_length(&url, vec![7; size], chunked).await;
            assert_eq!(status, 403, "{size} bytes: {answer}");
            assert!(answer.contains(code) && answer.contains("exactly 5 bytes"), "{size} bytes: {answer}");
        }
    }
    assert_eq!(fixture.stored("k").await, None);
    assert_eq!(fixture.put(&url, "hello").await, 200, "rejections do not use up the URL");
}

#[tokio::test]
async fn a_chunked_body_of_the_right_length_is_stored() {
    let fixture = Fixture::start().await;
    let url = fixture.presign("k", 5, "n");
    assert_eq!(fixture.put_with_length(&url, b"hello".to_vec(), true).await.0, 200);
    assert_eq!(fixture.stored("k").await.as_deref(), Some(&b"hello"[..]));
}

#[tokio::test]
async fn the_stated_size_is_signed() {
    let fixture = Fixture::start().await;
    let url = fixture.presign("k", 5, "n").replace("x-size=5", "x-size=6");
    for chunked in [false, true] {
        let (status, answer) = fixture.put_with_length(&url, b"hello!".to_vec(), chunked).await;
        assert!(status == 403 && answer.contains("SignatureDoesNotMatch"), "{answer}");
    }
}

#[tokio::test]
async fn urls_outside_their_lifetime_are_rejected() {
    let fixture = Fixture::start().await;
    let now = OffsetDateTime::now_utc();
    let at = |offset: i64| fixture.presign_at("k", 1, "n", now + time::Duration::seconds(offset));
    assert_eq!(fixture.put(&at(-905), "x").await, 403, "expired");
    assert_eq!(fixture.put(&at(3600), "x").await, 403, "not valid yet");
    assert_eq!(fixture.put(&at(-890), "x").await, 200, "still valid");

    let stretched = at(-3600).replace("X-Amz-Expires=900", "X-Amz-Expires=90000");
    assert_eq!(fixture.put(&stretched, "x").await, 403, "the lifetime is signed");
}

#[tokio::test]
async fn unsupported_lifetimes_are_not_signed() {
    let fixture = Fixture::start().await;
    for (seconds, is_possible) in [(0, false), (1, true), (604_800, true), (604_801, false)] {
        let request = PresignPut { key: "k", size: 1, expires_in: Duration::from_secs(seconds), nonce: "n" };
        let signed = fixture.store.presign_put(&request, OffsetDateTime::now_utc());
        assert_eq!(signed.is_ok(), is_possible, "{seconds}");
    }
}

#[tokio::test]
async fn another_key_method_or_signature_is_rejected() {
    let fixture = Fixture::start().await;
    let url = fixture.presign("mine", 1, "n");
    assert_eq!(fixture.put(&url.replace("/mine?", "/yours?"), "x").await, 403);
    assert_eq!(fixture.put(&url.replace("/workspace/", "/workspace2/"), "x").await, 403);
    assert_eq!(fixture.put(&url.replace("x-nonce=n", "x-nonce=m"), "x").await, 403);
    assert_eq!(fixture.put(&format!("{url}&further=1"), "x").await, 403);
    let flipped = if url.ends_with('0') { '1' } else { '0' };
    assert_eq!(fixture.put(&format!("{}{flipped}", &url[..url.len() - 1]), "x").await, 403);
    assert_eq!(fixture.put(url.split('?').next().unwrap(), "x").await, 403, "unsigned");
    assert_eq!(fixture.put(&url.replace("test-key", "other-key"), "x").await, 403, "unknown key");
    for request in [fixture.http.get(&url), fixture.http.head(&url), fixture.http.delete(&url), fixture.http.post(&url)]
    {
        let status = request.header("content-length", 0).send().await.unwrap().status();
        assert_eq!(status, 403);
    }
    assert_eq!(fixture.stored("mine").await, None);
    assert_eq!(fixture.put(&url, "x").await, 200);
}

#[tokio::test]
async fn a_url_works_once() {
    let fixture = Fixture::start().await;
    let url = fixture.presign("k", 5, "n");
    assert_eq!(fixture.put(&url, "first").await, 200);
    assert_eq!(fixture.put(&url, "again").await, 403);
    let respelled = url.replace("X-Amz-Signature=", "X-Amz-%53ignature=");
    assert_eq!(fixture.put(&respelled, "again").await, 403, "another encoding of the same signature");
    assert_eq!(fixture.stored("k").await.as_deref(), Some(&b"first"[..]));
    assert_eq!(fixture.put(&fixture.presign("k", 5, "m"), "other").await, 200, "another nonce makes another URL");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_several_concurrent_uses_wins() {
    let fixture = Fixture::start().await;
    let url = fixture.presign("k", 100_000, "n");
    let puts = (0..8u8).map(|writer| fixture.put(&url, vec![writer; 100_000]));
    let statuses = futures_util::future::join_all(puts).await;
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| matches!(status, 200 | 403)), "{statuses:?}");
    let stored = fixture.stored("k").await.unwrap();
    assert!(stored.len() == 100_000 && stored.iter().all(|byte| *byte == stored[0]), "one complete body");
}

#[tokio::test]
async fn an_interrupted_upload_leaves_nothing_and_releases_the_url() {
    let fixture = Fixture::start().await;
    let size = 3_000_000;
    let url = fixture.presign("k", size, "n");
    let address = fixture.server.endpoint.strip_prefix("http://").unwrap();
    let target = url.strip_prefix(&fixture.server.endpoint).unwrap();
    let mut connection = TcpStream::connect(address).await.unwrap();
    let head = format!("PUT {target} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {size}\r\n\r\n");
    connection.write_all(head.as_bytes()).await.unwrap();
    // More than one slice, so that the server has opened a file.
    connection.write_all(&vec![7; 2_000_000]).await.unwrap();
    let incoming = fixture.folder.path().join("incoming");
    let files = || std::fs::read_dir(&incoming).unwrap().count();
    wait_until(|| files() == 1).await;
    assert_eq!(fixture.put(&url, vec![1; 3_000_000]).await, 403, "in use");
    drop(connection);
    wait_until(|| files() == 0).await;
    assert_eq!(fixture.stored("k").await, None);
    assert_eq!(fixture.put(&url, vec![1; 3_000_000]).await, 200);
}

#[tokio::test]
async fn oversized_uploads_are_rejected_before_the_body() {
    let fixture = Fixture::start().await;
    let size = MAX_OBJECT_BYTES + 1;
    let url = fixture.presign("k", size, "n");
    let address = fixture.server.endpoint.strip_prefix("http://").unwrap();
    let target = url.strip_prefix(&fixture.server.endpoint).unwrap();
    let mut connection = TcpStream::connect(address).await.unwrap();
    // A client that waits for `100 Continue` gets the rejection without sending the body.
    let head =
        format!("PUT {target} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {size}\r\nExpect: 100-continue\r\n\r\n");
    connection.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("EntityTooLarge"), "{answer}");
}

async fn wait_until(holds: impl Fn() -> bool) {
    tokio::time::timeout(Duration::from_secs(10), async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn full_disk_refuses_uploads_without_using_up_their_url() {
    let full = Arc::new(AtomicBool::new(true));
    let is_full = Arc::clone(&full);
    let is_full = Arc::new(move || is_full.load(Ordering::Relaxed));
    let fixture = Fixture::start_with(|options| S3ServerOptions { is_full, ..options }).await;
    let url = fixture.presign("k", 5, "n");
    let (status, answer) = fixture.put_with_length(&url, b"hello".to_vec(), false).await;
    assert!(status == 507 && answer.contains("InsufficientStorage"), "{status}: {answer}");
    assert_eq!(fixture.stored("k").await, None);
    full.store(false, Ordering::Relaxed);
    assert_eq!(fixture.put(&url, "hello").await, 200);
}

/// Presigns a download that is valid from `now`.
fn download(fixture: &Fixture, key: &str, now: OffsetDateTime) -> String {
    let disposition = "attachment; filename=\"a b.html\"; filename*=UTF-8''a%20b.html";
    let content_type = "application/octet-stream";
    let request = PresignGet { key, disposition, content_type, expires_in: Duration::from_secs(900) };
    fixture.store.presign_get(&request, now).unwrap()
}

#[tokio::test]
async fn a_download_is_an_attachment_that_no_browser_interprets() {
    let fixture = Fixture::start().await;
    let key = "odd/a b+c%2F&=";
    fixture.store.put(key, "<script>".into()).await.unwrap();
    let url = download(&fixture, key, OffsetDateTime::now_utc());
    for range in ["bytes=0-100", "bytes=1-6"] {
        let response = fixture.http.get(&url).header("range", range).send().await.unwrap();
        assert_eq!(response.status(), 206);
        let headers = response.headers().clone();
        assert_eq!(headers["content-disposition"], "attachment; filename=\"a b.html\"; filename*=UTF-8''a%20b.html");
        assert_eq!(headers["content-type"], "application/octet-stream");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert!(headers["content-security-policy"].to_str().unwrap().contains("sandbox"));
    }
    let whole = fixture.http.get(&url).send().await.unwrap();
    assert_eq!((whole.status().as_u16(), whole.text().await.unwrap().as_str()), (200, "<script>"));
    let missing = download(&fixture, "missing", OffsetDateTime::now_utc());
    assert_eq!(fixture.http.get(&missing).send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn a_download_that_resumes_after_a_replacement_begins_anew() {
    let fixture = Fixture::start().await;
    fixture.store.put("k", "before".into()).await.unwrap();
    let url = download(&fixture, "k", OffsetDateTime::now_utc());
    let first = fixture.http.get(&url).header("range", "bytes=0-2").send().await.unwrap();
    let etag = first.headers()["etag"].to_str().unwrap().to_owned();
    let resume = async |if_range: &str| {
        let request = fixture.http.get(&url).header("range", "bytes=3-").header("if-range", if_range);
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    assert_eq!(resume(&etag).await, (206, "ore".to_owned()));
    let whole = (200, "before".to_owned());
    for other in ["\"0\"", &format!("W/{etag}"), "Sun, 06 Nov 1994 08:49:37 GMT"] {
        assert_eq!(resume(other).await, whole, "{other}");
    }
    fixture.store.put("k", "as".into()).await.unwrap();
    assert_eq!(resume(&etag).await, (200, "as".to_owned()), "the range is beyond the new content");
}

#[tokio::test]
async fn a_download_authorizes_nothing_else() {
    let fixture = Fixture::start().await;
    for key in ["k", "other"] {
        fixture.store.put(key, "text".into()).await.unwrap();
    }
    let now = OffsetDateTime::now_utc();
    let url = download(&fixture, "k", now);
    let get = async |url: &str| fixture.http.get(url).send().await.unwrap().status().as_u16();
    assert_eq!(get(&url).await, 200);
    for changed in [
        url.replace("/k?", "/other?"),
        url.replace("octet-stream", "xhtml%2Bxml"),
        url.replace("=attachment", "=inline"),
        download(&fixture, "k", now - time::Duration::seconds(905)),
    ] {
        assert_ne!(changed, url);
        assert_eq!(get(&changed).await, 403, "{changed}");
    }
    assert_eq!(fixture.put(&url, "new").await, 403);
    assert_eq!(fixture.http.delete(&url).send().await.unwrap().status(), 403);
    assert_eq!(fixture.stored("k").await.as_deref(), Some(&b"text"[..]));
}
