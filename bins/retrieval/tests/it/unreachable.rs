//! Services that cannot be reached, and addresses of other services.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rcgen::generate_simple_self_signed;
use rustix::net::{AddressFamily, SocketType, bind, getsockname, listen, socket};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use crate::mock_server::{MockServer, Reply};
use crate::program::{Done, Home, KEY, finish};

/// Without retries a run ends within milliseconds; with them it took over a second.
const AT_ONCE: Duration = Duration::from_millis(1_000);

fn run(home: &Home, base_url: &str, arguments: &[&str]) -> Done {
    finish(spawn(home, base_url, arguments).spawn().unwrap())
}

fn spawn(home: &Home, base_url: &str, arguments: &[&str]) -> Command {
    let mut command = home.command(&[arguments, &["--base-url", base_url]].concat());
    command.env("RETRIEVAL_API_KEY", KEY).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Returns the address of a server that answers every connection with these bytes.
fn server_that_sends(bytes: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(bytes);
        }
    });
    address
}

/// A server that cuts each connection within its response, without the end of the TLS session.
struct TlsServer {
    address: String,
    /// PEM.
    certificate: String,
    requests: Arc<AtomicUsize>,
}

impl TlsServer {
    fn start() -> Self {
        let certified = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let chain = vec![certified.cert.der().clone()];
        let config = Arc::new(config.with_no_client_auth().with_single_cert(chain, key.into()).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        let requests = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut tls = StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream);
                if tls.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {
                    count.fetch_add(1, Ordering::SeqCst);
                    let _ = tls.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{\"request_");
                }
            }
        });
        Self { address, certificate: certified.cert.pem(), requests }
    }
}

/// A port with a full queue of connections, which drops further ones like an address without a machine.
struct BlackHole {
    address: SocketAddr,
    _listener: rustix::fd::OwnedFd,
    _queued: Vec<TcpStream>,
}

impl BlackHole {
    fn open() -> Self {
        let listener = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&listener, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        listen(&listener, 0).unwrap();
        let address = SocketAddr::try_from(getsockname(&listener).unwrap()).unwrap();
        let mut queued = Vec::new();
        while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
            queued.push(stream);
            assert!(queued.len() < 100, "the queue is never full");
        }
        Self { address, _listener: listener, _queued: queued }
    }
}

#[test]
fn refused_connection_is_named_at_once() {
    let home = Home::new();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for arguments in [&["search", "tides"][..], &["files", "list"], &["me"], &["read", "https://a.example/"]] {
        for base_url in [format!("http://{free}"), free.to_string()] {
            let started = Instant::now();
            let done = run(&home, &base_url, arguments);
            assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
            assert_eq!((done.code, done.stdout.as_str()), (Some(5), ""), "{done:#?}");
            let expected = format!("error: no response from `http://{free}`: connection refused; start the service");
            assert!(done.stderr.starts_with(&expected) && done.stderr.contains("--base-url"), "{done:#?}");
        }
    }
    let error = run(&home, &free.to_string(), &["me", "--json"]).error();
    assert_eq!((&error["code"], &error["exit_status"]), (&json!("no_connection"), &json!(5)));
}

#[test]
fn server_that_stops_during_a_command_is_tried_again() {
    let server = MockServer::start(|_, earlier| match earlier {
        0 => Reply::error(503, "provider_unavailable"),
        _ => Reply::Close,
    });
    let done = Home::new().run_at(&server, &["files", "list"]);
    assert_eq!((done.code, server.requests().len()), (Some(5), 4), "{done:#?}");
}

#[test]
fn address_that_does_not_answer_is_named_while_the_attempt_continues() {
    let (home, hole) = (Home::new(), BlackHole::open());
    let started = Instant::now();
    let mut child = spawn(&home, &hole.address.to_string(), &["me", "--timeout", "1"]).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    let named_after = started.elapsed();
    assert_eq!(line, format!("still connecting to `http://{}` (Ctrl-C stops)\n", hole.address));
    assert!(named_after < AT_ONCE, "{named_after:?}");
    line.clear();
    stderr.read_to_string(&mut line).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5));
    assert!(line.starts_with(&format!("error: no response from `http://{}`", hole.address)), "{line}");

    // Standard error of programs is the error alone.
    let error = run(&home, &hole.address.to_string(), &["me", "--timeout", "1", "--json"]).error();
    assert_eq!(error["code"], "timeout");
    let done = run(&home, &hole.address.to_string(), &["me", "--timeout", "1", "--quiet"]);
    assert_eq!((done.code, done.stderr.lines().count()), (Some(5), 1), "{done:#?}");
}

