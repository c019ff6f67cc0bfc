//! Searches and grants.

use docstore::{Grant, Place, ResultDetails, Search, SearchDetails};
use model::{DocId, IndexName, OrganizationId, Timestamp};
use uuid::Uuid;

use crate::support::{Database, NOW, at, new_organization, page};

on_both_backends!(
    searches_are_isolated_by_organization,
    search_keeps_its_request_and_details,
    searches_grant_their_results,
    repeated_search_adds_and_renews_what_is_due,
    search_is_recorded_once,
    deleted_document_does_not_fail_search,
    large_batch_of_searches_is_stored,
    nul_is_stripped_from_queries,
);

fn search(organization_id: OrganizationId, results: &[DocId]) -> Search {
    Search {
        search_id: Uuid::new_v4().into(),
        organization_id,
        identity: "key:1".to_owned(),
        session_id: Uuid::new_v4().into(),
        query: "what's \"quoted\", 日本語, 🦀?".to_owned(),
        results: results.to_vec(),
        created_at: NOW,
        request: None,
        details: None,
    }
}

fn grant(organization_id: OrganizationId, doc_id: DocId) -> Grant {
    Grant { organization_id, doc_id, granted_at: NOW, capture_id: None }
}

async fn pages(db: &Database, count: usize) -> Vec<DocId> {
    let batch: Vec<_> = (0..count).map(|n| page(&format!("https://example.com/{n}"), "a page")).collect();
    let ids = batch.iter().map(|new| new.document.doc_id).collect();
    db.save_documents(batch, NOW).await.unwrap();
    ids
}

async fn searches_are_isolated_by_organization(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let stored = search(ours, &[Uuid::new_v4().into(), Uuid::new_v4().into()]);
    db.record_searches(vec![stored.clone()], vec![]).await.unwrap();
    let found = db.find_search(ours, stored.search_id).await.unwrap().unwrap();
    assert_eq!((found.query, found.results, found.session_id), (stored.query, stored.results, stored.session_id));
    assert!(db.find_search(theirs, stored.search_id).await.unwrap().is_none());
    assert!(db.find_search(ours, Uuid::new_v4().into()).await.unwrap().is_none());
}

async fn search_keeps_its_request_and_details(db: Database) {
    let ours = new_organization(&db).await;
    let place = |rank, score| Place { rank, score };
    let results =
        [(IndexName::Web, Some(place(1, 0.9))), (IndexName::Workspace, None)].map(|(index, model)| ResultDetails {
            capture_id: Uuid::new_v4().into(),
            index,
            score: 0.1 + 0.2,
            first_stage: place(7, 1e300),
            lexical: Some(place(2, 0.0)),
            semantic: model,
            model,
            preferred: model.is_none(),
        });
    let details = SearchDetails {
        ranker_version: "model \"7\"".to_owned(),
        generations: IndexName::ALL.iter().map(|index| (*index, Uuid::new_v4().into())).collect(),
        degraded: true,
        results: results.to_vec(),
    };
    let request = Some("{\"query\":\"\\u0000\"}".to_owned());
    let row = Search { request, details: Some(details), ..search(ours, &[]) };
    let mut endless = row.clone();
    endless.search_id = Uuid::new_v4().into();
    endless.details.as_mut().unwrap().results[0].score = f64::INFINITY;
    db.record_searches(vec![row.clone(), endless.clone()], vec![]).await.unwrap();
    let found = db.find_search(ours, row.search_id).await.unwrap().unwrap();
    assert_eq!((found.request, found.details), (row.request, row.details));
    let found = db.find_search(ours, endless.search_id).await.unwrap().unwrap();
    assert_eq!(found.details.unwrap().results[0].score, 0.0, "JSON has no infinite numbers");
}

async fn searches_grant_their_results(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let ids = pages(&db, 3).await;
    let rows = vec![search(ours, &ids[..2]), search(theirs, &ids[1..])];
    // A duplicate grant in one batch, and again in the next.
    let granted = vec![grant(ours, ids[0]), grant(ours, ids[1]), grant(ours, ids[0]), grant(theirs, ids[2])];
    db.record_searches(rows, granted.clone()).await.unwrap();
    db.record_searches(vec![search(ours, &ids)], granted).await.unwrap();
    for (organization_id, expected) in [(ours, [true, true, false]), (theirs, [false, false, true])] {
        for (doc_id, expected) in ids.iter().zip(expected) {
            assert_eq!(db.is_granted(organization_id, *doc_id).await.unwrap(), expected);
        }
    }
    assert_eq!((db.count("searches").await, db.count("grants").await), (3, 3));
}

