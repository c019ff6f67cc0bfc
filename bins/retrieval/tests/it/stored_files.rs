//! `retrieval files list`, `show` and `get` against a fake API and storage.

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::process::Stdio;

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::json;

use crate::files::{ID, home};
use crate::mock_server::{MockServer, Reply, Request};
use crate::program::{KEY, finish};

/// Fake API with one stored file.
fn stored() -> MockServer {
    MockServer::start(|request: &Request, _| {
        let base = format!("http://{}", request.header("host").unwrap());
        match request.line.as_str() {
            "GET /v1/files/a%20b%2Emd" | "GET /v1/files/%C3%A9%2Emd" => Reply::json(
                200,
                &json!({ "request_id": ID, "name": "a b.md", "size": 4, "last_modified": "2026-01-05T10:00:00Z",
                    "doc_id": ID, "canonical_url": format!("workspace://{ID}/a%20b.md"), "status": "failed",
                    "reason": "encrypted: it is locked", "labels": ["x", "y"] }),
            ),
            "GET /v1/files/a%20b%2Emd/content" | "GET /v1/files/%C3%A9%2Emd/content" => {
                let url = format!("{base}/store/1?signature=2");
                Reply::json(200, &json!({ "request_id": ID, "url": url, "expires_in_seconds": 900 }))
            }
            "GET /store/1?signature=2" => Reply::Full(200, String::new(), b"te\0xt".to_vec()),
            _ => Reply::error(404, "file_not_found"),
        }
    })
}

#[test]
fn one_file_is_shown() {
    let (home, server) = (home(&[]), stored());
    let shown = home.run_at(&server, &["files", "show", "a b.md"]);
    assert!(shown.stdout.contains("status         failed\nreason         encrypted: it is locked\n"), "{shown:#?}");
    assert!(shown.stdout.contains("labels         x, y\n"), "{shown:#?}");
    assert!(shown.stdout.contains(&format!("URL            workspace://{ID}/a%20b.md\n")), "{shown:#?}");
    assert_eq!(home.run_at(&server, &["files", "show", "a b.md", "--json"]).json()[0]["status"], "failed");
    assert_eq!(home.run_at(&server, &["files", "show", "c.md"]).code, Some(4));
}

#[test]
fn file_is_found_by_the_name_as_typed() {
    let (home, server) = (home(&[]), stored());
    let typed = "e\u{301}.md";
    assert_eq!(home.run_at(&server, &["files", "show", typed]).code, Some(0));
    assert_eq!(home.run_at(&server, &["files", "get", typed]).code, Some(0));
    assert_eq!(fs::read(home.path().join(typed)).unwrap(), b"te\0xt");
    assert_eq!(home.run_at(&server, &["files", "get", typed, "--out", "-"]).stdout.as_bytes(), b"te\0xt");
    assert_eq!(server.requests()[0].line, "GET /v1/files/e%CC%81%2Emd", "as typed at first");
    // `files add` takes another name from a path.
    assert_eq!(home.run_at(&server, &["files", "show", "/e\u{301}.md"]).code, Some(4));
}

#[test]
fn original_is_downloaded_whole_or_not_at_all() {
    let (home, server) = (home(&[]), stored());
    let get = |arguments: &[&str]| home.run_at(&server, &[&["files", "get", "a b.md"], arguments].concat());
    let local = || fs::read(home.path().join("a b.md"));
    fs::write(home.path().join("a b.md.part"), "mine").unwrap();
    assert_eq!(get(&[]).code, Some(0));
    assert_eq!(local().unwrap(), b"te\0xt");
    let mode = |name: &str| fs::metadata(home.path().join(name)).unwrap().permissions().mode();
    assert_eq!(mode("a b.md"), mode("a b.md.part"), "as of any new file");
    let requests = server.requests();
    let download = requests.iter().find(|request| request.line.contains("/store/")).unwrap();
    assert!(download.headers.iter().all(|(_, value)| !value.contains(KEY)), "the key is not sent to storage");
    // An existing file is kept.
    fs::write(home.path().join("a b.md"), "mine").unwrap();
    assert_eq!(get(&[]).code, Some(2));
    assert_eq!(local().unwrap(), b"mine");
    assert_eq!(get(&["--force"]).code, Some(0));
    assert_eq!(local().unwrap(), b"te\0xt");
    assert_eq!(get(&["--out", "-", "--quiet"]).stdout.as_bytes(), b"te\0xt");
    assert_eq!(get(&["-o", "nowhere/a.md"]).code, Some(1));
    assert_eq!(home.run_at(&server, &["files", "get", "c.md"]).code, Some(4));
    let mut left: Vec<_> =
        fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    left.retain(|name| name.contains(".md") || name.starts_with(".retrieval-"));
    left.sort();
    assert_eq!(left, ["a b.md", "a b.md.part"], "no partial file is left");
    assert_eq!(fs::read(home.path().join("a b.md.part")).unwrap(), b"mine", "files of other names are kept");
}

#[test]
fn download_ends_when_its_reader_does() {
    let (home, server) = (home(&[]), stored());
    let mut command = home.command_at(&server, &["files", "get", "a b.md", "--out", "-"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let done = finish(child);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{done:#?}");
}

#[test]
fn link_is_kept_and_only_regular_files_are_replaced() {
    let (home, server) = (home(&["mine.md"]), stored());
    let get = |out: &str| home.run_at(&server, &["files", "get", "a b.md", "--force", "--out", out]);
    let path = |name: &str| home.path().join(name);
    symlink("notes/mine.md", path("link.md")).unwrap();
    assert_eq!(get("link.md").code, Some(0));
    assert!(path("link.md").is_symlink(), "the link is kept");
    assert_eq!(fs::read(path("notes/mine.md")).unwrap(), b"te\0xt");

    mkfifoat(CWD, path("pipe"), Mode::RWXU).unwrap();
    symlink("pipe", path("link")).unwrap();
    for out in ["pipe", "link", "notes"] {
        let done = get(out);
        assert!(done.code == Some(2) && done.stderr.contains("use --out -"), "{done:#?}");
    }
    assert!(path("pipe").metadata().unwrap().file_type().is_fifo() && path("link").is_symlink());
}