#[test]
fn unknown_host_is_named() {
    // Reserved for names that never resolve (RFC 6761). Without a resolver the attempt ends with the timeout.
    let done = run(&Home::new(), "no-such-host.invalid", &["me", "--timeout", "2"]);
    assert_eq!(done.code, Some(5), "{done:#?}");
    assert!(done.stderr.contains("`https://no-such-host.invalid`"), "{done:#?}");
}

#[test]
fn scheme_of_the_other_kind_is_proposed() {
    let home = Home::new();
    let plain = server_that_sends(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    let done = run(&home, &format!("https://{plain}"), &["me"]);
    let expected = format!("the server does not speak TLS; if that is right, use `http://{plain}`");
    assert!(done.code == Some(5) && done.stderr.contains(&expected), "{done:#?}");

    let alert = server_that_sends(&[0x15, 3, 3, 0, 2, 2, 50]);
    let done = run(&home, &format!("http://{alert}"), &["me"]);
    let expected = format!("the response is not HTTP; if it speaks TLS, use `https://{alert}`");
    assert!(done.code == Some(5) && done.stderr.contains(&expected), "{done:#?}");
}

#[test]
fn untrusted_certificate_is_a_plain_sentence() {
    let server = TlsServer::start();
    let done = run(&Home::new(), &server.address, &["me"]);
    let expected = "TLS failed: the certificate is not from a trusted issuer";
    assert!(done.code == Some(5) && done.stderr.contains(expected), "{done:#?}");
}

#[test]
fn connection_that_is_cut_over_tls_is_tried_again() {
    let (home, server) = (Home::new(), TlsServer::start());
    let issuer = home.path().join("issuer.pem");
    fs::write(&issuer, &server.certificate).unwrap();
    let mut command = spawn(&home, &server.address, &["files", "list"]);
    let done = finish(command.env("SSL_CERT_FILE", &issuer).spawn().unwrap());
    assert_eq!((done.code, server.requests.load(Ordering::SeqCst)), (Some(5), 4), "{done:#?}");
    assert!(!done.stderr.contains("TLS failed") && done.stderr.contains("try again"), "{done:#?}");
}

#[test]
fn other_services_are_recognized() {
    let page = |status: u16| {
        MockServer::start(move |_, _| {
            Reply::Full(status, "Content-Type: text/html\r\n".to_owned(), b"<html><h1>Welcome</h1>".to_vec())
        })
    };
    let redirect = |_: &crate::mock_server::Request, _: usize| {
        Reply::Full(301, "Location: https://search.example.com/login?x=1\r\n".to_owned(), Vec::new())
    };
    let cases = [
        (page(200), 6, "sent text/html instead of a JSON object"),
        (page(404), 6, "it may be another service: check --base-url"),
        (page(502), 5, "a proxy cannot reach the service behind it: try again later"),
        (MockServer::start(|_, _| Reply::json(404, &json!({ "detail": "Not Found" }))), 6, "another service"),
        (MockServer::start(|_, _| Reply::json(200, &json!({ "status": "ok" }))), 6, "another service"),
        (MockServer::start(redirect), 6, "it redirects to `https://search.example.com`: use that as --base-url"),
    ];
    let home = Home::new();
    for (server, exit, expected) in cases {
        let done = home.run_at(&server, &["files", "list"]);
        assert_eq!((done.code, done.stdout.as_str()), (Some(exit), ""), "{done:#?}");
        assert!(done.stderr.contains(expected) && done.stderr.contains(server.address()), "{expected}: {done:#?}");
        assert!(!done.stderr.contains("<html>"), "{done:#?}");
    }
}

#[test]
fn address_without_a_scheme_works() {
    let server = MockServer::start(|_, _| Reply::json(200, &json!({ "request_id": uuid(), "files": [] })));
    let home = Home::new();
    let bare = server.address().trim_start_matches("http://");
    assert_eq!(run(&home, bare, &["files", "list", "--json"]).json()[0]["files"], json!([]));
    assert_eq!(run(&home, &format!(" {bare}/ "), &["files", "list", "--json"]).json()[0]["files"], json!([]));
    // A key in the wrong place is neither looked up nor shown.
    let done = run(&home, KEY, &["files", "list"]);
    assert_eq!(done.code, Some(2), "{done:#?}");
    assert!(done.stderr.contains("http:// or https://") && !done.stderr.contains(KEY), "{done:#?}");
}

fn uuid() -> &'static str {
    "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a001"
}
