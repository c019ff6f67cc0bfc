//! `retrieval files` against a fake API and storage.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::mock_server::{MockServer, Reply, Request};
use crate::program::{Home, KEY, finish};

const ID: &str = "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a001";

fn run(state: &str) -> Value {
    let stats = json!({ "enumerated": 2, "fetched": 2, "indexed": 2, "failed": 0, "skipped_unsupported": 0,
        "deleted": 0, "bytes": 8 });
    let error = if state == "failed" { json!("storage is gone") } else { Value::Null };
    json!({ "request_id": ID, "sync_id": ID, "state": state, "started_at": null, "completed_at": null,
        "error": error, "stats": stats })
}

/// Fake API and storage. Files named `bad*` are rejected; uploads of `slow*` get no response.
fn service(stored: &'static str, state: &'static str) -> MockServer {
    MockServer::start(move |request: &Request, _| {
        let base = format!("http://{}", request.header("host").unwrap());
        match request.line.split_once(' ').unwrap() {
            ("GET", "/v1/files") => Reply::Full(200, String::new(), stored.as_bytes().to_vec()),
            ("POST", "/v1/files/presign") => {
                let name = request.json()["filename"].as_str().unwrap().to_owned();
                if name.starts_with("bad") {
                    return Reply::error(413, "file_too_large");
                }
                Reply::json(
                    200,
                    &json!({ "request_id": ID, "name": name, "url": format!("{base}/store/{name}"),
                    "expires_in_seconds": 900, "max_object_bytes": 1000 }),
                )
            }
            ("PUT", target) if target.contains("slow") => Reply::Silence(Duration::from_secs(20)),
            ("PUT", _) => Reply::Full(200, String::new(), Vec::new()),
            ("POST", "/v1/files/index") => {
                Reply::json(202, &json!({ "request_id": ID, "sync_id": ID, "state": "queued" }))
            }
            ("GET", _) => Reply::json(200, &run(state)),
            ("DELETE", target) => Reply::json(200, &json!({ "request_id": ID, "deleted": target.contains("there") })),
            _ => Reply::Close,
        }
    })
}

const NOTHING: &str = r#"{"request_id":"5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a001","files":[]}"#;
const UNCHANGED: &str = r#"{"request_id":"5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a001","files":[
    {"name":"a.md","size":4,"last_modified":"2999-01-01T00:00:00Z"}]}"#;

fn home(files: &[&str]) -> Home {
    let home = Home::new();
    for file in files {
        let path = home.path().join("notes").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "text").unwrap();
    }
    home
}

fn puts(server: &MockServer) -> Vec<Request> {
    server.requests().into_iter().filter(|request| request.line.starts_with("PUT")).collect()
}

#[test]
fn folder_is_uploaded_and_indexed() {
    let (home, server) = (home(&["a.md", "sub/b.txt", "c.png", ".hidden.md"]), service(NOTHING, "completed"));
    let events = home.run_at(&server, &["files", "add", "notes", "--json"]).json();
    let kinds: Vec<_> = events.iter().map(|event| (event["event"].as_str(), event["name"].as_str())).collect();
    assert_eq!(
        kinds,
        [(Some("skipped"), None), (Some("uploaded"), Some("a.md")), (Some("uploaded"), Some("b.txt")), (None, None)]
    );
    assert_eq!(events[3], run("completed"));
    let puts = puts(&server);
    assert_eq!(puts.len(), 2);
    assert!(puts.iter().all(|put| put.body == b"text" && put.headers.iter().all(|(_, value)| !value.contains(KEY))));
    let plain = home.run_at(&server, &["files", "add", "notes"]);
    assert_eq!((plain.code, plain.stdout.as_str()), (Some(0), "indexing: completed (2 listed, 2 indexed)\n"));
    assert!(plain.stderr.contains("notes/c.png has an unsupported type"), "{plain:#?}");
    assert!(plain.stderr.contains("2 uploaded, 0 unchanged, 1 skipped, 0 failed"), "{plain:#?}");
}

#[test]
fn unchanged_files_are_not_uploaded() {
    let (home, server) = (home(&["a.md"]), service(UNCHANGED, "completed"));
    assert_eq!(home.run_at(&server, &["files", "add", "notes/a.md", "--no-run"]).code, Some(0));
    assert_eq!(puts(&server).len(), 0);
    assert_eq!(home.run_at(&server, &["files", "add", "notes/*.md", "--no-run", "--force"]).code, Some(0));
    assert_eq!(puts(&server).len(), 1);
    fs::write(home.path().join("notes/a.md"), "longer text").unwrap();
    let plan = home.run_at(&server, &["files", "add", "notes", "--dry-run"]);
    assert_eq!(plan.stdout, "notes/a.md -> a.md\n");
    assert_eq!(puts(&server).len(), 1);
}

#[test]
fn name_collisions_are_rejected_before_the_upload() {
    let (home, server) = (home(&["a.md", "sub/a.md"]), service(NOTHING, "completed"));
    let done = home.run_at(&server, &["files", "add", "notes"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("notes/a.md, notes/sub/a.md"), "{done:#?}");
    assert!(server.requests().is_empty());
    let apart = home.run_at(&server, &["files", "add", "notes", "--names", "path", "--no-run", "--json"]).json();
    assert_eq!((apart[0]["name"].as_str(), apart[1]["name"].as_str()), (Some("a.md"), Some("sub__a.md")));
}

#[test]
fn rejected_file_does_not_stop_others() {
    let (home, server) = (home(&["bad.md", "good.md"]), service(NOTHING, "completed"));
    let done = home.run_at(&server, &["files", "add", "notes"]);
    assert_eq!(done.code, Some(7), "{done:#?}");
    assert!(done.stderr.contains("failed: notes/bad.md: ") && done.stderr.contains("file_too_large"), "{done:#?}");
    assert!(done.stdout.contains("completed"), "{done:#?}");
    assert_eq!(puts(&server).len(), 1);
}

#[test]
fn failed_run_is_reported() {
    let (home, server) = (home(&[]), service(NOTHING, "failed"));
    for arguments in [&["files", "sync"][..], &["files", "status", ID], &["files", "status", ID, "--follow"]] {
        let done = home.run_at(&server, arguments);
        assert_eq!(done.code, Some(7), "{done:#?}");
        assert!(done.stderr.contains("storage is gone"), "{done:#?}");
    }
    assert_eq!(home.run_at(&server, &["files", "sync", "--no-wait", "--full", "--json"]).json()[0]["state"], "queued");
    let starts: Vec<Value> =
        server.requests().iter().filter(|request| request.line == "POST /v1/files/index").map(Request::json).collect();
    assert_eq!(starts, [json!({}), json!({ "mode": "full" })]);
}

#[test]
fn deletion_reports_missing_files() {
    let (home, server) = (home(&[]), service(NOTHING, "completed"));
    let done = home.run_at(&server, &["files", "rm", "there.md", "gone.md"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(4), "deleted there.md\n"));
    assert!(done.stderr.contains("`gone.md`"), "{done:#?}");
}

#[test]
fn interruption_names_the_next_step() {
    let (home, server) = (home(&["slow.md"]), service(NOTHING, "completed"));
    let mut command = home.command_at(&server, &["files", "add", "notes"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while puts(&server).is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let done = finish(child);
    assert_eq!(done.code, Some(130));
    assert!(done.stderr.contains("retrieval files sync"), "{done:#?}");
}
