//! Log: who writes it, and what does not belong in it.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, open};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Client, Database, Server, command, lines, put, signal_group, until};

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

/// Signatures of URLs permit uploads. The store's library logs them at `debug`, and refused requests as errors.
#[test]
fn requests_to_the_store_leave_no_signatures_and_no_errors() {
    let variable = vec![("RUST_LOG".to_owned(), "debug".to_owned())];
    for (sections, environment) in [("", variable), ("[log]\nfilter = \"debug\"\n", Vec::new())] {
        let mut server = Server::prepare(Database::sqlite(), sections);
        server.environment = environment;
        server.resume();
        let presigned = server.tenant("acme").presign("a.txt", 3).ok();
        let url = presigned["url"].as_str().unwrap();
        let (_, signature) = url.split_once("X-Amz-Signature=").unwrap();
        let (start, last) = url.split_at(url.len() - 1);
        let forged = format!("{start}{}", if last == "0" { "1" } else { "0" });
        assert_eq!(put(&forged, b"abc").status, 403);
        assert_eq!(put(url, b"abc").status, 200);
        let unsigned = Client::new(&format!("http://{}", server.storage_address()), None, Uuid::nil());
        assert_eq!(unsigned.get("/workspace/key").status, 403);
        assert_eq!(server.stop().code(), Some(0));
        let log = server.log();
        assert!(log.contains(" DEBUG ") && !log.contains(" ERROR "), "{log}");
        for secret in ["X-Amz-Signature", signature, forged.rsplit('=').next().unwrap()] {
            assert!(!log.contains(secret), "{secret}: {log}");
        }
    }
}

/// Returns the lines of the access log.
fn accesses(server: &Server) -> Vec<Value> {
    let lines = server.log();
    let lines = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["target"] == "access").collect()
}