async fn repeated_search_adds_and_renews_what_is_due(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let ids = pages(&db, 4).await;
    let [old, recent, missing, unnamed] = [ids[0], ids[1], ids[2], ids[3]];
    let deleted = Uuid::new_v4().into();
    let later = at(2 * docstore::DAY);
    let granted_at = |doc_id, granted_at| Grant { granted_at, ..grant(ours, doc_id) };
    let first = vec![granted_at(old, NOW), granted_at(recent, at(docstore::DAY)), granted_at(unnamed, later)];
    db.record_searches(vec![], first).await.unwrap();
    db.grant_document(grant(theirs, old)).await.unwrap();
    let shown = Grant { capture_id: Some(Uuid::new_v4().into()), ..granted_at(unnamed, later) };
    let again = vec![
        granted_at(old, later),
        granted_at(recent, later),
        granted_at(missing, later),
        granted_at(deleted, later),
        shown,
    ];
    for _ in 0..2 {
        db.record_searches(vec![], again.clone()).await.unwrap();
        assert_eq!((db.count("grants").await, db.count("grants WHERE capture_id IS NOT NULL").await), (5, 1));
        let at_time =
            async |time: Timestamp| db.count(&format!("grants WHERE granted_at = {}", time.as_millis())).await;
        assert_eq!(at_time(later).await, 3, "renewed, added, and named");
        assert_eq!(at_time(at(docstore::DAY)).await, 1, "a renewal per day is enough");
        assert_eq!(at_time(NOW).await, 1, "the grant of another organization");
    }
    assert!(!db.is_granted(ours, deleted).await.unwrap());
}

async fn search_is_recorded_once(db: Database) {
    let ours = new_organization(&db).await;
    let ids = pages(&db, 2).await;
    let first = search(ours, &ids[..1]);
    db.record_searches(vec![first.clone()], vec![]).await.unwrap();
    // As after a failure to grant the results.
    let second = search(ours, &ids[1..]);
    let granted = vec![grant(ours, ids[0]), grant(ours, ids[1])];
    db.record_searches(vec![first.clone(), second.clone()], granted).await.unwrap();
    assert_eq!((db.count("searches").await, db.count("grants").await), (2, 2));
    assert!(db.find_search(ours, second.search_id).await.unwrap().is_some());
}

async fn deleted_document_does_not_fail_search(db: Database) {
    let ours = new_organization(&db).await;
    let kept = pages(&db, 1).await[0];
    let purged = Uuid::new_v4().into();
    let stored = search(ours, &[purged, kept]);
    db.record_searches(vec![stored.clone()], vec![grant(ours, purged), grant(ours, kept)]).await.unwrap();
    assert!(db.find_search(ours, stored.search_id).await.unwrap().is_some());
    assert!(db.is_granted(ours, kept).await.unwrap());
    db.grant_document(grant(ours, purged)).await.unwrap();
    assert!(!db.is_granted(ours, purged).await.unwrap());
}

async fn large_batch_of_searches_is_stored(db: Database) {
    let ours = new_organization(&db).await;
    let ids = pages(&db, 100).await;
    // 70,000 values in searches and 75,000 in grants, beyond the bind limit of both backends.
    let rows = vec![(); 10_000].into_iter().map(|()| search(ours, &[])).collect();
    let granted = (0..25_000).map(|n| grant(ours, ids[n % ids.len()])).collect();
    db.record_searches(rows, granted).await.unwrap();
    assert_eq!((db.count("searches").await, db.count("grants").await), (10_000, 100));
    db.record_searches(vec![], vec![]).await.unwrap();
}

async fn nul_is_stripped_from_queries(db: Database) {
    let ours = new_organization(&db).await;
    let (mut odd, plain) = (search(ours, &[]), search(ours, &[]));
    odd.query = "a\0b".to_owned();
    // A NUL from one caller must not fail the whole batch.
    db.record_searches(vec![odd.clone(), plain.clone()], vec![]).await.unwrap();
    assert!(db.find_search(ours, plain.search_id).await.unwrap().is_some());
    assert_eq!(db.find_search(ours, odd.search_id).await.unwrap().unwrap().query, "ab");
}
