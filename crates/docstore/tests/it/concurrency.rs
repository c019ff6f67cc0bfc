//! Concurrent operations and dropped futures.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use docstore::{Docstore, Grant, NewDocument, Search, StoreError};
use model::{Collection, DocId, OrganizationId};
use uuid::Uuid;

use crate::balances::entry;
use crate::support::{Database, NOW, Place, at, connect, new_organization, page, until_a_query_waits};

on_both_backends!(
    concurrent_writers_of_one_store_serialize,
    concurrent_writers_of_two_stores_serialize,
    concurrent_saves_leave_one_capture,
    concurrent_inserts_in_any_order_succeed,
    concurrent_grants_in_any_order_succeed,
    readers_see_consistent_snapshots,
    dropped_future_does_not_abort_transaction,
    dropped_future_on_other_runtime_does_not_abort,
    callers_beyond_pool_size_are_served,
    deadlock_is_transient,
    statement_timeout_is_transient,
);

/// Runs eight writers, alternating between the stores, that save (read, then write) twenty times each.
async fn write_concurrently(db: &Database, stores: [Docstore; 2]) {
    let organization_id = new_organization(db).await;
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let store = stores[writer % 2].clone();
            tokio::spawn(async move {
                for round in 0..20 {
                    let new = page(&format!("https://example.com/{writer}"), &format!("round {round}"));
                    store.save_documents(vec![new], at(round)).await.unwrap();
                    store.post_balance_entry(entry(organization_id, 1)).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(db.find_balance(organization_id).await.unwrap(), Some(160));
    assert_eq!((db.count("documents").await, db.count("captures").await), (8, 8));
    assert_eq!(db.count("captures WHERE content = 'round 19'").await, 8);
    assert_eq!(db.count("outbox").await, 160);
}

async fn concurrent_writers_of_one_store_serialize(db: Database) {
    write_concurrently(&db, [db.store.clone(), db.store.clone()]).await;
}

async fn concurrent_writers_of_two_stores_serialize(db: Database) {
    write_concurrently(&db, [db.store.clone(), db.another_store()]).await;
}

async fn concurrent_saves_leave_one_capture(db: Database) {
    const URLS: usize = 10;
    let urls: Vec<String> = (0..URLS).map(|n| format!("https://example.com/{n}")).collect();
    db.save_documents(urls.iter().map(|url| page(url, "at first")).collect(), NOW).await.unwrap();
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let (store, urls) = (db.store.clone(), urls.clone());
            tokio::spawn(async move {
                for round in 0..10 {
                    // Equal content in even rounds, different content in odd ones, each writer in its own order.
                    let content =
                        if round % 2 == 0 { format!("round {round}") } else { format!("round {round} of {writer}") };
                    let mut batch: Vec<NewDocument> = urls.iter().map(|url| page(url, &content)).collect();
                    batch.rotate_left(writer);
                    if writer % 2 == 0 {
                        batch.reverse();
                    }
                    store.save_documents(batch, NOW).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(db.count("captures").await, URLS as i64);
    assert_eq!(db.count("captures JOIN documents ON capture_id = latest_capture_id").await, URLS as i64);
    // "round 9 of N" is two passages.
    assert_eq!(db.count("passages").await, 2 * URLS as i64);
}

async fn concurrent_inserts_in_any_order_succeed(db: Database) {
    for round in 0..10 {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let store = db.store.clone();
                tokio::spawn(async move {
                    let url = |n| format!("https://example.com/{round}/{n}");
                    let mut batch: Vec<NewDocument> = (0..10).map(|n| page(&url(n), "new to all")).collect();
                    batch.rotate_left(3 * writer);
                    if writer % 2 == 0 {
                        batch.reverse();
                    }
                    store.save_documents(batch, NOW).await.unwrap()
                })
            })
            .collect();
        let mut stored = 0;
        for writer in writers {
            stored += writer.await.unwrap().iter().filter(|saved| **saved == docstore::SaveOutcome::Stored).count();
        }
        assert_eq!(stored, 10);
    }
    assert_eq!((db.count("documents").await, db.count("captures").await, db.count("outbox").await), (100, 100, 100));
}

async fn concurrent_grants_in_any_order_succeed(db: Database) {
    let organization_id = new_organization(&db).await;
    for round in 0..10 {
        let batch: Vec<_> = (0..20).map(|n| page(&format!("https://example.com/{round}/{n}"), "a page")).collect();
        let ids: Vec<DocId> = batch.iter().map(|new| new.document.doc_id).collect();
        db.save_documents(batch, NOW).await.unwrap();
        let recorders: Vec<_> = (0..6)
            .map(|recorder| {
                let (store, mut ids) = (db.store.clone(), ids.clone());
                ids.rotate_left(3 * recorder);
                if recorder % 2 == 0 {
                    ids.reverse();
                }
                let search = Search {
                    search_id: Uuid::new_v4().into(),
                    organization_id,
                    identity: "key".to_owned(),
                    session_id: Uuid::new_v4().into(),
                    query: "a question".to_owned(),
                    results: Vec::new(),
                    created_at: NOW,
                    request: None,
                    details: None,
                };
                let grant = |doc_id| Grant { organization_id, doc_id, granted_at: NOW, capture_id: None };
                let granted = ids.into_iter().map(grant).collect();
                tokio::spawn(async move { store.record_searches(vec![search], granted).await.unwrap() })
            })
            .collect();
        for recorder in recorders {
            recorder.await.unwrap();
        }
    }
    assert_eq!((db.count("searches").await, db.count("grants").await), (60, 200));
}

async fn readers_see_consistent_snapshots(db: Database) {
    let organization_id = new_organization(&db).await;
    let version = |n: usize| page("https://example.com/", &format!("version {n:04} in several passages"));
    let first = version(0);
    let doc_id = first.document.doc_id;
    db.save_documents(vec![first], NOW).await.unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..4)
        .map(|reader| {
            let (store, done) = (db.store.clone(), done.clone());
            tokio::spawn(async move {
                while !done.load(Ordering::Relaxed) {
                    let (capture, passages) = if reader % 2 == 0 {
                        let stored = store
                            .read_document(organization_id, doc_id)
                            .await
                            .unwrap()
                            .and_then(|(_, stored)| stored)
                            .unwrap();
                        (stored.capture, stored.passages)
                    } else {
                        let loaded = store.load_documents(Collection::Web, vec![doc_id]).await.unwrap().remove(0);
                        assert_eq!(loaded.document.latest_capture_id, Some(loaded.capture.capture_id));
                        (loaded.capture, loaded.passages)
                    };
                    let text: String = passages
                        .iter()
                        .map(|one| &capture.content[one.byte_start as usize..one.byte_end as usize])
                        .collect();
                    assert_eq!(text, capture.content);
                }
            })
        })
        .collect();
    for n in 1..150 {
        db.save_documents(vec![version(n)], NOW).await.unwrap();
    }
    done.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.await.unwrap();
    }
}

/// Cancels saves after increasing delays, then checks that every started batch was completed.
async fn cancel_and_check(db: &Database, cancelled_save: impl AsyncFn(Duration, usize)) {
    for n in 0..40 {
        cancelled_save(Duration::from_micros(150 * n as u64), n).await;
    }
    // The writer is free, so no transaction is left open.
    let last =
        tokio::time::timeout(Duration::from_secs(20), db.save_documents(vec![page("https://last/", "end")], NOW));
    last.await.expect("a transaction was left open").unwrap();
    // Started batches of 50 documents are completed in the background.
    let mut before = -1;
    let mut documents = db.count("documents").await;
    while documents != before {
        tokio::time::sleep(Duration::from_millis(300)).await;
        (before, documents) = (documents, db.count("documents").await);
    }
    assert_eq!(documents % 50, 1);
    assert_eq!(db.count("captures").await, documents);
    assert_eq!(db.count("outbox").await, documents);
    if let Place::Postgres(_) = &db.place {
        let open = "pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
        assert_eq!(db.count(open).await, 0);
    }
}

fn batch(n: usize) -> Vec<NewDocument> {
    (0..50).map(|document| page(&format!("https://example.com/{n}/{document}"), "a page")).collect()
}

async fn dropped_future_does_not_abort_transaction(db: Database) {
    cancel_and_check(&db, async |after, n| {
        let _ = tokio::time::timeout(after, db.save_documents(batch(n), NOW)).await;
    })
    .await;
}

async fn dropped_future_on_other_runtime_does_not_abort(db: Database) {
    // HTTP workers have one current-thread runtime each.
    cancel_and_check(&db, async |after, n| {
        let store = db.store.clone();
        let worker = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let _ = tokio::time::timeout(after, store.save_documents(batch(n), NOW)).await;
                let _ = tokio::time::timeout(after, store.list_organizations()).await;
            });
        });
        tokio::task::spawn_blocking(move || worker.join().unwrap()).await.unwrap();
    })
    .await;
}