#[test]
fn each_request_has_one_line_without_content_and_keys() {
    let server = Server::start_with(Database::sqlite(), "[log]\nformat = \"json\"\n");
    let client = server.tenant("acme");
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let found = client.send("POST", "/v1/search", &[("traceparent", parent)], Some(br#"{"query": "walrus"}"#));
    let file = client.get("/v1/files/secret-name.txt");
    let listed = client.get("/v1/usage?from=yesterday");
    let unknown = client.with_key(Some("rk_wrong_walrus")).get("/v1/files");
    let docs = client.with_key(None).get("/docs?walrus");
    let nowhere = client.with_key(None).get("/walrus");
    let head = client.send("HEAD", "/v1/files", &[], None);
    let replies = [&found, &file, &listed, &unknown, &docs, &nowhere, &head];
    let lines = until("all lines", Duration::from_secs(10), || {
        Some(accesses(&server)).filter(|lines| lines.len() >= replies.len())
    });
    let organization = json!(client.organization);
    let expected = [
        ("POST /v1/search", 200, &organization),
        ("GET /v1/files/{name}", 404, &organization),
        ("GET /v1/usage", 400, &organization),
        ("GET /v1/files", 401, &Value::Null),
        ("GET /docs", 200, &Value::Null),
        ("(unmatched)", 404, &Value::Null),
        // Its body is not sent, so it counts no bytes.
        ("GET /v1/files", 200, &organization),
    ];
    assert_eq!(lines.len(), expected.len(), "{lines:#?}");
    for ((route, status, organization), reply) in expected.into_iter().zip(replies) {
        let line = lines.iter().find(|line| line["request_id"] == reply.header("x-request-id").unwrap());
        let line = line.unwrap_or_else(|| panic!("{route} is not in {lines:#?}"));
        assert_eq!(
            (&line["route"], &line["status"], &line["organization_id"]),
            (&json!(route), &json!(status), organization)
        );
        assert_eq!(line["bytes"], reply.text.len(), "{line}");
        assert!(line["duration_ms"].as_f64().is_some_and(|duration| duration > 0.0), "{line}");
    }
    let traced = lines.iter().find(|line| line["route"] == "POST /v1/search").unwrap();
    assert_eq!(traced["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
    let log = server.log();
    for secret in ["walrus", "secret-name", "yesterday", client.key.as_deref().unwrap()] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}

#[test]
fn access_log_can_be_disabled() {
    let mut server = Server::start_with(Database::sqlite(), "[log]\nformat = \"json\"\naccess = false\n");
    server.tenant("acme").get("/v1/files").ok();
    assert_eq!(server.stop().code(), Some(0));
    assert!(server.log().contains("listening"));
    assert_eq!(accesses(&server), [] as [Value; 0]);
}

/// The stages of a search are measured on another thread than its request is read on.
#[test]
fn lines_of_a_request_have_its_ids() {
    let server = Server::start_with(Database::sqlite(), "[log]\nformat = \"json\"\nfilter = \"warn,app=debug\"\n");
    let client = server.tenant("acme");
    let reply = client.search("walrus", json!({}));
    let id = reply.header("x-request-id").unwrap().to_owned();
    let line = until("the durations of the search", Duration::from_secs(10), || {
        let log = server.log();
        log.lines().find(|line| line.contains(&id)).map(|line| serde_json::from_str::<Value>(line).unwrap())
    });
    let span = &line["span"];
    assert_eq!((&span["request_id"], &span["trace_id"]), (&json!(id), &json!(id.replace('-', ""))), "{line}");
}

#[test]
fn lines_of_runs_have_their_ids() {
    let server = Server::start_with(Database::sqlite(), "[log]\nformat = \"json\"\nfilter = \"info\"\n");
    let client = server.tenant("acme");
    client.upload("a.txt", "The walrus eats clams.");
    let sync_id = client.index()["sync_id"].as_str().unwrap().to_owned();
    let request = json!({ "query": "What does the walrus eat?", "scope": client.workspace_scope() });
    let research_id = client.post("/v1/research", &request).json()["research_id"].as_str().unwrap().to_owned();
    for (name, key, id) in [("indexing_run", "sync_id", sync_id), ("research_run", "research_id", research_id)] {
        let expected = json!({ "name": name, key: id, "trace_id": id.replace('-', "") });
        until("a line of the run", Duration::from_secs(10), || {
            let log = server.log();
            let mut lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            lines.any(|line| line["span"] == expected).then_some(())
        });
    }
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

/// Returns the sides of a pseudo-terminal: that of the reader, and that of the program.
fn terminal() -> (File, OwnedFd) {
    let reader = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&reader).unwrap();
    unlockpt(&reader).unwrap();
    let name = ptsname(&reader, Vec::new()).unwrap();
    let screen = open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    (File::from(reader), screen)
}

#[test]
fn log_on_a_terminal_has_colours() {
    let server = Server::prepare(Database::sqlite(), "");
    let (mut reader, screen) = terminal();
    let mut serve = command();
    serve.args(["serve", "--config"]).arg(server.settings_file()).env_remove("NO_COLOR");
    let mut child = serve.stdout(Stdio::null()).stderr(Stdio::from(screen)).spawn().unwrap();
    // Closes this process's copy of the screen, so that reading ends with the program.
    drop(serve);
    let reading = std::thread::spawn(move || {
        let mut shown = Vec::new();
        // Fails when the other side is closed, after everything has been read.
        let _ = reader.read_to_end(&mut shown);
        shown
    });
    // Written late in the start, after several log lines.
    let key_file = server.data_folder().join("first-key");
    until("the server starts or ends", Duration::from_secs(30), || {
        (key_file.exists() || child.try_wait().unwrap().is_some()).then_some(())
    });
    signal_group(&child, Signal::KILL);
    child.wait().unwrap();
    let shown = reading.join().unwrap();
    let shown = String::from_utf8_lossy(&shown);
    assert!(key_file.exists() && shown.contains("\x1b[") && !shown.contains("crate feature"), "{shown}");
}

/// The disk of the log may be full.
#[cfg(target_os = "linux")]
#[test]
fn log_that_cannot_be_written_does_not_end_the_server() {
    let server = Server::prepare(Database::sqlite(), "");
    let mut serve = command();
    serve.args(["serve", "--config"]).arg(server.settings_file());
    serve.stderr(File::options().write(true).open("/dev/full").unwrap());
    let mut child = serve.stdout(Stdio::null()).spawn().unwrap();
    // Written late in the start, after several log lines.
    let key_file = server.data_folder().join("first-key");
    until("the server starts", Duration::from_secs(30), || key_file.exists().then_some(()));
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
}
