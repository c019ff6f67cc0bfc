//! The listeners over real sockets.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use http_actix::{Listeners, Options, Running, serve};
use model::{Scope, SystemClock};
use test_support::{Tenant, TestApp, page, until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A running server with one organization.
struct Served {
    world: TestApp,
    tenant: Tenant,
    key: String,
    running: Running,
    public: SocketAddr,
    operations: SocketAddr,
}

async fn start() -> Served {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let bind = || TcpListener::bind("127.0.0.1:0").unwrap();
    let listeners = Listeners { public: bind(), operations: bind() };
    let public = listeners.public.local_addr().unwrap();
    let operations = listeners.operations.local_addr().unwrap();
    let options = Options {
        public_url: format!("http://{public}"),
        mcp_allow_origins: vec![],
        oauth_issuer: None,
        workers: 2,
        drain: Duration::from_secs(5),
        clock: Arc::new(SystemClock),
        metrics: None,
    };
    // Use cases run on the runtime that the server is started on.
    let _entered = test_support::runtime().enter();
    let running = serve(Arc::clone(&world.app), Arc::clone(&world.limiter), &options, listeners).unwrap();
    Served { key: tenant.key.clone(), world, tenant, running, public, operations }
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

#[tokio::test]
async fn requests_of_every_outcome_share_a_connection() {
    let Served { world, tenant, running, public, operations, key } = start().await;
    let reader = world.key_with_scopes(&tenant, &[Scope::DocumentRead]).await;
    let mut stream = TcpStream::connect(public).await.unwrap();
    let query = r#"{"query": "x"}"#;
    for (key, body, status) in [
        (key.as_str(), query, "200"),
        ("wrong", query, "401"),
        (reader.as_str(), query, "403"),
        (key.as_str(), "[]", "400"),
        (key.as_str(), query, "200"),
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

#[tokio::test]
async fn a_client_that_sends_too_much_still_reads_its_answer() {
    let Served { world: _world, running, public, key, .. } = start().await;
    let mut stream = TcpStream::connect(public).await.unwrap();
    let body = format!("{{\"query\": \"{}\"}}", "x".repeat(4 << 20));
    let answer = ask(&mut stream, &post("/v1/search", &key, &body)).await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(answer.contains("more than 1048576 bytes"));
    running.stop().await.unwrap();
}

#[tokio::test]
async fn head_answers_as_get_without_the_body() {
    let Served { world: _world, running, public, key, .. } = start().await;
    let mut stream = TcpStream::connect(public).await.unwrap();
    let length = |answer: &str| {
        let head = answer.split_once("\r\n\r\n").unwrap().0.to_lowercase();
        head.lines().find_map(|line| line.strip_prefix("content-length: ").map(str::to_owned))
    };
    for path in ["/v1/files", "/v1/usage", "/openapi/public.json", "/docs", "/skills", "/schemas/SearchRequest.json"] {
        let request = |method| format!("{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n");
        let got = ask(&mut stream, &request("GET")).await;
        assert!(got.starts_with("HTTP/1.1 200 ") && length(&got).is_some(), "{path}: {got}");
        stream.write_all(request("HEAD").as_bytes()).await.unwrap();
        // The next response follows the head at once.
        let head = async {
            let mut bytes = Vec::new();
            while !bytes.ends_with(b"\r\n\r\n") {
                bytes.push(stream.read_u8().await.unwrap());
            }
            String::from_utf8(bytes).unwrap()
        };
        let head = head.await;
        assert!(head.starts_with("HTTP/1.1 200 "), "{path}: {head}");
        if !path.starts_with("/v1/usage") {
            assert_eq!(length(&head), length(&got), "{path}");
        }
    }
    running.stop().await.unwrap();
}

#[tokio::test]
async fn stopping_lets_requests_end() {
    let Served { world, running, public, key, .. } = start().await;
    world.engine.hold();
    let mut stream = TcpStream::connect(public).await.unwrap();
    stream.write_all(post("/v1/search", &key, r#"{"query": "x"}"#).as_bytes()).await.unwrap();
    world.engine.reached(1).await;
    let stopping = tokio::spawn(running.stop());
    until("the end of the listener", async || TcpStream::connect(public).await.err()).await;
    assert!(!stopping.is_finished(), "a request is under way");
    world.engine.release();
    assert!(response(&mut stream).await.starts_with("HTTP/1.1 200 "));
    stopping.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_hangs_up_is_counted_and_its_use_case_ends() {
    let Served { world, tenant, running, public, key, .. } = start().await;
    let doc_id = world.import_one(page("https://example.com/", "The tides.")).await;
    world.engine.hold();
    let mut stream = TcpStream::connect(public).await.unwrap();
    stream.write_all(post("/v1/search", &key, r#"{"query": "tides"}"#).as_bytes()).await.unwrap();
    world.engine.reached(1).await;
    drop(stream);
    world.engine.release();
    // The last step of a search: what it found is granted.
    until("the end of the search", async || {
        world.store.is_granted(tenant.organization_id, doc_id).await.unwrap().then_some(())
    })
    .await;
    running.stop().await.unwrap();
    let usage = world.recorded_requests(&tenant).await;
    let statuses: Vec<_> = usage.into_iter().map(|(_, status)| status).collect();
    assert!(statuses == [200] || statuses == [499], "{statuses:?}");
}
