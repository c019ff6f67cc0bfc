//! Servers that misbehave: every call ends in bounded time with an error that says what can be done.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use blobs::{BlobError, BlobErrorKind, BlobStore};
use blobs_s3::{S3Options, S3Store, S3Timeouts};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::server::options;

/// What the server does with each connection, once it has read a head.
#[derive(Clone, Copy)]
enum Fault {
    Answer(&'static str),
    Hang,
    Close,
    /// Sends this, then neither more nor an end.
    Stall(&'static str),
    /// 500 this many times, and then an empty 200.
    RecoverAfter(usize),
}

/// A server with a fault, a client of it, and how many requests the server has seen.
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
    // No more of the answer comes. The client may still be sending its body.
    let _ = connection.shutdown().await;
    let _ = tokio::time::timeout(Duration::from_secs(1), connection.read_to_end(&mut head)).await;
}

/// Runs every call of the seam, and gives each one's error.
async fn errors_of_all_calls(store: &S3Store) -> Vec<(&'static str, Option<BlobError>)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let errors = vec![
        ("put", store.put("k", "body".into()).await.err()),
        ("get", store.get("k", 100).await.err()),
        ("get_to_file", store.get_to_file("k", &path, 100).await.err()),
        ("head", store.head("k").await.err()),
        ("delete", store.delete("k").await.err()),
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
    // 7 calls of 3 attempts and a ping; each attempt at most 0.5 s and a pause.
    let took = started.elapsed();
    assert!(took < Duration::from_secs(22 * 600 / 1000 + 10), "{took:?}");
    assert_eq!(seen.load(Ordering::SeqCst), 22, "three attempts a call, one for the ping");
}

#[tokio::test]
async fn a_server_that_fails_is_unavailable() {
    let answer = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    all_calls_are_unavailable(Fault::Answer(answer)).await;
}

#[tokio::test]
async fn a_server_that_is_overloaded_is_unavailable() {
    let answer = "HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    all_calls_are_unavailable(Fault::Answer(answer)).await;
}

#[tokio::test]
async fn a_server_that_hangs_is_unavailable() {
    all_calls_are_unavailable(Fault::Hang).await;
}

#[tokio::test]
async fn a_server_that_closes_the_connection_is_unavailable() {
    all_calls_are_unavailable(Fault::Close).await;
}

#[tokio::test]
async fn a_server_that_speaks_no_http_is_unavailable() {
    all_calls_are_unavailable(Fault::Answer("SSH-2.0-whatever\r\n")).await;
}

#[tokio::test]
async fn nobody_there_is_unavailable() {
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
async fn a_body_that_stalls_is_unavailable() {
    a_body_is_unavailable(Fault::Stall(HEAD_OF_TEN_BYTES)).await;
}

#[tokio::test]
async fn a_body_that_breaks_off_is_unavailable() {
    a_body_is_unavailable(Fault::Answer(HEAD_OF_TEN_BYTES)).await;
}

#[tokio::test]
async fn a_body_that_is_larger_than_allowed_is_not_read() {
    let (store, seen) = faulty(Fault::Stall(HEAD_OF_TEN_BYTES)).await;
    assert_eq!(store.get("k", 9).await.unwrap_err().kind, BlobErrorKind::TooLarge);
    assert_eq!(seen.load(Ordering::SeqCst), 1, "trying again would not make it smaller");
}

#[tokio::test]
async fn an_answer_that_makes_no_sense_is_failed() {
    let (store, _) = faulty(Fault::Answer(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nx-amz-tagging-count: many\r\nConnection: close\r\n\r\nhi",
    ))
    .await;
    assert_eq!(store.get("k", 100).await.unwrap_err().kind, BlobErrorKind::Failed);
    assert_eq!(store.put("k", "x".into()).await.unwrap_err().kind, BlobErrorKind::Failed);
    assert_eq!(store.list("", None).await.unwrap_err().kind, BlobErrorKind::Failed);
}

#[tokio::test]
async fn a_404_that_names_no_key_is_not_a_missing_object() {
    let (store, _) =
        faulty(Fault::Answer("HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\nConnection: close\r\n\r\nnot here\n"))
            .await;
    assert_eq!(store.get("k", 100).await.unwrap_err().kind, BlobErrorKind::Failed);
}

#[tokio::test]
async fn a_server_that_recovers_is_not_noticed() {
    let (store, seen) = faulty(Fault::RecoverAfter(2)).await;
    assert_eq!(store.put("k", "x".into()).await.unwrap().etag, "abc");
    assert_eq!(seen.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_refusal_is_not_tried_again() {
    let (store, seen) =
        faulty(Fault::Answer("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")).await;
    assert_eq!(store.head("k").await.unwrap_err().kind, BlobErrorKind::Denied);
    assert_eq!(seen.load(Ordering::SeqCst), 1);
}
