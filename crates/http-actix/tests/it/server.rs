//! The listeners over real sockets.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use connections::{Limits, Pace};
use http_actix::{Listeners, MemoryLimits, Options, Paces, Running, serve};
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
    start_with(Limited::default()).await
}

/// Limits of the listener under test.
struct Limited {
    connections: usize,
    paces: Paces,
    memory: MemoryLimits,
}

impl Default for Limited {
    fn default() -> Self {
        Self { connections: 1024, paces: Paces::default(), memory: MemoryLimits::default() }
    }
}

/// A wait for memory that a test can wait for.
const SHORT: Duration = Duration::from_millis(50);

/// A pace that a test can wait for.
const IMPATIENT: Pace = Pace { patience: Duration::from_millis(300), bytes_per_second: 1 << 20 };

async fn start_with(Limited { connections, paces, memory }: Limited) -> Served {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let bind = || TcpListener::bind("127.0.0.1:0").unwrap();
    let (api, internal) = (bind(), bind());
    let (public, operations) = (api.local_addr().unwrap(), internal.local_addr().unwrap());
    let listeners = Listeners { public: Some(api), operations: internal };
    let options = Options {
        public_url: format!("http://{public}"),
        mcp_allow_origins: vec![],
        oauth_issuer: None,
        workers: 2,
        drain: Duration::from_secs(5),
        tls: None,
        connections: Limits { connections, per_address: 0, trusted: vec![] },
        paces,
        memory,
        clock: Arc::new(SystemClock),
        access_log: true,
        rejected_per_minute: 5,
        metrics: None,
    };
    // Use cases run on the runtime that the server is started on.
    let _entered = test_support::runtime().enter();
    let running =
        serve(Arc::clone(&world.app), Arc::clone(&world.research), Arc::clone(&world.limiter), &options, listeners)
            .unwrap();
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

/// Load balancers stop sending requests before the last ones are answered.
#[tokio::test]
async fn draining_server_is_not_ready() {
    let Served { world: _world, running, public, operations, key, .. } = start().await;
    let mut stream = TcpStream::connect(public).await.unwrap();
    // The answer to `Expect` shows that the server has begun with the request.
    let request = post("/v1/search", &key, r#"{"query": "x"}"#).replace("Host: x", "Host: x\r\nExpect: 100-continue");
    let (begin, end) = request.split_at(request.len() - 1);
    assert!(ask(&mut stream, begin).await.starts_with("HTTP/1.1 100 "));
    let mut internal = TcpStream::connect(operations).await.unwrap();
    let ready = "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n";
    assert!(ask(&mut internal, ready).await.starts_with("HTTP/1.1 200 "));
    let stopping = tokio::spawn(running.stop());
    let refused = loop {
        let answer = ask(&mut internal, ready).await;
        if !answer.starts_with("HTTP/1.1 200 ") {
            break answer;
        }
    };
    assert!(refused.starts_with("HTTP/1.1 503 ") && refused.contains("stopping"), "{refused}");
    stream.write_all(end.as_bytes()).await.unwrap();
    assert!(response(&mut stream).await.starts_with("HTTP/1.1 200 "));
    stopping.await.unwrap().unwrap();
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

/// Reads the head of a response, and nothing behind it.
async fn head(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        bytes.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn head_of_a_stream_leaves_its_connection_free() {
    let Served { world: _world, running, public, key, .. } = start().await;
    let mut stream = TcpStream::connect(public).await.unwrap();
    let created = ask(&mut stream, &post("/v1/research", &key, r#"{"query": "Which tides?"}"#)).await;
    // Nothing works on the run, so its stream does not end.
    let id = &created.split_once("/v1/research/").unwrap().1[..36];
    let accept = "Accept: text/event-stream";
    let events =
        format!("/v1/research/{id}/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n{accept}\r\n\r\n");
    stream.write_all(format!("HEAD {events}").as_bytes()).await.unwrap();
    let answer = head(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(answer.to_lowercase().contains("content-type: text/event-stream\r\n"), "{answer}");
    let me = format!("GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n");
    let me = tokio::time::timeout(Duration::from_secs(1), ask(&mut stream, &me)).await.unwrap();
    assert!(me.starts_with("HTTP/1.1 200 "), "{me}");
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
        let head = head(&mut stream).await;
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
async fn a_client_that_hangs_up_is_counted_and_its_use_case_stops() {
    let Served { world, tenant, running, public, key, .. } = start().await;
    let doc_id = world.import_one(page("https://example.com/", "The tides.")).await;
    world.engine.hold();
    let mut stream = TcpStream::connect(public).await.unwrap();
    stream.write_all(post("/v1/search", &key, r#"{"query": "tides"}"#).as_bytes()).await.unwrap();
    world.engine.reached(1).await;
    drop(stream);
    // Draining does not wait for the held search, which has ended with its client.
    tokio::time::timeout(Duration::from_secs(4), running.stop()).await.unwrap().unwrap();
    world.engine.release();
    let statuses: Vec<_> = world.recorded_requests(&tenant).await.into_iter().map(|(_, status)| status).collect();
    assert_eq!(statuses, [499]);
    assert!(!world.store.is_granted(tenant.organization_id, doc_id).await.unwrap());
}

/// Sends a request on a new connection and reads its response.
async fn ask_once(address: SocketAddr, request: &str) -> String {
    ask(&mut TcpStream::connect(address).await.unwrap(), request).await
}

const PUBLIC_PAGE: &str = "GET /llms.txt HTTP/1.1\r\nHost: x\r\n\r\n";
const READY: &str = "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n";

#[tokio::test]
async fn idle_connections_make_room_for_new_ones() {
    let Served { world: _world, running, public, operations, .. } =
        start_with(Limited { connections: 4, ..Limited::default() }).await;
    let mut used = TcpStream::connect(public).await.unwrap();
    ask(&mut used, PUBLIC_PAGE).await;
    let mut idle = Vec::new();
    for _ in 0..12 {
        idle.push(TcpStream::connect(public).await.unwrap());
    }
    // Heads that never end do not protect a connection.
    for stream in &mut idle {
        let _ = stream.write_all(b"GET / HTTP/1.1\r\n").await;
    }
    let is_closed = |stream: &&TcpStream| match stream.try_read(&mut [0; 16]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
    };
    until("the last four are open", async || (idle.iter().filter(is_closed).count() >= 8).then_some(())).await;
    assert!(ask_once(public, PUBLIC_PAGE).await.starts_with("HTTP/1.1 200 "));
    assert!(ask_once(operations, READY).await.starts_with("HTTP/1.1 200 "));
    // The connection that waited longest was closed.
    assert_eq!(used.read(&mut [0; 16]).await.unwrap_or(0), 0);
    running.stop().await.unwrap();
}

#[tokio::test]
async fn probes_are_answered_while_every_public_connection_is_in_use() {
    let Served { world, running, public, operations, key, .. } =
        start_with(Limited { connections: 3, ..Limited::default() }).await;
    world.engine.hold();
    let mut busy = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(public).await.unwrap();
        stream.write_all(post("/v1/search", &key, r#"{"query": "x"}"#).as_bytes()).await.unwrap();
        busy.push(stream);
    }
    world.engine.reached(3).await;
    let mut refused = TcpStream::connect(public).await.unwrap();
    assert_eq!(refused.read(&mut [0; 16]).await.unwrap_or(0), 0, "closed at once");
    let health = ask_once(operations, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(health.starts_with("HTTP/1.1 200 "), "{health}");
    // Further probers are admitted, too: idle ones make room.
    let mut probers = Vec::new();
    for _ in 0..http_actix::OPERATIONS_CONNECTIONS + 8 {
        probers.push(TcpStream::connect(operations).await.unwrap());
    }
    assert!(ask_once(operations, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.starts_with("HTTP/1.1 200 "));
    world.engine.release();
    for mut stream in busy {
        assert!(response(&mut stream).await.starts_with("HTTP/1.1 200 "));
    }
    running.stop().await.unwrap();
}

#[tokio::test]
async fn a_client_that_does_not_read_its_answers_is_closed() {
    let paces = Paces { reading: IMPATIENT, ..Paces::default() };
    let Served { world: _world, running, public, .. } = start_with(Limited { paces, ..Limited::default() }).await;
    let mut stream = TcpStream::connect(public).await.unwrap();
    // Pipelined requests without reading, until the buffers of both sides are full and the server closes.
    let request = "GET /openapi/public.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(64);
    let closed = async { while stream.write_all(request.as_bytes()).await.is_ok() {} };
    tokio::time::timeout(Duration::from_secs(30), closed).await.unwrap();
    running.stop().await.unwrap();
}

#[tokio::test]
async fn memory_of_answers_is_free_once_they_are_read_or_their_client_is_closed() {
    let paces =
        Paces { reading: Pace { patience: Duration::from_secs(2), bytes_per_second: 1 << 20 }, ..Paces::default() };
    // One answer of this document at a time.
    let memory = MemoryLimits { large_response: 64, responses: 256, max_wait: SHORT, ..MemoryLimits::default() };
    let Served { world, running, public, key, .. } = start_with(Limited { paces, memory, ..Limited::default() }).await;
    world.import_one(page("https://example.com/", &"The tides. ".repeat(16_000))).await;
    let body = r#"{"canonical_url": "https://example.com/", "content": {"selection": "full_document"}}"#;
    let read = post("/v1/document", &key, body);
    for _ in 0..3 {
        let answer = ask_once(public, &read).await;
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.len() > 128 << 10, "{}", &answer[..200]);
    }
    // Requests without reading, until the buffers are full and an answer keeps its memory.
    let mut stalled = TcpStream::connect(public).await.unwrap();
    let pipelined = read.repeat(16);
    let refused = async {
        loop {
            if tokio::time::timeout(Duration::from_millis(20), stalled.write_all(pipelined.as_bytes())).await.is_ok() {
                continue;
            }
            let answer = ask_once(public, &read).await;
            if answer.starts_with("HTTP/1.1 503 ") {
                return answer;
            }
        }
    };
    let refused = tokio::time::timeout(Duration::from_secs(60), refused).await.unwrap();
    assert!(refused.contains("\"overloaded\"") && refused.to_lowercase().contains("retry-after: "), "{refused}");
    // The stalled client is closed while it still holds its side open.
    until("free memory", async || ask_once(public, &read).await.starts_with("HTTP/1.1 200 ").then_some(())).await;
    drop(stalled);
    running.stop().await.unwrap();
}

#[tokio::test]
async fn a_body_in_a_trickle_is_refused_and_its_connection_closed() {
    let paces = Paces { sending: IMPATIENT, ..Paces::default() };
    let Served { world: _world, running, public, key, .. } = start_with(Limited { paces, ..Limited::default() }).await;
    let mut stream = TcpStream::connect(public).await.unwrap();
    let head = post("/v1/search", &key, "").replace("Content-Length: 0", "Content-Length: 100000");
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut reader, mut writer) = stream.into_split();
    let trickle = tokio::spawn(async move {
        while writer.write_all(b"{").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let mut answer = String::new();
    let _ = tokio::time::timeout(Duration::from_secs(20), reader.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("arrives too slowly"), "{answer}");
    trickle.await.unwrap();
    running.stop().await.unwrap();
}

#[tokio::test]
async fn large_bodies_beyond_their_memory_are_refused() {
    let memory = MemoryLimits { large_request: 1, requests: 16, max_wait: SHORT, ..MemoryLimits::default() };
    let Served { world: _world, running, public, key, .. } = start_with(Limited { memory, ..Limited::default() }).await;
    let large = post("/v1/search", &key, &format!("{{\"query\": \"{}\"}}", "x".repeat(7_000)));
    // The head announces the body, which takes its memory before it arrives.
    let (head, _) = large.split_once("\r\n\r\n").unwrap();
    let mut first = TcpStream::connect(public).await.unwrap();
    first.write_all(format!("{head}\r\n\r\n").as_bytes()).await.unwrap();
    let refused = async {
        loop {
            let answer = ask_once(public, &large).await;
            if answer.starts_with("HTTP/1.1 503 ") {
                return answer;
            }
        }
    };
    let refused = tokio::time::timeout(Duration::from_secs(20), refused).await.unwrap();
    assert!(refused.contains("\"overloaded\""), "{refused}");
    let small = post("/v1/search", &key, r#"{"query": "x"}"#);
    assert!(ask_once(public, &small).await.starts_with("HTTP/1.1 200 "));
    drop(first);
    until("free memory", async || ask_once(public, &large).await.starts_with("HTTP/1.1 2").then_some(())).await;
    running.stop().await.unwrap();
}