async fn callers_beyond_pool_size_are_served(db: Database) {
    let organization_id = new_organization(&db).await;
    let callers: Vec<_> = (0..200)
        .map(|n| {
            let store = db.store.clone();
            tokio::spawn(async move {
                if n % 10 == 0 {
                    store.post_balance_entry(entry(organization_id, 1)).await.unwrap();
                } else {
                    assert!(store.find_organization(organization_id).await.unwrap().is_some());
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    assert_eq!(db.find_balance(organization_id).await.unwrap(), Some(20));
}

async fn deadlock_is_transient(db: Database) {
    let Place::Postgres(url) = &db.place else { return };
    let mut ids = [new_organization(&db).await, new_organization(&db).await];
    ids.sort_unstable();
    let entries = ids.map(|id| entry(id, 1)).to_vec();
    db.post_balance_entries(entries).await.unwrap();
    let (other, observer) = (connect(url).await, connect(url).await);
    // It never looks for deadlocks itself.
    let change = |id: OrganizationId| format!("UPDATE balances SET cents = 5 WHERE organization_id = '{id}'");
    other.batch_execute(&format!("SET deadlock_timeout = '1h'; BEGIN; {}", change(ids[1]))).await.unwrap();
    // Debits create no balances: they wait only where they lock.
    let (store, entries) = (db.store.clone(), ids.map(|id| entry(id, -1)).to_vec());
    let posting = tokio::spawn(async move { store.post_balance_entries(entries).await });
    until_a_query_waits(&observer).await;
    other.batch_execute(&format!("{}; COMMIT", change(ids[0]))).await.unwrap();
    let aborted = posting.await.unwrap();
    assert!(matches!(aborted, Err(StoreError::Aborted(_))), "{aborted:?}");
    assert_eq!(db.find_balance(ids[0]).await.unwrap(), Some(5));
    assert_eq!(db.post_balance_entries(ids.map(|id| entry(id, 1)).to_vec()).await.unwrap(), [Some(6), Some(6)]);
}

async fn statement_timeout_is_transient(db: Database) {
    let Place::Postgres(url) = &db.place else { return };
    let organization_id = new_organization(&db).await;
    db.post_balance_entry(entry(organization_id, 5)).await.unwrap();
    // The first statement of a deposit shortens the timeout of those behind it.
    db.execute(
        "CREATE FUNCTION shorten_timeout() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN PERFORM set_config('statement_timeout', '200ms', true); RETURN NULL; END $$;
         CREATE TRIGGER shorten_timeout BEFORE INSERT ON balances
             FOR EACH STATEMENT EXECUTE FUNCTION shorten_timeout()",
    )
    .await;
    let other = connect(url).await;
    other.batch_execute("BEGIN; SELECT cents FROM balances FOR UPDATE").await.unwrap();
    let aborted = db.post_balance_entry(entry(organization_id, 1)).await;
    assert!(matches!(aborted, Err(StoreError::Aborted(_))), "{aborted:?}");
    other.batch_execute("ROLLBACK").await.unwrap();
    db.execute("DROP TRIGGER shorten_timeout ON balances").await;
    assert_eq!(db.post_balance_entry(entry(organization_id, 1)).await.unwrap(), Some(6));
}
