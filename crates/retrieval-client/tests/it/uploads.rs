//! Uploads and indexing runs.

use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use retrieval_client::types::RunState;
use retrieval_client::{Error, LocalFile, Uploaded};
use serde_json::json;

use crate::mock_server::{MockServer, Reply};
use crate::samples::{KEY, REQUEST, client, presigned};

/// Returns an API that presigns URLs of `storage` and strips folders from names.
fn api(storage: &MockServer) -> MockServer {
    let storage = storage.address().to_owned();
    MockServer::start(move |request, _| {
        let name = request.json()["filename"].as_str().unwrap().replace('/', "");
        Reply::json(200, &presigned(&format!("{storage}/bucket/{name}?signature=1"), &name))
    })
}

#[tokio::test]
async fn upload_declares_the_exact_size_and_omits_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("big.txt");
    let content: Vec<u8> = (0..1_000_003_u32).map(|index| (index % 251) as u8).collect();
    fs::write(&path, &content).unwrap();
    let storage = MockServer::start(|_, _| Reply::Full(200, String::new(), Vec::new()));
    let api = api(&storage);
    let last = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&last);
    let uploaded = client(&api).upload(&path, "big.txt", move |sent| seen.store(sent, Ordering::SeqCst)).await.unwrap();
    assert_eq!(uploaded, Uploaded { name: "big.txt".to_owned(), size: 1_000_003, replaces: None });
    assert_eq!(api.requests()[0].json(), json!({ "filename": "big.txt", "size": 1_000_003 }));
    assert_eq!(last.load(Ordering::SeqCst), 1_000_003);
    let [put] = <[_; 1]>::try_from(storage.requests()).unwrap();
    assert_eq!(put.line, "PUT /bucket/big.txt?signature=1");
    assert_eq!(put.header("content-length"), Some("1000003"));
    assert_eq!((put.header("transfer-encoding"), put.header("authorization")), (None, None));
    assert!(put.headers.iter().all(|(_, value)| !value.contains(KEY)));
    assert!(put.body == content);
}

#[tokio::test]
async fn stalled_storage_is_not_a_timeout_of_the_client() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    fs::write(&path, "text").unwrap();
    let storage = MockServer::start(|_, _| Reply::Silence(Duration::from_secs(60)));
    // After the last byte the clock runs on to the limit.
    let pause = |sent: u64| {
        if sent > 0 {
            tokio::time::pause()
        }
    };
    let error = client(&api(&storage)).upload(&path, "a.txt", pause).await.unwrap_err();
    let Error::StorageTimeout { server, limit } = error else { panic!("{error:?}") };
    assert_eq!((server.as_str(), limit), (storage.address(), Duration::from_secs(60)));
}

#[tokio::test]
async fn text_is_uploaded_whole() {
    let text = "潮".repeat(100_000);
    let storage = MockServer::start(|_, _| Reply::Full(200, String::new(), Vec::new()));
    client(&api(&storage)).upload_text(text.clone(), "a.txt").await.unwrap();
    let requests = storage.requests();
    assert_eq!((requests[0].header("content-length"), requests[0].header("transfer-encoding")), (Some("300000"), None));
    assert!(requests[0].body == text.as_bytes());
}

#[tokio::test]
async fn empty_file_is_uploaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.txt");
    fs::write(&path, "").unwrap();
    let storage = MockServer::start(|_, _| Reply::Full(200, String::new(), Vec::new()));
    client(&api(&storage)).upload(&path, "empty.txt", |_| {}).await.unwrap();
    let requests = storage.requests();
    assert_eq!(requests[0].header("content-length"), Some("0"));
    assert_eq!(requests[0].header("transfer-encoding"), None);
}

#[tokio::test]
async fn every_attempt_is_presigned_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    fs::write(&path, "abc").unwrap();
    let storage = MockServer::start(|_, earlier| match earlier {
        0 => Reply::Close,
        1 => Reply::Full(500, String::new(), Vec::new()),
        _ => Reply::Full(200, String::new(), Vec::new()),
    });
    let api = api(&storage);
    client(&api).upload(&path, "a.txt", |_| {}).await.unwrap();
    assert_eq!((api.requests().len(), storage.requests().len()), (3, 3));
}

#[tokio::test]
async fn storage_refusal_is_not_retried() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    fs::write(&path, "abc").unwrap();
    let storage = MockServer::start(|_, _| Reply::Full(403, String::new(), b"<Error>expired</Error>".to_vec()));
    let error = client(&api(&storage)).upload(&path, "a.txt", |_| {}).await.unwrap_err();
    assert!(matches!(&error, Error::Storage { status: 403, .. }), "{error:?}");
    assert!(!format!("{error:?}").contains("signature"));
    assert_eq!(storage.requests().len(), 1);
}

#[tokio::test]
async fn growing_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.txt");
    fs::write(&path, vec![b'x'; 300_000]).unwrap();
    let storage = MockServer::start(|_, _| Reply::Full(200, String::new(), Vec::new()));
    let growing = path.clone();
    let grow = move |sent: u64| {
        if sent == 0 {
            fs::OpenOptions::new().append(true).open(&growing).unwrap().write_all(b"more").unwrap();
        }
    };
    let error = client(&api(&storage)).upload(&path, "log.txt", grow).await.unwrap_err();
    assert!(matches!(error, Error::FileChanged { .. }), "{error:?}");
}

