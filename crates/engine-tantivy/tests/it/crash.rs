use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use engine::SearchEngine;
use model::IndexName;

use crate::{count, open, put, total};

/// Tells the child process where to work.
const FOLDER: &str = "ENGINE_TANTIVY_CRASH_TEST_FOLDER";
const FIRST: u64 = 100;
const SECOND: u64 = 20_000;

/// Applies a small batch, says so, and is killed in the middle of a big one.
#[tokio::test]
#[ignore = "is the child process of `a_killed_process_leaves_the_last_commit`"]
async fn child() {
    let folder = std::env::var(FOLDER).expect("the parent names a folder");
    let engine = open(Path::new(&folder));
    let batch =
        |from: u64, size| (from..from + size).map(|at| put(u128::from(at), "copper pipes and valves")).collect();
    engine.apply(IndexName::Web, batch(0, FIRST)).await.expect("the first batch");
    std::fs::write(Path::new(&folder).join("first-is-in"), "").expect("a sign for the parent");
    engine.apply(IndexName::Web, batch(FIRST, SECOND)).await.expect("the second batch");
}

#[tokio::test]
async fn a_killed_process_leaves_the_last_commit() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "crash::child", "--ignored"])
        .env(FOLDER, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("a child process");
    let deadline = Instant::now() + Duration::from_secs(60);
    while !folder.path().join("first-is-in").exists() {
        assert!(Instant::now() < deadline, "the child does not come forward");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    tokio::time::sleep(Duration::from_millis(30)).await;
    child.kill().expect("killed");
    child.wait().expect("gone");

    // The lock went with the process, and a batch is in as a whole or not at all.
    let engine = open(folder.path());
    let documents = count(&engine).await;
    assert!([FIRST, FIRST + SECOND].contains(&documents), "{documents} documents");
    assert_eq!(total(&engine, "valve").await, documents);
    engine.apply(IndexName::Web, vec![put(1_000_000, "brass")]).await.expect("work goes on");
    assert_eq!(count(&engine).await, documents + 1);
}
