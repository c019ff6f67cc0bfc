//! `retrieval files` against a fake API and storage.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::mock_server::{MockServer, Reply, Request};
use crate::program::{Done, Home, KEY, finish};

pub const ID: &str = "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a001";

fn run(state: &str) -> Value {
    let stats = json!({ "enumerated": 2, "fetched": 2, "indexed": 2, "failed": 0, "skipped_unsupported": 0,
        "deleted": 0, "bytes": 8 });
    let error = if state == "failed" { json!("storage is gone") } else { Value::Null };
    json!({ "request_id": ID, "sync_id": ID, "state": state, "started_at": null, "completed_at": null,
        "error": error, "stats": stats })
}

/// Returns true for the list of files, and for one file.
fn asks_for_files(target: &str) -> bool {
    target.starts_with("/v1/files") && !target.starts_with("/v1/files/index")
}

/// Responds with the stored files, or with one of them.
fn stored_files(files: &Value, target: &str) -> Reply {
    let Some(name) = target.strip_prefix("/v1/files/") else {
        return Reply::json(200, &json!({ "request_id": ID, "files": files }));
    };
    let encoded = |c: char| if c.is_ascii_alphanumeric() { c.to_string() } else { format!("%{:02X}", u32::from(c)) };
    let is_asked = |file: &&Value| file["name"].as_str().unwrap().chars().map(encoded).collect::<String>() == name;
    let Some(file) = files.as_array().unwrap().iter().find(is_asked) else {
        return Reply::error(404, "file_not_found");
    };
    let mut body = file.clone();
    body["request_id"] = json!(ID);
    Reply::json(200, &body)
}

