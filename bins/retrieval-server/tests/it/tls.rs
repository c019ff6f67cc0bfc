//! HTTPS on the public listeners.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rcgen::{CertificateParams, KeyPair};
use rustix::process::Signal;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};

use crate::support::{Database, Server, until};

const DEADLINE: Duration = Duration::from_secs(30);

struct Pair {
    certificate: String,
    key: String,
}

/// Returns a pair for loopback, signed by itself, which ends in `year`.
fn pair(year: i32) -> Pair {
    let mut params = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    params.not_after = rcgen::date_time_ymd(year, 1, 1);
    let key = KeyPair::generate().unwrap();
    Pair { certificate: params.self_signed(&key).unwrap().pem(), key: key.serialize_pem() }
}

impl Pair {
    fn write(&self, folder: &Path) {
        fs::write(folder.join("cert.pem"), &self.certificate).unwrap();
        fs::write(folder.join("key.pem"), &self.key).unwrap();
    }
}

/// Writes the settings of TLS, and the pair beside them.
fn prepare(pair: &Pair) -> Server {
    let server = Server::prepare(Database::sqlite(), "");
    let path = server.settings_file();
    let folder = path.parent().unwrap();
    pair.write(folder);
    let files = format!("[server]\ntls_cert = {:?}\ntls_key = {:?}\n", folder.join("cert.pem"), folder.join("key.pem"));
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("[server]\n", &files)).unwrap();
    server
}

/// Sends a request with trust in one certificate alone, and returns the response.
fn send(address: &str, trusted: &Pair, request: &str) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(trusted.certificate.as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    let mut stream = StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), stream);
    stream.write_all(request.as_bytes())?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response)?;
    Ok(String::from_utf8(response).unwrap())
}

fn request(line: &str, host: &str, key: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{line} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: Bearer {key}\r\nContent-Length: {length}\r\n\
         Content-Type: application/json\r\n\r\n{body}"
    )
}

fn json_of(response: &str) -> Value {
    assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
    serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap()
}

#[test]
fn api_and_uploads_speak_https() {
    let pair = pair(2100);
    let mut server = prepare(&pair);
    server.resume();
    let address = server.base().trim_start_matches("http://").to_owned();
    let banner = format!("Base URL      https://{address}");
    until("the banner", DEADLINE, || server.stdout().contains(&banner).then_some(()));
    let client = server.tenant("acme");
    let key = client.key.as_deref().unwrap();

    let body = json!({ "filename": "tides.txt", "size": 5 }).to_string();
    let signed = json_of(&send(&address, &pair, &request("POST /v1/files/presign", &address, key, &body)).unwrap());
    let url = signed["url"].as_str().unwrap();
    let path = url.strip_prefix(&format!("https://{}", server.storage_address())).unwrap_or_else(|| panic!("{url}"));
    let storage = server.storage_address();
    let upload =
        format!("PUT {path} HTTP/1.1\r\nHost: {storage}\r\nConnection: close\r\nContent-Length: 5\r\n\r\ntides");
    let uploaded = send(&storage, &pair, &upload).unwrap();
    assert!(uploaded.starts_with("HTTP/1.1 200 "), "{uploaded}");
    let listed = json_of(&send(&address, &pair, &request("GET /v1/files", &address, key, "")).unwrap());
    assert_eq!(listed["files"][0]["size"], 5, "{listed}");

    let mut plain = TcpStream::connect(&address).unwrap();
    plain.set_read_timeout(Some(DEADLINE)).unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP/"), "{}", String::from_utf8_lossy(&answer));
}

#[test]
fn new_pair_is_taken_over_and_a_broken_one_is_not() {
    let (old, new) = (pair(2100), pair(2100));
    let mut server = prepare(&old);
    server.resume();
    let address = server.base().trim_start_matches("http://").to_owned();
    let hello = request("GET /", &address, "none", "");
    let path = server.settings_file();
    let folder = path.parent().unwrap();
    fs::write(folder.join("key.pem"), "broken").unwrap();
    server.signal(Signal::HUP);
    until("the fault is logged", DEADLINE, || server.log().contains("has no private key").then_some(()));
    assert!(send(&address, &old, &hello).unwrap().starts_with("HTTP/1.1 200 "));
    new.write(folder);
    server.signal(Signal::HUP);
    until("the new pair is in use", DEADLINE, || send(&address, &new, &hello).ok());
    assert!(send(&address, &old, &hello).is_err());
    // Without a signal, too.
    old.write(folder);
    until("the old pair is back", DEADLINE, || send(&address, &old, &hello).ok());
}

#[test]
fn clients_that_begin_no_handshake_do_not_delay_the_stop() {
    let pair = pair(2100);
    let mut server = prepare(&pair);
    server.resume();
    let addresses = [server.base().trim_start_matches("http://").to_owned(), server.storage_address()];
    let mut silent = Vec::new();
    for address in &addresses {
        silent.push(TcpStream::connect(address).unwrap());
        // An answer to a later connection shows that the listener has accepted the silent one.
        send(address, &pair, &request("GET /", address, "none", "")).unwrap();
    }
    let asked = Instant::now();
    assert_eq!(server.stop().code(), Some(0));
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    drop(silent);
}

#[test]
fn hangup_without_a_certificate_is_ignored() {
    let mut server = Server::start(Database::sqlite());
    server.signal(Signal::HUP);
    server.tenant("acme").get("/v1/files").ok();
    assert_eq!(server.stop().code(), Some(0));
}

#[test]
fn faults_of_the_pair_are_named_at_the_start() {
    let server = prepare(&pair(2100));
    let path = server.settings_file();
    let folder = path.parent().unwrap();
    fs::write(folder.join("key.pem"), pair(2100).key).unwrap();
    for command in ["serve", "config check"] {
        let ended = server.command(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(ended.code(), Some(1));
        for part in ["server.tls_key", "key.pem", "does not belong"] {
            assert!(ended.stderr.contains(part), "{}", ended.stderr);
        }
    }
    fs::remove_file(folder.join("cert.pem")).unwrap();
    let ended = server.command(&["serve"]);
    assert!(ended.stderr.contains("server.tls_cert") && ended.stderr.contains("cert.pem"), "{}", ended.stderr);
}

#[test]
fn doctor_advises_to_reach_a_server_with_a_certificate_by_its_name() {
    let findings = prepare(&pair(2100)).command(&["doctor", "--json"]).lines();
    let hint = |check: &str| {
        let found = findings.iter().find(|finding| finding["check"] == check);
        found.and_then(|finding| finding["hint"].as_str()).unwrap_or_default().to_owned()
    };
    for check in ["round_trip", "isolation"] {
        assert!(hint(check).contains("`server.public_url` lead to this machine"), "{findings:?}");
        assert!(!hint(check).contains("server.bind"), "{findings:?}");
    }
}

#[test]
fn expired_certificate_is_a_warning() {
    let mut server = prepare(&pair(2020));
    server.resume();
    until("the warning", DEADLINE, || server.log().contains("expired").then_some(()));
    assert!(server.counted("retrieval_certificate_expiry_timestamp_seconds") > 1_500_000_000);
}
