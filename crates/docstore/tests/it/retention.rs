//! Retention of searches, feedback, grants and readings of pages.

use docstore::{Docstore, Feedback, Grant, NewPage, Search};
use model::{DocId, OrganizationId, Timestamp};
use uuid::Uuid;

use crate::support::{Database, NOW, Place, at, connect, new_feedback, new_organization, page, until_a_query_waits};

on_both_backends!(
    old_searches_and_feedback_are_pruned_in_batches,
    renewed_grant_is_kept,
    unused_page_is_deleted_with_its_last_reader,
    page_that_is_read_meanwhile_is_kept,
);

const DAY: i64 = 86_400_000;

fn search(organization_id: OrganizationId, created_at: Timestamp) -> Search {
    Search {
        search_id: Uuid::new_v4().into(),
        organization_id,
        identity: String::new(),
        session_id: Uuid::new_v4().into(),
        query: String::new(),
        results: Vec::new(),
        created_at,
        request: None,
        details: None,
    }
}

async fn old_searches_and_feedback_are_pruned_in_batches(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    for number in 0..6 {
        let organization_id = if number % 2 == 0 { ours } else { theirs };
        db.record_searches(vec![search(organization_id, at(number))], vec![]).await.unwrap();
        let event = Feedback { created_at: at(number), ..new_feedback(organization_id) };
        db.record_feedback(event, None).await.unwrap();
    }
    for expected in [3, 2, 0] {
        assert_eq!(db.prune_searches(at(5), 3).await.unwrap(), expected);
        assert_eq!(db.prune_feedback(at(5), 3).await.unwrap(), expected);
    }
    assert_eq!((db.count("searches").await, db.count("feedback").await), (1, 1));
    assert_eq!(db.number("min(created_at)", "searches").await, at(5).as_millis());
}

async fn grant(db: &Docstore, organization_id: OrganizationId, doc_id: DocId, granted_at: Timestamp) {
    db.grant_document(Grant { organization_id, doc_id, granted_at, capture_id: None }).await.unwrap();
}

async fn renewed_grant_is_kept(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let pages = ["used", "unused"].map(|name| page(&format!("https://example.com/{name}"), "a page"));
    let [used, unused] = [pages[0].document.doc_id, pages[1].document.doc_id];
    db.save_documents(pages.to_vec(), NOW).await.unwrap();
    for organization_id in [ours, theirs] {
        for doc_id in [used, unused] {
            grant(&db, organization_id, doc_id, NOW).await;
        }
    }
    let granted_at = async |organization_id| {
        db.read_document(organization_id, used).await.unwrap().map(|(visible, _)| visible).unwrap().granted_at
    };
    grant(&db, ours, used, at(DAY)).await;
    assert_eq!(granted_at(ours).await, Some(NOW), "a renewal per day is enough");
    let searched = Grant { organization_id: ours, doc_id: used, granted_at: at(DAY + 1), capture_id: None };
    db.record_searches(vec![search(ours, at(DAY + 1))], vec![searched]).await.unwrap();
    assert_eq!(granted_at(ours).await, Some(at(DAY + 1)));
    assert_eq!(granted_at(theirs).await, Some(NOW));
    for expected in [2, 1, 0] {
        assert_eq!(db.prune_grants(at(1), 2).await.unwrap(), expected);
    }
    assert!(db.is_granted(ours, used).await.unwrap());
    assert_eq!(db.count("grants").await, 1);
    assert_eq!(db.count("documents").await, 2, "listed pages stay");
}

async fn unused_page_is_deleted_with_its_last_reader(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let canonical_url = "https://example.com/secret".to_owned();
    let doc_id = page(&canonical_url, "").document.doc_id;
    for (organization_id, seen) in [(ours, NOW), (theirs, at(10))] {
        let source_url = canonical_url.clone();
        let new = NewPage { organization_id, doc_id, canonical_url: canonical_url.clone(), source_url };
        db.register_page(new, seen).await.unwrap();
    }
    assert_eq!(db.prune_page_reads(at(5), 10).await.unwrap(), 0, "it is still granted");
    db.prune_grants(at(5), 10).await.unwrap();
    assert_eq!(db.prune_page_reads(at(5), 10).await.unwrap(), 1);
    assert_eq!((db.count("page_reads").await, db.count("documents").await), (1, 1));
    assert!(db.find_granted_document(theirs, doc_id).await.unwrap().is_some());
    db.prune_grants(at(50), 10).await.unwrap();
    assert_eq!(db.prune_page_reads(at(50), 10).await.unwrap(), 1);
    assert_eq!((db.count("page_reads").await, db.count("documents").await), (0, 0));
}

async fn page_that_is_read_meanwhile_is_kept(db: Database) {
    let Place::Postgres(url) = &db.place else { return };
    let ours = new_organization(&db).await;
    let pages = ["read", "granted", "unused"].map(|name| {
        let canonical_url = format!("https://example.com/{name}");
        let doc_id = page(&canonical_url, "").document.doc_id;
        NewPage { organization_id: ours, doc_id, source_url: canonical_url.clone(), canonical_url }
    });
    let [read, granted, _] = pages.each_ref().map(|new| new.doc_id);
    for new in pages {
        db.register_page(new, NOW).await.unwrap();
    }
    db.prune_grants(at(5), 10).await.unwrap();
    let (reader, observer) = (connect(url).await, connect(url).await);
    reader
        .batch_execute(&format!(
            "BEGIN;
             UPDATE documents SET title = title;
             UPDATE page_reads SET last_seen_at = {} WHERE doc_id = '{read}';
             INSERT INTO grants (organization_id, doc_id, granted_at) VALUES ('{ours}', '{granted}', 0)",
            at(10).as_millis()
        ))
        .await
        .unwrap();
    let store = db.store.clone();
    let pruning = tokio::spawn(async move { store.prune_page_reads(at(5), 10).await.unwrap() });
    until_a_query_waits(&observer).await;
    reader.batch_execute("COMMIT").await.unwrap();
    assert_eq!(pruning.await.unwrap(), 1);
    assert_eq!((db.count("page_reads").await, db.count("documents").await, db.count("grants").await), (2, 2, 1));
}
