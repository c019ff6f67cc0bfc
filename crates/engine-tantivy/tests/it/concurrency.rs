use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{Change, SearchEngine};
use engine_tantivy::{TantivyEngine, TantivyOptions};
use futures_util::future::join_all;
use model::{DocId, IndexName};
use uuid::Uuid;

use crate::{count, open, put, total};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_searches_see_whole_batches() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = TantivyOptions { writer_idle_timeout: Duration::from_millis(5), ..TantivyOptions::default() };
    let engine = Arc::new(TantivyEngine::open(folder.path(), options).expect("a new index"));
    const BATCH: u64 = 10;
    const BATCHES: u64 = 20;
    let writers = (0..2u64).map(|writer| {
        let engine = Arc::clone(&engine);
        tokio::spawn(async move {
            for batch in 0..BATCHES {
                let first = u128::from((writer * BATCHES + batch) * BATCH);
                let changes = (0..u128::from(BATCH)).map(|at| put(first + at, "copper pipe")).collect();
                engine.apply(IndexName::Web, changes).await.expect("changes");
                // Sometimes long enough for the writer to be closed in between.
                tokio::time::sleep(Duration::from_millis(batch % 4 * 4)).await;
            }
        })
    });
    let searchers = (0..20).map(|_| {
        let engine = Arc::clone(&engine);
        tokio::spawn(async move {
            let mut before = 0;
            while before < 2 * BATCHES * BATCH {
                let found = total(&engine, "pipes").await;
                assert!(found >= before && found.is_multiple_of(BATCH), "{found} after {before}");
                before = found;
            }
        })
    });
    for task in join_all(writers.chain(searchers)).await {
        task.expect("no task fails");
    }
}

#[tokio::test]
async fn concurrent_changes_of_a_document_leave_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let engine = open(folder.path());
    for number in 0..20 {
        let changes = (0..4).map(|_| engine.apply(IndexName::Web, vec![put(number, "copper")]));
        join_all(changes).await.into_iter().collect::<Result<Vec<()>, _>>().expect("changes");
    }
    assert_eq!(count(&engine).await, 20);
}

#[tokio::test]
async fn merges_of_small_commits_preserve_documents() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = TantivyOptions { writer_idle_timeout: Duration::from_millis(20), ..TantivyOptions::default() };
    let engine = TantivyEngine::open(folder.path(), options).expect("a new index");
    let rounds = ["first", "second", "third"];
    for at in 0..60 {
        let body = format!("copper {}", rounds[at / 20]);
        engine.apply(IndexName::Web, vec![put(at as u128 % 20, &body)]).await.expect("a change");
    }
    assert_eq!(count(&engine).await, 20);
    assert_eq!(total(&engine, "first second").await, 0);
    assert_eq!(total(&engine, "third").await, 20);
    // The writer stays open until its merges are done, which leave few of 60 segments.
    let segments = || {
        let files = std::fs::read_dir(folder.path().join("web")).expect("a folder");
        files
            .filter(|file| file.as_ref().is_ok_and(|file| file.path().extension() == Some("fieldnorm".as_ref())))
            .count()
    };
    let deadline = Instant::now() + Duration::from_secs(20);
    while segments() > 16 {
        assert!(Instant::now() < deadline, "{} segments", segments());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(total(&engine, "third").await, 20);
    let remove = (0..20).map(|at| Change::Remove { doc_id: DocId(Uuid::from_u128(at)) }).collect();
    engine.apply(IndexName::Web, remove).await.expect("removals");
    assert_eq!(count(&engine).await, 0);
}
