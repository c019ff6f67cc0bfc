//! The outbox: what an index has yet to learn, oldest first.

use docstore::Id;
use uuid::Uuid;

use crate::support::{Database, NOW};

on_both_backends!(
    entries_come_oldest_first_and_of_one_index,
    completed_entries_are_gone_and_newer_ones_stay,
    bounds_are_those_of_one_index,
    numbers_are_never_used_again,
    many_entries_are_queued_and_completed,
);

fn ids(count: usize) -> Vec<Id> {
    (0..count).map(|_| Id(Uuid::new_v4())).collect()
}

async fn enqueue(db: &Database, index: &str, doc_ids: Vec<Id>) {
    db.enqueue_documents(index.to_owned(), doc_ids, NOW).await.unwrap();
}

async fn bounds(db: &Database, index: &str) -> Option<(i64, i64)> {
    db.outbox_bounds(index.to_owned()).await.unwrap()
}

async fn entries_come_oldest_first_and_of_one_index(db: Database) {
    let (first, second, other) = (ids(3), ids(2), ids(2));
    enqueue(&db, "web", first.clone()).await;
    enqueue(&db, "workspace", other.clone()).await;
    enqueue(&db, "web", second.clone()).await;
    enqueue(&db, "web", vec![]).await;
    let pending = db.pending_outbox("web".to_owned(), 10).await.unwrap();
    assert!(pending.is_sorted_by(|a, b| a.id < b.id));
    let expected: Vec<Id> = first.into_iter().chain(second).collect();
    assert_eq!(pending.iter().map(|entry| entry.doc_id).collect::<Vec<_>>(), expected);
    let oldest = db.pending_outbox("web".to_owned(), 2).await.unwrap();
    assert_eq!(oldest.iter().map(|entry| entry.doc_id).collect::<Vec<_>>(), expected[..2]);
    let pending = db.pending_outbox("workspace".to_owned(), 10).await.unwrap();
    assert_eq!(pending.iter().map(|entry| entry.doc_id).collect::<Vec<_>>(), other);
    assert!(pending.iter().all(|entry| entry.index_name == "workspace"));
}

async fn completed_entries_are_gone_and_newer_ones_stay(db: Database) {
    let doc_id = ids(1);
    enqueue(&db, "web", doc_id.clone()).await;
    let seen = db.pending_outbox("web".to_owned(), 10).await.unwrap();
    // The document changes again while the index takes in what it saw.
    enqueue(&db, "web", doc_id.clone()).await;
    db.complete_outbox(seen.iter().map(|entry| entry.id).collect()).await.unwrap();
    let left = db.pending_outbox("web".to_owned(), 10).await.unwrap();
    assert_eq!(left.iter().map(|entry| entry.doc_id).collect::<Vec<_>>(), doc_id);
    assert!(left[0].id > seen[0].id);
    // At least once: a second completion of the same entries is no fault.
    db.complete_outbox(seen.iter().map(|entry| entry.id).collect()).await.unwrap();
    db.complete_outbox(vec![]).await.unwrap();
    assert_eq!(db.count_outbox("web".to_owned()).await.unwrap(), 1);
}

async fn bounds_are_those_of_one_index(db: Database) {
    assert_eq!(bounds(&db, "web").await, None);
    enqueue(&db, "web", ids(3)).await;
    enqueue(&db, "workspace", ids(1)).await;
    let pending = db.pending_outbox("web".to_owned(), 10).await.unwrap();
    assert_eq!(bounds(&db, "web").await, Some((pending[0].id, pending[2].id)));
    db.complete_outbox(vec![pending[0].id]).await.unwrap();
    assert_eq!(bounds(&db, "web").await, Some((pending[1].id, pending[2].id)));
    assert_eq!(db.count_outbox("web".to_owned()).await.unwrap(), 2);
    assert_eq!(db.count_outbox("workspace".to_owned()).await.unwrap(), 1);
}

async fn numbers_are_never_used_again(db: Database) {
    // Who waits for an entry to be worked off compares numbers: one that came back would deceive it.
    enqueue(&db, "web", ids(2)).await;
    let (_, newest) = bounds(&db, "web").await.unwrap();
    db.complete_outbox(vec![newest - 1, newest]).await.unwrap();
    assert_eq!(bounds(&db, "web").await, None);
    enqueue(&db, "web", ids(1)).await;
    assert!(bounds(&db, "web").await.unwrap().0 > newest);
}

async fn many_entries_are_queued_and_completed(db: Database) {
    // 75,000 values, and 25,000 numbers in one completion.
    let doc_ids = ids(25_000);
    enqueue(&db, "web", doc_ids.clone()).await;
    let pending = db.pending_outbox("web".to_owned(), 30_000).await.unwrap();
    assert!(pending.iter().map(|entry| entry.doc_id).eq(doc_ids));
    db.complete_outbox(pending.iter().map(|entry| entry.id).collect()).await.unwrap();
    assert_eq!(db.count("outbox").await, 0);
}
