use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use engine::{Change, SearchEngine};
use model::{DocId, IndexName};
use uuid::Uuid;

use crate::{count, open, put, total};

/// Environment variable with the index directory of the child process.
const FOLDER: &str = "ENGINE_TANTIVY_CRASH_TEST_FOLDER";
const FIRST: u64 = 100;
const SECOND: u64 = 20_000;

/// Applies a small batch, signals the parent, and is killed during a large one.
#[tokio::test]
#[ignore = "child process of `killed_process_keeps_last_commit`"]
async fn child() {
    let folder = std::env::var(FOLDER).expect("set by the parent");
    let engine = open(Path::new(&folder));
    let batch =
        |from: u64, size| (from..from + size).map(|at| put(u128::from(at), "copper pipes and valves")).collect();
    engine.apply(IndexName::Web, batch(0, FIRST)).await.expect("the first batch");
    std::fs::write(Path::new(&folder).join("first-committed"), "").expect("a signal to the parent");
    engine.apply(IndexName::Web, batch(FIRST, SECOND)).await.expect("the second batch");
}

#[tokio::test]
async fn killed_process_keeps_last_commit() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "crash::child", "--ignored"])
        .env(FOLDER, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("a child process");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !folder.path().join("first-committed").exists() {
        assert!(Instant::now() < deadline, "no signal from the child process");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    tokio::time::sleep(Duration::from_millis(30)).await;
    child.kill().expect("killed");
    child.wait().expect("gone");

    // The lock was released, and a batch is either committed completely or not at all.
    let engine = open(folder.path());
    let documents = count(&engine).await;
    assert!([FIRST, FIRST + SECOND].contains(&documents), "{documents} documents");
    assert_eq!(total(&engine, "valve").await, documents);
    engine.apply(IndexName::Web, vec![put(1_000_000, "brass")]).await.expect("a change after recovery");
    assert_eq!(count(&engine).await, documents + 1);
}

/// Undoes a commit as a kill just before its end does: brings back the older `meta.json` files, which end a commit, and the files
/// that only they name. Files of the commit stay.
fn undo_commit(before: &[(PathBuf, Vec<u8>)]) {
    for (path, content) in before {
        if path.ends_with("meta.json") || !path.exists() {
            std::fs::write(path, content).expect("an older file");
        }
    }
}

fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push((path.clone(), std::fs::read(&path).expect("a file")));
        }
    }
    found
}

/// A killed process leaves the files of its commit, which the same commit writes again.
#[tokio::test]
async fn commit_that_was_cut_off_is_repeated() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(folder.path());
    let batch = (0..10).map(|at| put(at, "copper pipes and valves")).collect();
    engine.apply(IndexName::Web, batch).await.expect("the first commit");
    drop(engine);
    let change = || vec![put(1, "brass"), Change::Remove { doc_id: DocId(Uuid::from_u128(2)) }];
    for _ in 0..3 {
        let before = files(folder.path());
        let engine = open(folder.path());
        engine.apply(IndexName::Web, change()).await.expect("the second commit");
        drop(engine);
        undo_commit(&before);
    }
    let engine = open(folder.path());
    assert_eq!(count(&engine).await, 10, "the second commit did not happen");
    engine.apply(IndexName::Web, change()).await.expect("the second commit, once more");
    assert_eq!((count(&engine).await, total(&engine, "brass").await), (9, 1));
}

/// A commit whose segments cannot be loaded is durable, but the caller repeats its changes.
#[tokio::test]
async fn commit_that_stayed_invisible_is_repeated() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(folder.path());
    engine.apply(IndexName::Web, vec![put(1, "copper")]).await.expect("a change");
    // Segments are loaded under this lock, which cannot be taken if it is a folder.
    let lock = folder.path().join("web/.tantivy-meta.lock");
    let apply_invisibly = async |changes| {
        std::fs::remove_file(&lock).expect("removed");
        std::fs::create_dir(&lock).expect("a folder");
        engine.apply(IndexName::Web, changes).await.expect_err("segments cannot be loaded");
        std::fs::remove_dir(&lock).expect("removed");
    };
    apply_invisibly(vec![put(2, "copper")]).await;
    assert_eq!(count(&engine).await, 1);
    engine.apply(IndexName::Web, vec![put(2, "copper")]).await.expect("the change, once more");
    assert_eq!(count(&engine).await, 2);
    apply_invisibly(vec![put(3, "copper")]).await;
    let remove = Change::Remove { doc_id: DocId(Uuid::from_u128(3)) };
    engine.apply(IndexName::Web, vec![remove]).await.expect("a removal");
    assert_eq!(count(&engine).await, 2);
}
