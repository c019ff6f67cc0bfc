//! The listeners over real sockets.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use http_actix::{Listeners, Options, Running, serve, system_clock};
use rate_limit::MemoryLimiter;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::fake::{Fake, outcome};

fn start(service: Fake) -> (Running, SocketAddr, SocketAddr) {
    let bind = || TcpListener::bind("127.0.0.1:0").unwrap();
    let listeners = Listeners { public: bind(), operations: bind() };
    let public = listeners.public.local_addr().unwrap();
    let operations = listeners.operations.local_addr().unwrap();
    let options = Options {
        public_url: format!("http://{public}"),
        mcp_allow_origins: vec![],
        workers: 2,
        drain: Duration::from_secs(5),
        clock: system_clock(),
        metrics: None,
    };
    let running = serve(Arc::new(service), Arc::new(MemoryLimiter::new()), &options, listeners).unwrap();
    (running, public, operations)
}

/// Reads one response: the head and as much of a body as it announces.
async fn response(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        let mut chunk = [0; 65536];
        let read = stream.read(&mut chunk).await.unwrap();
        assert!(read > 0, "the connection ended after {text:?}");
        bytes.extend_from_slice(&chunk[..read]);
    }
}

fn post(path: &str, key: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

async fn ask(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    response(stream).await
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_every_outcome_share_a_connection() {
    let (running, public, operations) = start(Fake::default());
    let mut stream = TcpStream::connect(public).await.unwrap();
    let query = r#"{"query": "x"}"#;
    for (key, body, status) in [
        ("good", query, "200"),
        ("wrong", query, "401"),
        ("reader", query, "403"),
        ("good", "[]", "400"),
        ("good", query, "200"),
    ] {
        let answer = ask(&mut stream, &post("/v1/search", key, body)).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
    let mut internal = TcpStream::connect(operations).await.unwrap();
    let answer = ask(&mut internal, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    running.stop().await.unwrap();
    assert!(TcpStream::connect(public).await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_sends_too_much_still_reads_its_answer() {
    let (running, public, _) = start(Fake::default());
    let mut stream = TcpStream::connect(public).await.unwrap();
    let body = format!("{{\"query\": \"{}\"}}", "x".repeat(4 << 20));
    let answer = ask(&mut stream, &post("/v1/search", "good", &body)).await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(answer.contains("more than 1048576 bytes"));
    running.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_lets_requests_end() {
    let service = Fake::default();
    service.on_search(|| {
        std::thread::sleep(Duration::from_millis(300));
        Ok(outcome(1, 1))
    });
    let (running, public, _) = start(service);
    let mut stream = TcpStream::connect(public).await.unwrap();
    stream.write_all(post("/v1/search", "good", r#"{"query": "x"}"#).as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let stopping = tokio::spawn(running.stop());
    assert!(response(&mut stream).await.starts_with("HTTP/1.1 200 "));
    stopping.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_is_counted_and_its_use_case_ends() {
    let service = Fake::default();
    let (done, ended) = std::sync::mpsc::channel();
    service.on_search(move || {
        std::thread::sleep(Duration::from_millis(200));
        done.send(()).unwrap();
        Ok(outcome(1, 1))
    });
    let service = Arc::new(service);
    let bind = || TcpListener::bind("127.0.0.1:0").unwrap();
    let listeners = Listeners { public: bind(), operations: bind() };
    let public = listeners.public.local_addr().unwrap();
    let options = Options {
        public_url: String::new(),
        mcp_allow_origins: vec![],
        workers: 1,
        drain: Duration::from_secs(1),
        clock: system_clock(),
        metrics: None,
    };
    let running = serve(service.clone(), Arc::new(MemoryLimiter::new()), &options, listeners).unwrap();
    let mut stream = TcpStream::connect(public).await.unwrap();
    stream.write_all(post("/v1/search", "good", r#"{"query": "x"}"#).as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    drop(stream);
    tokio::task::spawn_blocking(move || ended.recv_timeout(Duration::from_secs(5)).unwrap()).await.unwrap();
    running.stop().await.unwrap();
    let usage = service.usage.lock().unwrap();
    assert_eq!(usage.len(), 1);
    assert!([200, 499].contains(&usage[0].status), "{}", usage[0].status);
}
