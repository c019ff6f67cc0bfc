//! Faulty servers: every call returns within bounded time with a classified error.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use blobs::{BlobError, BlobErrorKind, BlobStore, ListPage};
use blobs_s3::{S3Options, S3Store, S3Timeouts};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::server::options;

/// Reaction of the server to each request.
#[derive(Clone, Copy)]
enum Fault {
    Answer(&'static str),
    Hang,
    Close,
    /// Sends this and keeps the connection open without sending more.
    Stall(&'static str),
    /// Returns 500 this many times, then an empty 200.
    RecoverAfter(usize),
}

/// Starts a server with a fault. Returns a client of it and the request counter.
async fn faulty(fault: Fault) -> (S3Store, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let seen = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&seen);
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            let number = counter.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(misbehave(connection, fault, number));
        }
    });
    (store(&endpoint), seen)
}

fn store(endpoint: &str) -> S3Store {
    let timeouts = S3Timeouts {
        connect: Duration::from_millis(500),
        attempt: Duration::from_millis(500),
        idle: Duration::from_millis(300),
        attempts: 3,
        backoff: Duration::from_millis(20),
    };
    S3Store::new(S3Options { timeouts, ..options(endpoint) }).unwrap()
}

async fn misbehave(mut connection: TcpStream, fault: Fault, number: usize) {
    let mut head = Vec::new();
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        if connection.read_buf(&mut head).await.is_ok_and(|read| read > 0) {
            continue;
        }
        return;
    }
    let error = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    match fault {
        Fault::Answer(answer) => drop(connection.write_all(answer.as_bytes()).await),
        Fault::RecoverAfter(failures) if number < failures => drop(connection.write_all(error.as_bytes()).await),
        Fault::RecoverAfter(_) => {
            let answer = "HTTP/1.1 200 OK\r\nETag: \"abc\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            drop(connection.write_all(answer.as_bytes()).await);
        }
        Fault::Close => return,
        Fault::Stall(begin) => {
            drop(connection.write_all(begin.as_bytes()).await);
            tokio::time::sleep(Duration::from_secs(3600)).await;
        }
        Fault::Hang => tokio::time::sleep(Duration::from_secs(3600)).await,
    }
    // Nothing more is sent, but the client may still be sending its body.
    let _ = connection.shutdown().await;
    let _ = tokio::time::timeout(Duration::from_secs(1), connection.read_to_end(&mut head)).await;
}

/// Makes every call of the interface and returns the errors.
async fn errors_of_all_calls(store: &S3Store) -> Vec<(&'static str, Option<BlobError>)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let errors = vec![
        ("put", store.put("k", "body".into()).await.err()),
        ("get", store.get("k", 100).await.err()),
        ("get_to_file", store.get_to_file("k", &path, 100).await.err()),
        ("head", store.head("k").await.err()),
        ("delete", store.delete("k").await.err()),
        ("delete_once", store.delete_once("k").await.err()),
        ("list", store.list("", None).await.err()),
        ("prepare", store.prepare().await.err()),
        ("ping", store.ping().await.err()),
    ];
    assert!(!path.exists(), "no partial file");
    errors
}

async fn all_calls_are_unavailable(fault: Fault) {
    let (store, seen) = faulty(fault).await;
    let started = Instant::now();
    for (call, error) in errors_of_all_calls(&store).await {
        let error = error.unwrap_or_else(|| panic!("{call} succeeded"));
        assert_eq!(error.kind, BlobErrorKind::Unavailable, "{call}: {error}");
    }
    // 7 calls with 3 attempts, a single deletion and a ping; each attempt takes at most 0.5 s and a delay.
    let took = started.elapsed();
    assert!(took < Duration::from_secs(23 * 600 / 1000 + 10), "{took:?}");
    assert_eq!(seen.load(Ordering::SeqCst), 23, "three attempts per call, one for `delete_once` and the ping");
}

#[tokio::test]
async fn a_failing_server_is_unavailable() {
    let answer = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    all_calls_are_unavailable(Fault::Answer(answer)).await;
}

#[tokio::test]
async fn an_overloaded_server_is_unavailable() {
    let answer = "HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    all_calls_are_unavailable(Fault::Answer(answer)).await;
}

#[tokio::test]
async fn a_hanging_server_is_unavailable() {
    all_calls_are_unavailable(Fault::Hang).await;
}

#[tokio::test]
async fn a_closed_connection_is_unavailable() {
    all_calls_are_unavailable(Fault::Close).await;
}

#[tokio::test]
async fn a_server_without_http_is_unavailable() {
    all_calls_are_unavailable(Fault::Answer("SSH-2.0-whatever\r\n")).await;
}

#[tokio::test]
async fn a_refused_connection_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let store = store(&endpoint);
    for (call, error) in errors_of_all_calls(&store).await {
        assert_eq!(error.map(|error| error.kind), Some(BlobErrorKind::Unavailable), "{call}");
    }
}

const HEAD_OF_TEN_BYTES: &str = "HTTP/1.1 200 OK\r\nETag: \"abc\"\r\nLast-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\n\
    Content-Length: 10\r\n\r\nhalf";

async fn a_body_is_unavailable(fault: Fault) {
    let (store, seen) = faulty(fault).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let started = Instant::now();
    assert_eq!(store.get("k", 100).await.unwrap_err().kind, BlobErrorKind::Unavailable);
    assert_eq!(store.get_to_file("k", &path, 100).await.unwrap_err().kind, BlobErrorKind::Unavailable);
    assert!(!path.exists());
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_eq!(seen.load(Ordering::SeqCst), 6);
}