#[tokio::test]
async fn file_that_is_written_during_its_upload_is_uploaded_again() {
    for (writes, puts) in [(1, 2), (usize::MAX, 4)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs::write(&path, "text 0").unwrap();
        // Times of files have steps of some milliseconds.
        fs::File::options().write(true).open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let written = path.clone();
        let storage = MockServer::start(move |_, earlier| {
            if earlier < writes {
                fs::write(&written, format!("text {}", earlier + 1)).unwrap();
            }
            Reply::Full(200, String::new(), Vec::new())
        });
        let api = api(&storage);
        let result = client(&api).upload(&path, "a.txt", |_| {}).await;
        let bodies: Vec<_> = storage.requests().into_iter().map(|put| String::from_utf8(put.body).unwrap()).collect();
        assert_eq!(bodies, (0..puts).map(|put| format!("text {put}")).collect::<Vec<_>>());
        assert_eq!(api.requests().len(), puts, "each attempt has a URL of its own");
        match writes {
            1 => assert_eq!(result.unwrap().size, 6),
            _ => assert!(matches!(result, Err(Error::FileChanged { .. })), "{result:?}"),
        }
    }
}

#[tokio::test]
async fn files_with_equal_sanitized_names_conflict() {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<LocalFile> = ["a/b.txt", "ab.txt", "missing.txt", "c.txt"]
        .into_iter()
        .enumerate()
        .map(|(index, name)| {
            let path = folder.path().join(format!("{index}.txt"));
            if name != "missing.txt" {
                fs::write(&path, name).unwrap();
            }
            LocalFile { path, name: name.to_owned(), labels: None }
        })
        .collect();
    let storage = MockServer::start(|_, _| Reply::Full(200, String::new(), Vec::new()));
    let sent = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&sent);
    let mut results = Vec::new();
    let progress = move |index: usize, bytes: u64| log.lock().unwrap().push((index, bytes));
    client(&api(&storage)).upload_files(&files, 1, progress, |index, result| results.push((index, result))).await;
    assert_eq!(results.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(results[0].1.as_ref().unwrap().name, "ab.txt");
    assert!(matches!(&results[1].1, Err(Error::Setting(message)) if message.contains("`ab.txt`")), "{results:?}");
    assert!(matches!(&results[2].1, Err(Error::File { .. })), "{results:?}");
    assert_eq!(results[3].1.as_ref().unwrap().name, "c.txt");
    assert_eq!(storage.requests().len(), 2);
    assert_eq!(*sent.lock().unwrap(), [(0, 0), (0, 7), (3, 0), (3, 5)]);
}

#[tokio::test]
async fn one_long_upload_does_not_stop_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<LocalFile> = (0..11)
        .map(|index| {
            let path = folder.path().join(format!("{index}.txt"));
            fs::write(&path, "text").unwrap();
            LocalFile { path, name: format!("{index}.txt"), labels: None }
        })
        .collect();
    let seen = AtomicU64::new(0);
    let storage = MockServer::start(move |request, _| {
        if request.line.contains("/0.txt") {
            let started = Instant::now();
            while seen.load(Ordering::SeqCst) < 10 && started.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(5));
            }
            let status = if seen.load(Ordering::SeqCst) == 10 { 200 } else { 403 };
            return Reply::Full(status, String::new(), Vec::new());
        }
        seen.fetch_add(1, Ordering::SeqCst);
        Reply::Full(200, String::new(), Vec::new())
    });
    let mut finished = Vec::new();
    let end = |index, result: Result<Uploaded, Error>| finished.push((index, result.is_ok()));
    client(&api(&storage)).upload_files(&files, 2, |_, _| {}, end).await;
    assert!(finished.iter().all(|(_, succeeded)| *succeeded), "{finished:?}");
    assert_eq!(finished.len(), 11);
    // The last of the others may still wait for its response.
    let long = finished.iter().position(|(index, _)| *index == 0);
    assert!(long >= Some(9), "results are handed over as uploads end: {finished:?}");
}

#[tokio::test]
async fn run_is_followed_until_it_finishes() {
    let server = MockServer::start(|_, earlier| {
        let state = ["queued", "planning", "running", "failed"][earlier.min(3)];
        let stats = json!({ "enumerated": 1, "fetched": 1, "indexed": 0, "failed": 1, "skipped_unsupported": 0,
            "deleted": 0, "bytes": 3 });
        Reply::json(
            200,
            &json!({ "request_id": REQUEST, "sync_id": "s", "state": state, "started_at": null,
            "completed_at": null, "error": null, "stats": stats }),
        )
    });
    let mut states = Vec::new();
    let last = client(&server).follow_run("s", |status| states.push(status.state)).await.unwrap();
    assert_eq!(states, [RunState::Queued, RunState::Planning, RunState::Running, RunState::Failed]);
    assert_eq!(last.state, RunState::Failed);
}