/// Fake API and storage. Files named `bad*` are rejected, `full*` exceed a quota, and the key is refused for `locked*`; uploads of `slow*`
/// get no response.
fn service(stored: &'static str, state: &'static str) -> MockServer {
    let stored: Value = serde_json::from_str(stored).unwrap();
    MockServer::start(move |request: &Request, _| {
        let base = format!("http://{}", request.header("host").unwrap());
        match request.line.split_once(' ').unwrap() {
            ("GET", target) if asks_for_files(target) => stored_files(&stored, target),
            ("POST", "/v1/files/presign") => {
                let name = request.json()["filename"].as_str().unwrap().to_owned();
                if name.starts_with("bad") {
                    return Reply::error(413, "file_too_large");
                }
                if name.starts_with("full") {
                    return Reply::error(507, "quota_exceeded");
                }
                if name.starts_with("locked") {
                    return Reply::error(401, "invalid_api_key");
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
            ("DELETE", target) => {
                let is_stored = target.contains("there") || target == "/v1/files/%C3%A9%2Emd";
                Reply::json(200, &json!({ "request_id": ID, "deleted": is_stored }))
            }
            _ => Reply::Close,
        }
    })
}

const NOTHING: &str = "[]";
const UNCHANGED: &str = r#"[{"name":"a.md","size":4,"last_modified":"2999-01-01T00:00:00Z"}]"#;

pub fn home(files: &[&str]) -> Home {
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
    let events = home.run_at(&server, &["files", "add", "notes", "--json", "--jobs", "1"]).json();
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
    let apart =
        home.run_at(&server, &["files", "add", "notes", "--names", "path", "--no-run", "--json", "--jobs", "1"]).json();
    assert_eq!((apart[0]["name"].as_str(), apart[1]["name"].as_str()), (Some("a.md"), Some("sub__a.md")));
}

#[test]
fn names_by_path_tell_folders_apart() {
    let (home, server) = (home(&["a/plan.md", "b/plan.md", "c__plan.md", "c/plan.md"]), service(NOTHING, "completed"));
    let add = |paths: &[&str]| {
        let arguments = [&["files", "add", "--names", "path", "--no-run", "--json", "--jobs", "1"][..], paths].concat();
        let events = home.run_at(&server, &arguments).json();
        events.iter().map(|event| event["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let apart = ["notes__a__plan.md", "notes__b__plan.md"];
    assert_eq!(add(&["notes/a", "notes/b"]), apart);
    assert_eq!(add(&["notes/a/plan.md", "./notes/b/plan.md"]), apart);
    assert_eq!(add(&["notes/../notes/a", "notes/b/*.md"]), apart);
    assert_eq!(add(&["notes/a"]), ["plan.md"]);

    let done = home.run_at(&server, &["files", "add", "notes", "--names", "path"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("c__plan.md") && !done.stderr.contains("use --names"), "{done:#?}");
}

#[test]
fn labels_that_the_service_refuses_are_refused_before_the_upload() {
    let (home, server) = (home(&["a.md"]), service(NOTHING, "completed"));
    let done = home.run_at(&server, &["files", "add", "notes", "--label", "finance", "--label", " "]);
    assert_eq!(done.code, Some(2));
    assert!(
        done.stderr.contains("label ` ` must have 1 to 64 characters") && server.requests().is_empty(),
        "{done:#?}"
    );
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
fn file_that_cannot_be_read_does_not_stop_others() {
    let (home, server) = (home(&["a.md"]), service(NOTHING, "completed"));
    symlink("missing", home.path().join("notes/b.md")).unwrap();
    let done = home.run_at(&server, &["files", "add", "notes", "--json"]);
    assert_eq!((done.code, &done.error()["code"]), (Some(7), &json!("partial")), "{done:#?}");
    assert_eq!(kinds(&done), ["failed", "uploaded", ""]);
    let event: Value = serde_json::from_str(done.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(event["path"], "notes/b.md");
    assert!(event["reason"].as_str().unwrap().starts_with("cannot be read: "), "{event}");
    assert_eq!(puts(&server).len(), 1);

    let quiet = home.run_at(&server, &["files", "add", "notes", "--quiet"]);
    assert!(quiet.code == Some(7) && quiet.stderr.contains("failed: notes/b.md: cannot be read: "), "{quiet:#?}");
    assert!(quiet.stderr.contains("error: 1 of 2 files were not uploaded"), "{quiet:#?}");
    let plain = home.run_at(&server, &["files", "add", "notes"]);
    assert!(plain.stderr.contains("1 uploaded, 0 unchanged, 0 skipped, 1 failed"), "{plain:#?}");
    let plan = home.run_at(&server, &["files", "add", "notes", "--dry-run"]);
    assert_eq!((plan.code, plan.stdout.as_str()), (Some(7), "notes/a.md -> a.md\n"), "{plan:#?}");

    let before = server.requests().len();
    fs::remove_file(home.path().join("notes/a.md")).unwrap();
    for arguments in [["files", "add", "notes"], ["files", "add", "notes/*.md"]] {
        let none = home.run_at(&server, &arguments);
        assert!(none.code == Some(7) && none.stderr.contains("failed: notes/b.md: "), "{none:#?}");
    }
    assert_eq!(server.requests().len(), before);
}

#[test]
fn files_beside_one_beyond_the_quota_are_indexed() {
    let (home, server) = (home(&["a.md", "full.md", "z.md"]), service(NOTHING, "completed"));
    let done = home.run_at(&server, &["files", "add", "notes"]);
    assert_eq!(
        (done.code, done.stdout.as_str()),
        (Some(3), "indexing: completed (2 listed, 2 indexed)\n"),
        "{done:#?}"
    );
    assert!(done.stderr.contains("failed: notes/full.md: it is quota_exceeded"), "{done:#?}");
    assert!(done.stderr.contains("2 uploaded, 0 unchanged, 0 skipped, 1 failed"), "{done:#?}");
    let done = home.run_at(&server, &["files", "add", "notes", "--json", "--jobs", "1"]);
    assert_eq!((done.code, &done.error()["code"]), (Some(3), &json!("quota_exceeded")));
    assert_eq!(kinds(&done), ["uploaded", "failed", "uploaded", ""]);
}

/// Returns the kinds of the events; empty for the status of a run.
fn kinds(done: &Done) -> Vec<String> {
    let events = done.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.map(|event| event["event"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn uploads_beside_a_refusal_of_the_key_are_reported_and_indexed() {
    let (home, server) = (home(&["a.md", "locked.md", "z.md"]), service(NOTHING, "completed"));
    let done = home.run_at(&server, &["files", "add", "notes", "--json", "--jobs", "1"]);
    assert_eq!((done.code, &done.error()["code"]), (Some(3), &json!("invalid_api_key")), "{done:#?}");
    assert_eq!(kinds(&done), ["uploaded", "failed", "uploaded", ""]);
}

/// Names of more files than are asked for one by one.
const MANY: [&str; 6] = ["1.md", "2.md", "3.md", "4.md", "5.md", "6.md"];

#[test]
fn states_of_stored_files_are_asked_for_by_name_or_together() {
    let (home, server) = (home(&MANY), service(NOTHING, "completed"));
    let asked = |arguments: &[&str]| {
        let before = server.requests().len();
        assert_eq!(home.run_at(&server, arguments).code, Some(0));
        let requests = server.requests().into_iter().skip(before).map(|request| request.line);
        requests.filter(|line| line.starts_with("GET") && asks_for_files(&line[4..])).collect::<Vec<_>>()
    };
    // Before the upload, and after the run.
    assert_eq!(asked(&["files", "add", "notes/1.md"]), ["GET /v1/files/1%2Emd"; 2]);
    assert_eq!(asked(&["files", "add", "notes"]), ["GET /v1/files"; 2]);
    assert_eq!(asked(&["files", "list"]), ["GET /v1/files"]);
}

/// Runs a command whose output nothing reads.
fn without_reader(home: &Home, server: &MockServer, arguments: &[&str]) -> Done {
    let mut command = home.command_at(server, arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    finish(child)
}

#[test]
fn command_without_a_reader_finishes_its_work() {
    let (home, server) = (home(&["a.md", "b.md", "c.png"]), service(NOTHING, "completed"));
    let count = |line: &str| server.requests().iter().filter(|request| request.line.starts_with(line)).count();
    let done = without_reader(&home, &server, &["files", "rm", "there1", "there2", "there3"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:#?}");
    assert_eq!(count("DELETE"), 3);
    let done = without_reader(&home, &server, &["files", "rm", "gone1", "there2", "--json"]);
    assert_eq!((done.code, count("DELETE")), (Some(4), 5), "{done:#?}");
    let done = without_reader(&home, &server, &["files", "add", "notes", "--json"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:#?}");
    assert_eq!((count("PUT"), count("POST /v1/files/index")), (2, 1));
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
fn deletion_finds_the_name_as_typed() {
    let (home, server) = (home(&[]), service(NOTHING, "completed"));
    assert_eq!(home.run_at(&server, &["files", "rm", "e\u{301}.md"]).code, Some(0));
    // `files add` takes another name from a path.
    assert_eq!(home.run_at(&server, &["files", "rm", "/e\u{301}.md"]).code, Some(4));
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

/// Fake API with one file that its run cannot read, in two pages of outcomes.
fn unreadable(listed: Value) -> MockServer {
    MockServer::start(move |request: &Request, _| {
        let base = format!("http://{}", request.header("host").unwrap());
        let outcome = |name: &str, status: &str| json!({ "name": name, "doc_id": ID, "status": status });
        match request.line.split_once(' ').unwrap() {
            ("GET", target) if asks_for_files(target) => stored_files(&listed, target),
            ("POST", "/v1/files/presign") => {
                let name = request.json()["filename"].as_str().unwrap().to_owned();
                let signed = json!({ "request_id": ID, "name": name, "url": format!("{base}/store/{name}"),
                    "expires_in_seconds": 900, "max_object_bytes": 1000, "replaces": "an/other.md" });
                Reply::json(200, &signed)
            }
            ("PUT", _) => Reply::Full(200, String::new(), Vec::new()),
            ("POST", _) => Reply::json(202, &json!({ "request_id": ID, "sync_id": ID, "state": "queued" })),
            ("GET", target) if target.contains("/files?") => {
                let mut files = vec![outcome("a.md", "indexed")];
                let mut body = json!({ "request_id": ID, "sync_id": ID });
                if target.contains("cursor=next") {
                    files.push(outcome("scan.pdf", "failed"));
                    files[1]["reason"] = json!("needs_ocr: it has\u{1b}[31m images only");
                } else {
                    body["next_cursor"] = json!("next");
                }
                body["files"] = json!(files);
                Reply::json(200, &body)
            }
            ("GET", _) => {
                let mut run = run("completed");
                run["stats"]["failed"] = json!(1);
                Reply::json(200, &run)
            }
            _ => Reply::Close,
        }
    })
}

#[test]
fn unreadable_files_are_named_with_their_reasons() {
    let (home, server) = (home(&["a.md"]), unreadable(json!([])));
    for arguments in [&["files", "sync"][..], &["files", "add", "notes"], &["files", "status", ID, "--follow"]] {
        let done = home.run_at(&server, arguments);
        assert_eq!(done.code, Some(7), "{done:#?}");
        assert!(done.stderr.contains("failed: scan.pdf: needs_ocr: it has␛[31m images only"), "{done:#?}");
        assert!(done.stderr.contains("error: 1 file could not be read"), "{done:#?}");
        assert!(done.stdout.contains("completed") && !done.stderr.contains("a.md:"), "{done:#?}");
    }
    let done = home.run_at(&server, &["files", "sync", "--json"]);
    assert_eq!((done.code, &done.error()["code"]), (Some(7), &json!("partial")));
    let lines: Vec<Value> = done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["event"], &lines[0]["name"]), (&json!("failed"), &json!("scan.pdf")));
    assert_eq!(lines[1]["state"], "completed");
    assert_eq!(home.run_at(&server, &["files", "sync", "--no-wait"]).code, Some(0));
}

#[test]
fn unchanged_file_that_could_not_be_read_is_named_again() {
    let listed = json!([{ "name": "a.md", "size": 4, "last_modified": "2999-01-01T00:00:00Z", "status": "failed",
        "reason": "encrypted: it is locked" }]);
    let (home, server) = (home(&["a.md"]), unreadable(listed));
    let done = home.run_at(&server, &["files", "add", "notes", "--no-run"]);
    assert_eq!(done.code, Some(7), "{done:#?}");
    assert!(done.stderr.contains("failed: a.md: encrypted: it is locked"), "{done:#?}");
    assert_eq!(puts(&server).len(), 0);
}

/// A run does not list a file whose bytes have not changed.
#[test]
fn unreadable_file_that_is_uploaded_again_is_named_again() {
    let listed = json!([{ "name": "broken.pdf", "size": 4, "last_modified": "2000-01-01T00:00:00Z", "status": "failed",
        "reason": "corrupt: it is broken" }, { "name": "other.pdf", "size": 4, "last_modified": "2000-01-01T00:00:00Z",
        "status": "failed", "reason": "encrypted: it is locked" }]);
    let (home, server) = (home(&["broken.pdf"]), unreadable(listed));
    for arguments in [&["files", "add", "notes"][..], &["files", "add", "notes", "--force"]] {
        let done = home.run_at(&server, arguments);
        assert_eq!(done.code, Some(7), "{done:#?}");
        assert!(done.stderr.contains("failed: broken.pdf: corrupt: it is broken"), "{done:#?}");
        // One of the run, and the uploaded one.
        assert!(done.stderr.contains("error: 2 files could not be read"), "{done:#?}");
        assert!(!done.stderr.contains("other.pdf"), "{done:#?}");
    }
    assert_eq!(puts(&server).len(), 2);
    let done = home.run_at(&server, &["files", "add", "notes", "--json"]);
    assert_eq!(done.code, Some(7), "{done:#?}");
    let last: Value = serde_json::from_str(done.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last["state"], "completed", "the status of the run comes last");
}

/// Patterns like this one match in so many ways that their scan does not end.
#[test]
fn scan_of_folders_can_be_interrupted() {
    let deep = format!("{}a.md", "a/".repeat(60));
    let (home, server) = (home(&[&deep]), service(NOTHING, "completed"));
    let pattern = format!("notes/{}*.none", "**/*/".repeat(12));
    let mut command = home.command_at(&server, &["files", "add", &pattern]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while !handles_interrupts(&child) {
        assert!(child.try_wait().unwrap().is_none() && started.elapsed() < Duration::from_secs(20), "no handler");
        std::thread::sleep(Duration::from_millis(10));
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("the scan goes on");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let done = finish(child);
    assert_eq!(done.code, Some(130), "{done:#?}");
    assert!(server.requests().is_empty());
}

/// Returns true once the program handles SIGINT, which has bit 1 in the mask of caught signals.
fn handles_interrupts(child: &Child) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or_default();
    u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 2 != 0)
}

#[test]
fn labels_are_sent_and_replaced_names_reported() {
    let (home, server) = (home(&["a.md"]), unreadable(json!([])));
    let arguments = ["files", "add", "notes", "--label", "finance", "--label", "Q3, 2026", "--no-run"];
    let done = home.run_at(&server, &arguments);
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert!(done.stderr.contains("a.md replaced `an/other.md`"), "{done:#?}");
    let presigned = server.requests().into_iter().find(|request| request.line.contains("presign")).unwrap().json();
    assert_eq!(presigned["labels"], json!(["finance", "Q3, 2026"]));
    let events = home.run_at(&server, &[&arguments[..], &["--json"]].concat()).json();
    assert_eq!(events[0]["replaces"], "an/other.md");
}
