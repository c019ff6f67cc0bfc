//! Log: who writes it, and what does not belong in it.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use crate::support::{Database, Server, lines, until};

#[test]
fn malformed_requests_are_no_errors_of_the_server() {
    let mut server = Server::start_with(Database::sqlite(), "[log]\nfilter = \"info\"\n");
    for request in
        ["\x16\x03\x01 is not HTTP\r\n\r\n", "GET / HTTP/1.1\r\nbad header\r\n\r\n", "GET /\0 HTTP/9.9\r\n\r\n"]
    {
        let mut stream = TcpStream::connect(server.base().trim_start_matches("http://")).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.starts_with(b"HTTP/1.1 400") || answer.is_empty(), "{}", String::from_utf8_lossy(&answer));
    }
    server.tenant("acme").get("/v1/files").ok();
    assert_eq!(server.stop().code(), Some(0));
    let log = server.log();
    assert!(log.contains("listening") && !log.contains("ERROR"), "{log}");
}

#[test]
fn imported_text_stays_on_its_line() {
    let server = Server::prepare(Database::sqlite(), "");
    let forged = "soon\nline 9: forged\x1b[2J";
    let page = json!({ "url": "https://example.com/", "text": "x", "published_at": forged });
    let valid = json!({ "url": "https://example.com/valid", "text": "x" });
    let done = server.command_with_input(&["web", "import", "-"], lines(&[valid, page]));
    assert_eq!(done.object()["failed"], 1);
    assert!(
        done.stderr.contains("soon") && !done.stderr.contains("\nline 9") && !done.stderr.contains('\x1b'),
        "{done:#?}"
    );
}

#[test]
fn unencrypted_keys_of_an_issuer_are_a_warning() {
    let oauth = |scheme: &str| {
        format!(
            "[auth.oauth]\nissuer = \"https://i.example/\"\naudience = \"a\"\njwks_url = \"{scheme}://127.0.0.1:9/keys\"\n"
        )
    };
    let warned = |server: &Server| server.log().lines().any(|line| line.contains("WARN") && line.contains("jwks_url"));
    let plain = Server::start_with(Database::sqlite(), &oauth("http"));
    assert!(warned(&plain), "{}", plain.log());
    let encrypted = Server::start_with(Database::sqlite(), &oauth("https"));
    assert!(!warned(&encrypted), "{}", encrypted.log());
}

/// The disk of the log may be full.
#[cfg(target_os = "linux")]
#[test]
fn log_that_cannot_be_written_does_not_end_the_server() {
    let server = Server::prepare(Database::sqlite(), "");
    let mut command = crate::support::command();
    command.args(["serve", "--config"]).arg(server.settings_file());
    command.stderr(fs::File::options().write(true).open("/dev/full").unwrap());
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    // Written late in the start, after several log lines.
    let key_file = server.data_folder().join("first-key");
    until("the server starts", Duration::from_secs(30), || key_file.exists().then_some(()));
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
}
