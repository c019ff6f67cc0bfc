//! Servers that violate HTTP: each results in an error, in bounded time and memory.

use std::time::{Duration, Instant};

use fetcher::{FetchError, FetcherOptions, TimeoutStage};

use crate::site::{Piece, Response, Site, page};
use crate::support::{Unresponsive, fetch, fetch_once, fetcher, options};

fn short_timeouts() -> FetcherOptions {
    let mut options = options();
    options.time_limits.connect = Duration::from_millis(300);
    options.time_limits.first_byte = Duration::from_millis(300);
    options.time_limits.total = Duration::from_millis(1500);
    options
}

async fn failure(response: Response) -> (FetchError, Duration, Site) {
    let site = Site::start(move |_, _| response.clone()).await;
    let started = Instant::now();
    let error = fetch(&fetcher(short_timeouts()), site.url("/")).await.unwrap_err();
    (error, started.elapsed(), site)
}

fn text(text: &str) -> Piece {
    Piece::Bytes(text.as_bytes().to_vec())
}

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";

#[tokio::test]
async fn a_slow_drip_ends_at_the_total_timeout() {
    let drip = Piece::Forever(b"x".to_vec(), Duration::from_millis(50));
    let (error, spent, _) = failure(vec![text(HEAD), text("\r\n"), drip.clone()]).await;
    assert_eq!(error, FetchError::Timeout { stage: TimeoutStage::Total });
    assert!(error.is_temporary());
    assert!(spent >= Duration::from_millis(1400) && spent < Duration::from_secs(4), "{spent:?}");
    // Again inside a compressed stream: a gzip header, and a stored block that takes 64 KiB to end.
    let begun = b"Content-Encoding: gzip\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\xff\x01\xff\xff\0\0".to_vec();
    let (error, ..) = failure(vec![text(HEAD), Piece::Bytes(begun), drip]).await;
    assert_eq!(error, FetchError::Timeout { stage: TimeoutStage::Total });
}

#[tokio::test]
async fn a_silent_server_ends_at_the_first_byte_timeout() {
    for pieces in [
        vec![Piece::Pause(Duration::from_secs(60))],
        vec![text("HTTP/1.1 200 OK\r\nX: "), Piece::Forever(b"x".to_vec(), Duration::from_millis(50))],
        vec![Piece::Forever(b"HTTP/1.1 103 Early Hints\r\n\r\n".to_vec(), Duration::from_millis(1))],
        vec![Piece::Forever(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec(), Duration::from_millis(1))],
    ] {
        let (error, spent, _) = failure(pieces).await;
        assert_eq!(error, FetchError::Timeout { stage: TimeoutStage::FirstByte });
        assert!(spent < Duration::from_millis(1400), "{spent:?}");
    }
}

#[tokio::test]
async fn an_unresponsive_address_ends_at_the_connect_timeout() {
    let silent = Unresponsive::start(("127.0.0.1", 0));
    let error = fetch(&fetcher(short_timeouts()), format!("http://{}/", silent.address)).await.err();
    assert_eq!(error, Some(FetchError::Timeout { stage: TimeoutStage::Connect }));
}

#[tokio::test]
async fn endless_headers_are_aborted() {
    for pieces in [
        vec![text("HTTP/1.1 200 OK\r\n"), Piece::Forever(b"X-More: words words words\r\n".to_vec(), Duration::ZERO)],
        vec![text("HTTP/1.1 200 OK\r\nX: "), Piece::Forever(vec![b'x'; 65536], Duration::ZERO)],
        vec![text("HTTP/1.1 "), Piece::Forever(vec![b'1'; 65536], Duration::ZERO)],
    ] {
        let (error, spent, site) = failure(pieces).await;
        assert!(matches!(error, FetchError::Protocol { .. } | FetchError::Timeout { .. }), "{error}");
        assert!(spent < Duration::from_secs(2), "{spent:?}");
        // The system's buffers add to what the client reads.
        assert!(site.written() < 16 * 1024 * 1024, "{}", site.written());
    }
}

#[tokio::test]
async fn endless_bodies_are_aborted_at_the_limit() {
    let endless = Piece::Forever(vec![b'x'; 65536], Duration::ZERO);
    for (headers, pieces) in [
        ("", vec![endless.clone()]),
        (
            "Transfer-Encoding: chunked\r\n",
            vec![Piece::Forever([b"10000\r\n".to_vec(), vec![b'x'; 65536], b"\r\n".to_vec()].concat(), Duration::ZERO)],
        ),
    ] {
        let (error, spent, site) = failure([vec![text(&format!("{HEAD}{headers}\r\n"))], pieces].concat()).await;
        assert_eq!(error, FetchError::TooLarge { limit: options().max_bytes });
        assert!(spent < Duration::from_secs(2), "{spent:?}");
        assert!(site.written() < 32 * 1024 * 1024, "{}", site.written());
    }
}

#[tokio::test]
async fn incomplete_responses_are_interrupted() {
    for response in [
        "Content-Length: 100\r\n\r\nshort",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhel",
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    ] {
        let (error, ..) = failure(vec![text(&format!("{HEAD}{response}"))]).await;
        assert_eq!(error, FetchError::Interrupted, "{response:?}");
        assert!(error.is_temporary());
    }
    assert_eq!(failure(vec![text("HTTP/1.1 200 OK\r\nContent-")]).await.0, FetchError::Interrupted);
    assert_eq!(failure(vec![]).await.0, FetchError::Interrupted);
}

#[tokio::test]
async fn invalid_http_is_a_protocol_error() {
    for response in [
        "<html>HTTP/0.9</html>",
        "ICY 200 OK\r\n\r\n",
        "SSH-2.0-OpenSSH_9.6\r\n",
        "-ERR unknown command 'GET'\r\n",
        "HTTP/1.1 200 OK\r\nno header\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
        "HTTP/1.1 999999 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx",
        "\x16\x03\x01\x02\0\x01",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let (error, ..) = failure(vec![text(response)]).await;
        assert!(matches!(error, FetchError::Protocol { .. }), "{response:?}: {error}");
    }
}

#[tokio::test]
async fn content_beyond_its_declared_length_is_not_read() {
    let site = Site::serving([page("short").as_slice(), b"HTTP/1.1 200 OK\r\n\r\nmore"].concat()).await;
    assert_eq!(fetch_once(site.url("/")).await.unwrap().body, "short");
}

#[tokio::test]
async fn switching_protocols_is_a_status_error() {
    let (error, ..) =
        failure(vec![text("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n")]).await;
    assert_eq!(error, FetchError::Status { status: 101, retry_after: None });
}