#[tokio::test]
async fn a_stalled_body_is_unavailable() {
    a_body_is_unavailable(Fault::Stall(HEAD_OF_TEN_BYTES)).await;
}

#[tokio::test]
async fn an_interrupted_body_is_unavailable() {
    a_body_is_unavailable(Fault::Answer(HEAD_OF_TEN_BYTES)).await;
}

#[tokio::test]
async fn a_body_over_the_limit_is_not_read() {
    let (store, seen) = faulty(Fault::Stall(HEAD_OF_TEN_BYTES)).await;
    assert_eq!(store.get("k", 9).await.unwrap_err().kind, BlobErrorKind::TooLarge);
    assert_eq!(seen.load(Ordering::SeqCst), 1, "not retried");
}

#[tokio::test]
async fn a_malformed_response_is_failed() {
    let (store, _) = faulty(Fault::Answer(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nx-amz-tagging-count: many\r\nConnection: close\r\n\r\nhi",
    ))
    .await;
    assert_eq!(store.get("k", 100).await.unwrap_err().kind, BlobErrorKind::Failed);
    assert_eq!(store.put("k", "x".into()).await.unwrap_err().kind, BlobErrorKind::Failed);
    // The page of a proxy, which is gone when the store is back.
    assert_eq!(store.list("", None).await.unwrap_err().kind, BlobErrorKind::Unavailable);
}

#[tokio::test]
async fn an_answer_that_is_not_a_listing_is_not_an_empty_one() {
    let page = |content: &str| format!("<?xml version=\"1.0\"?><ListBucketResult>{content}</ListBucketResult>");
    for (body, expected) in [
        (String::new(), BlobErrorKind::Unavailable),
        ("<?xml version=\"1.0\"?><Error><Code>SlowDown</Code></Error>".to_owned(), BlobErrorKind::Unavailable),
        ("<html xmlns=\"http://www.w3.org/1999/xhtml\"><body/></html>".to_owned(), BlobErrorKind::Unavailable),
        ("<!DOCTYPE html><html><head><meta charset=\"utf-8\"></head></html>".to_owned(), BlobErrorKind::Unavailable),
        (page("<IsTruncated>false</IsTruncated><a></b>"), BlobErrorKind::Unavailable),
        (page("<IsTruncated>false</IsTruncated>").replace("</ListBucketResult>", ""), BlobErrorKind::Unavailable),
        (page("<IsTruncated>perhaps</IsTruncated>"), BlobErrorKind::Unavailable),
        (page(""), BlobErrorKind::Failed),
        (page("<IsTruncated>true</IsTruncated>"), BlobErrorKind::Failed),
    ] {
        let length = body.len();
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        let (store, _) = faulty(Fault::Answer(answer.leak())).await;
        let listing = tokio::time::timeout(Duration::from_secs(10), store.list("", None)).await.unwrap();
        assert_eq!(listing.unwrap_err().kind, expected, "{body}");
    }
    let empty = page("<IsTruncated>false</IsTruncated>");
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{empty}", empty.len());
    let (store, _) = faulty(Fault::Answer(answer.leak())).await;
    assert_eq!(store.list("", None).await.unwrap(), ListPage { objects: Vec::new(), next: None });
}

#[tokio::test]
async fn a_404_without_error_code_is_not_a_missing_object() {
    let (store, _) =
        faulty(Fault::Answer("HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\nConnection: close\r\n\r\nnot here\n"))
            .await;
    assert_eq!(store.get("k", 100).await.unwrap_err().kind, BlobErrorKind::Failed);
}

#[tokio::test]
async fn an_etag_of_an_encrypted_object_is_no_checksum() {
    let get = |encryption: &str| {
        let answer = format!(
            "HTTP/1.1 200 OK\r\nETag: \"0123456789abcdef0123456789abcdef\"\r\nContent-Length: 2\r\n\
             Last-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\n{encryption}Connection: close\r\n\r\nhi"
        );
        async move { faulty(Fault::Answer(answer.leak())).await.0.get("k", 100).await }
    };
    for encryption in [
        "x-amz-server-side-encryption: aws:kms\r\n",
        "x-amz-server-side-encryption: aws:kms:dsse\r\n",
        "x-amz-server-side-encryption-customer-algorithm: AES256\r\n",
    ] {
        assert_eq!(get(encryption).await.unwrap().unwrap().1, "hi", "{encryption}");
    }
    for encryption in ["", "x-amz-server-side-encryption: AES256\r\n"] {
        assert_eq!(get(encryption).await.unwrap_err().kind, BlobErrorKind::Corrupt, "{encryption}");
    }
}

#[tokio::test]
async fn a_recovering_server_is_retried_to_success() {
    let (store, seen) = faulty(Fault::RecoverAfter(2)).await;
    assert_eq!(store.put("k", "x".into()).await.unwrap().etag, "abc");
    assert_eq!(seen.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_denied_call_is_not_retried() {
    let (store, seen) =
        faulty(Fault::Answer("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")).await;
    assert_eq!(store.head("k").await.unwrap_err().kind, BlobErrorKind::Denied);
    assert_eq!(seen.load(Ordering::SeqCst), 1);
}
