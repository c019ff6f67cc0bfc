//! Storing documents with their content.

use docstore::{DocumentState, Grant, NewDocument, Saved, StoreError};
use model::{CaptureFormat, Collection, DocId, IndexName, OrganizationId, Timestamp};

use crate::support::{Database, NOW, at, documents_of, new_organization, page, workspace_document};

on_both_backends!(
    a_new_document_is_stored_whole_and_queued,
    the_same_content_again_moves_only_the_times,
    changed_content_replaces_capture_and_passages,
    a_changed_description_keeps_the_capture,
    a_value_that_is_gone_is_gone_in_the_store,
    of_a_document_that_comes_twice_the_last_counts,
    an_empty_batch_is_nothing,
    a_large_batch_queues_exactly_what_changed,
    more_rows_than_a_statement_binds_are_stored,
    a_removed_document_comes_back_when_it_is_read_again,
    content_read_before_the_removal_does_not_bring_a_document_back,
    a_removal_while_content_is_stored_holds,
    two_documents_at_one_address_conflict_and_nothing_is_stored,
    an_unlisted_page_is_stored_and_never_queued,
    a_listed_page_stays_listed,
    a_page_that_becomes_listed_is_queued,
    a_whole_page_replaces_a_snippet_of_the_same_text,
    validators_are_those_of_the_last_reading,
    a_confirmed_capture_is_as_new,
    a_capture_that_was_replaced_is_not_confirmed,
    staleness_is_said_by_those_who_were_granted_the_page,
);

async fn queued(db: &Database, index: IndexName) -> Vec<DocId> {
    documents_of(&db.pending_outbox(index, 100_000).await.unwrap())
}

/// Forgets what was queued so far.
async fn drain(db: &Database) {
    db.execute("DELETE FROM outbox").await;
}

fn read_at(mut new: NewDocument, time: Timestamp) -> NewDocument {
    new.document.first_seen_at = time;
    new.document.last_seen_at = time;
    new.document.last_crawled_at = Some(time);
    new.capture.captured_at = time;
    new
}

async fn save(db: &Database, new: NewDocument) -> Saved {
    db.save_documents(vec![new], NOW).await.unwrap()[0]
}

async fn a_new_document_is_stored_whole_and_queued(db: Database) {
    let organization_id = new_organization(&db).await;
    let web = page("https://example.com/", "a page of more than ten bytes");
    let own = workspace_document(organization_id, "a.md", "a file");
    let saved = db.save_documents(vec![web.clone(), own.clone()], NOW).await.unwrap();
    assert_eq!(saved, [Saved::Stored, Saved::Stored]);

    for (new, collection) in [(web, Collection::Web), (own, Collection::Workspace(organization_id))] {
        let loaded = db.load_documents(collection, vec![new.document.doc_id]).await.unwrap().remove(0);
        let mut expected = new.document.clone();
        expected.latest_capture_id = Some(new.capture.capture_id);
        assert_eq!(loaded.document, expected);
        assert_eq!(loaded.capture, new.capture);
        assert_eq!(loaded.passages, new.passages);
        assert_eq!(queued(&db, collection.index()).await, [new.document.doc_id]);
    }
}

async fn the_same_content_again_moves_only_the_times(db: Database) {
    let first = page("https://example.com/", "the same");
    save(&db, first.clone()).await;
    drain(&db).await;

    let again = read_at(page("https://example.com/", "the same"), at(5));
    assert_ne!(again.capture.capture_id, first.capture.capture_id);
    assert_eq!(save(&db, again).await, Saved::Unchanged);

    let loaded = db.load_documents(Collection::Web, vec![first.document.doc_id]).await.unwrap().remove(0);
    assert_eq!(loaded.document.first_seen_at, NOW);
    assert_eq!(loaded.document.last_seen_at, at(5));
    assert_eq!(loaded.document.last_crawled_at, Some(at(5)));
    assert_eq!(loaded.capture.captured_at, at(5));
    assert_eq!(loaded.capture.capture_id, first.capture.capture_id);
    let state =
        DocumentState { doc_id: first.document.doc_id, capture_id: first.capture.capture_id, last_seen_at: at(5) };
    assert_eq!(db.find_latest_states(Collection::Web, vec![first.document.doc_id]).await.unwrap(), [state]);
    let stranger = Collection::Workspace(OrganizationId(uuid::Uuid::from_u128(7)));
    assert!(db.find_latest_states(stranger, vec![first.document.doc_id]).await.unwrap().is_empty());
    assert_eq!(loaded.passages, first.passages);
    assert_eq!(db.count("captures").await, 1);
    assert_eq!(queued(&db, IndexName::Web).await, []);
}

async fn changed_content_replaces_capture_and_passages(db: Database) {
    let first = page("https://example.com/", "what it said at first, in four passages");
    let other = page("https://example.com/other", "another page, untouched");
    db.save_documents(vec![first.clone(), other.clone()], NOW).await.unwrap();
    drain(&db).await;

    let changed = read_at(page("https://example.com/", "what it says now"), at(5));
    assert_eq!(save(&db, changed.clone()).await, Saved::Stored);

    let loaded = db.load_documents(Collection::Web, vec![first.document.doc_id]).await.unwrap().remove(0);
    assert_eq!(loaded.capture, changed.capture);
    assert_eq!(loaded.passages, changed.passages);
    assert_eq!(loaded.document.latest_capture_id, Some(changed.capture.capture_id));
    assert_eq!(loaded.document.first_seen_at, NOW);
    assert_eq!(loaded.document.last_seen_at, at(5));
    assert_eq!(queued(&db, IndexName::Web).await, [first.document.doc_id]);
    // The old ones are gone, the neighbour's are not.
    assert_eq!(db.count("captures").await, 2);
    assert_eq!(db.count("passages").await, (changed.passages.len() + other.passages.len()) as i64);
}

async fn a_changed_description_keeps_the_capture(db: Database) {
    let first = page("https://example.com/", "the same");
    save(&db, first.clone()).await;
    drain(&db).await;

    let mut described = page("https://example.com/", "the same");
    described.document.description = Some("Said anew".to_owned());
    assert_eq!(save(&db, described).await, Saved::Described);

    let loaded = db.load_documents(Collection::Web, vec![first.document.doc_id]).await.unwrap().remove(0);
    assert_eq!(loaded.document.description.as_deref(), Some("Said anew"));
    assert_eq!(loaded.capture, first.capture);
    assert_eq!(loaded.passages, first.passages);
    assert_eq!(queued(&db, IndexName::Web).await, [first.document.doc_id]);
}

async fn a_value_that_is_gone_is_gone_in_the_store(db: Database) {
    let first = page("https://example.com/", "the same");
    save(&db, first.clone()).await;
    let mut poorer = page("https://example.com/", "the same");
    poorer.document.title = None;
    poorer.document.published_at = None;
    assert_eq!(save(&db, poorer).await, Saved::Described);
    let loaded = db.load_documents(Collection::Web, vec![first.document.doc_id]).await.unwrap().remove(0);
    assert_eq!((loaded.document.title, loaded.document.published_at), (None, None));
}

async fn of_a_document_that_comes_twice_the_last_counts(db: Database) {
    let earlier = page("https://example.com/", "what it said earlier");
    let between = page("https://example.com/between", "another");
    let last = page("https://example.com/", "what it said last");
    let batch = vec![earlier, between, last.clone()];
    let saved = db.save_documents(batch, NOW).await.unwrap();
    assert_eq!(saved, [Saved::Unchanged, Saved::Stored, Saved::Stored]);
    let loaded = db.load_documents(Collection::Web, vec![last.document.doc_id]).await.unwrap().remove(0);
    assert_eq!(loaded.capture, last.capture);
    assert_eq!(loaded.passages, last.passages);
    assert_eq!(db.count("captures").await, 2);
    assert_eq!(db.count("outbox").await, 2);
}

async fn an_empty_batch_is_nothing(db: Database) {
    assert_eq!(db.save_documents(vec![], NOW).await.unwrap(), []);
    assert!(db.load_documents(Collection::Web, vec![]).await.unwrap().is_empty());
    assert!(db.load_for_indexing(vec![]).await.unwrap().is_empty());
}

async fn a_large_batch_queues_exactly_what_changed(db: Database) {
    let organization_id = new_organization(&db).await;
    let batch = |changed: &dyn Fn(usize) -> bool| -> Vec<NewDocument> {
        let content = |n: usize| if changed(n) { format!("{n} anew") } else { format!("{n}") };
        let web = (0..500).map(|n| page(&format!("https://example.com/{n}"), &content(n)));
        let own = (0..300).map(|n| workspace_document(organization_id, &format!("{n}.md"), &content(n)));
        web.chain(own).collect()
    };
    let saved = db.save_documents(batch(&|_| false), NOW).await.unwrap();
    assert_eq!(saved, [Saved::Stored; 800]);
    assert_eq!((queued(&db, IndexName::Web).await.len(), queued(&db, IndexName::Workspace).await.len()), (500, 300));
    drain(&db).await;

    let third = |n: usize| n.is_multiple_of(3);
    let again = batch(&third);
    let saved = db.save_documents(again.clone(), at(1)).await.unwrap();
    let changed: Vec<DocId> = again
        .iter()
        .zip(&saved)
        .filter(|(_, saved)| **saved == Saved::Stored)
        .map(|(new, _)| new.document.doc_id)
        .collect();
    assert_eq!(changed.len(), 167 + 100);
    assert!(
        saved
            .iter()
            .enumerate()
            .all(|(n, saved)| (*saved == Saved::Stored) == third(if n < 500 { n } else { n - 500 }))
    );
    let mut entries = queued(&db, IndexName::Web).await;
    entries.extend(queued(&db, IndexName::Workspace).await);
    entries.sort_unstable();
    let mut expected = changed;
    expected.sort_unstable();
    assert_eq!(entries, expected);
    assert_eq!(db.count("captures").await, 800);
}

async fn more_rows_than_a_statement_binds_are_stored(db: Database) {
    // SQLite binds 32,766 values in a statement, PostgreSQL 65,535: 12,000 passages of nine columns and 4,000
    // documents of seventeen are beyond both.
    let long = page("https://example.com/long", &"0123456789".repeat(12_000));
    assert_eq!(save(&db, long.clone()).await, Saved::Stored);
    let loaded = db.load_documents(Collection::Web, vec![long.document.doc_id]).await.unwrap().remove(0);
    assert_eq!(loaded.passages.len(), 12_000);
    assert_eq!(loaded.passages, long.passages);

    let many: Vec<NewDocument> = (0..4_000).map(|n| page(&format!("https://example.com/{n}"), "short")).collect();
    let saved = db.save_documents(many, NOW).await.unwrap();
    assert_eq!(saved, vec![Saved::Stored; 4_000]);
    assert_eq!(db.count("documents").await, 4_001);
    assert_eq!(db.count_outbox(IndexName::Web).await.unwrap(), 4_001);
}

async fn a_removed_document_comes_back_when_it_is_read_again(db: Database) {
    let organization_id = new_organization(&db).await;
    let first = workspace_document(organization_id, "a.md", "the same");
    let doc_id = first.document.doc_id;
    save(&db, first.clone()).await;
    assert!(db.hide_workspace_document(organization_id, doc_id, at(1)).await.unwrap());
    drain(&db).await;

    let again = read_at(workspace_document(organization_id, "a.md", "the same"), at(2));
    assert_eq!(save(&db, again).await, Saved::Described);
    let found = db.find_document_by_url(organization_id, first.document.canonical_url).await.unwrap().unwrap();
    assert_eq!((found.first_seen_at, found.removed_at), (NOW, None));
    assert_eq!(queued(&db, IndexName::Workspace).await, [doc_id]);
}

async fn content_read_before_the_removal_does_not_bring_a_document_back(db: Database) {
    let organization_id = new_organization(&db).await;
    let first = workspace_document(organization_id, "a.md", "what it said");
    let doc_id = first.document.doc_id;
    save(&db, first).await;
    // A run read the object, its owner deletes the file, and only then the run stores what it read.
    let late = read_at(workspace_document(organization_id, "a.md", "what it says now"), at(1));
    assert!(db.hide_workspace_document(organization_id, doc_id, at(2)).await.unwrap());
    save(&db, late.clone()).await;
    assert!(db.find_document_by_url(organization_id, late.document.canonical_url).await.unwrap().is_none());
    assert!(db.load_for_indexing(vec![doc_id]).await.unwrap().is_empty());
}

async fn a_removal_while_content_is_stored_holds(db: Database) {
    let organization_id = new_organization(&db).await;
    for n in 0..40 {
        let name = format!("{n}.md");
        let first = workspace_document(organization_id, &name, "what it said");
        let doc_id = first.document.doc_id;
        save(&db, first.clone()).await;
        let late = read_at(workspace_document(organization_id, &name, "what it says now"), at(1));
        let (storing, removing) = (db.store.clone(), db.store.clone());
        let storing = tokio::spawn(async move { storing.save_documents(vec![late], at(3)).await.unwrap() });
        let removing = async move { removing.hide_workspace_document(organization_id, doc_id, at(2)).await };
        assert!(tokio::spawn(removing).await.unwrap().unwrap());
        storing.await.unwrap();
        assert!(db.find_document_by_url(organization_id, first.document.canonical_url).await.unwrap().is_none());
    }
}

async fn two_documents_at_one_address_conflict_and_nothing_is_stored(db: Database) {
    let first = page("https://example.com/", "one");
    let innocent = page("https://example.com/innocent", "another");
    let mut second = page("https://example.com/other-id", "two");
    second.document.canonical_url = first.document.canonical_url.clone();
    save(&db, first).await;
    let refused = db.save_documents(vec![innocent, second], NOW).await;
    assert!(matches!(refused, Err(StoreError::Conflict)), "{refused:?}");
    assert_eq!(db.count("documents").await, 1);
    assert_eq!(db.count("outbox").await, 1);
}

fn unlisted(mut new: NewDocument) -> NewDocument {
    new.document.listed = false;
    new
}

async fn indexable(db: &Database) -> Vec<DocId> {
    db.list_indexable_documents(IndexName::Web, None, 10).await.unwrap()
}

async fn an_unlisted_page_is_stored_and_never_queued(db: Database) {
    let new = unlisted(page("https://example.com/secret", "first"));
    let doc_id = new.document.doc_id;
    assert_eq!(save(&db, new.clone()).await, Saved::Stored);
    assert_eq!(save(&db, unlisted(page("https://example.com/secret", "second"))).await, Saved::Stored);
    assert_eq!(queued(&db, IndexName::Web).await, []);
    assert_eq!(indexable(&db).await, []);
    assert!(db.load_for_indexing(vec![doc_id]).await.unwrap().is_empty());
    let (document, capture) = db.find_web_page("https://example.com/secret".to_owned()).await.unwrap().unwrap();
    assert!(!document.listed);
    assert_eq!(capture.unwrap().content, "second");
}

async fn a_listed_page_stays_listed(db: Database) {
    let listed = page("https://example.com/", "first");
    save(&db, listed.clone()).await;
    drain(&db).await;
    assert_eq!(save(&db, unlisted(page("https://example.com/", "second"))).await, Saved::Stored);
    assert_eq!(queued(&db, IndexName::Web).await, [listed.document.doc_id]);
    assert_eq!(indexable(&db).await, [listed.document.doc_id]);
}

async fn a_page_that_becomes_listed_is_queued(db: Database) {
    let new = page("https://example.com/", "the same");
    save(&db, unlisted(new.clone())).await;
    assert_eq!(save(&db, new.clone()).await, Saved::Described);
    assert_eq!(queued(&db, IndexName::Web).await, [new.document.doc_id]);
    assert_eq!(db.load_for_indexing(vec![new.document.doc_id]).await.unwrap().len(), 1);
}

async fn a_whole_page_replaces_a_snippet_of_the_same_text(db: Database) {
    let mut snippet = page("https://example.com/", "the same");
    snippet.capture.format = CaptureFormat::Text;
    save(&db, snippet.clone()).await;
    let whole = page("https://example.com/", "the same");
    assert_eq!(save(&db, whole.clone()).await, Saved::Stored);
    let (_, capture) = db.find_web_page("https://example.com/".to_owned()).await.unwrap().unwrap();
    assert_eq!(capture, Some(whole.capture));
}

async fn validators_are_those_of_the_last_reading(db: Database) {
    let mut new = page("https://example.com/", "the same");
    new.capture.etag = Some("\"1\"".to_owned());
    new.capture.fetched_from = Some("https://example.com/".to_owned());
    save(&db, new.clone()).await;
    let mut again = read_at(page("https://example.com/", "the same"), at(5));
    again.capture.etag = Some("\"2\"".to_owned());
    again.capture.last_modified = Some("Sun, 06 Nov 1994 08:49:37 GMT".to_owned());
    save(&db, again.clone()).await;
    let capture = db.find_web_page("https://example.com/".to_owned()).await.unwrap().unwrap().1.unwrap();
    assert_eq!(capture.capture_id, new.capture.capture_id);
    assert_eq!((capture.etag, capture.last_modified), (again.capture.etag, again.capture.last_modified));
    assert_eq!(capture.fetched_from, None);
}

async fn a_confirmed_capture_is_as_new(db: Database) {
    let new = page("https://example.com/", "the same");
    save(&db, new.clone()).await;
    drain(&db).await;
    db.confirm_capture(new.document.doc_id, new.capture.capture_id, at(7)).await.unwrap();
    let (document, capture) = db.find_web_page("https://example.com/".to_owned()).await.unwrap().unwrap();
    assert_eq!((document.last_seen_at, document.last_crawled_at), (at(7), Some(at(7))));
    assert_eq!((document.first_seen_at, capture.unwrap().captured_at), (NOW, at(7)));
    assert_eq!(queued(&db, IndexName::Web).await, []);
}

async fn a_capture_that_was_replaced_is_not_confirmed(db: Database) {
    let old = page("https://example.com/", "old");
    save(&db, old.clone()).await;
    save(&db, page("https://example.com/", "new")).await;
    db.confirm_capture(old.document.doc_id, old.capture.capture_id, at(7)).await.unwrap();
    let (document, capture) = db.find_web_page("https://example.com/".to_owned()).await.unwrap().unwrap();
    assert_eq!((document.last_seen_at, capture.unwrap().captured_at), (NOW, NOW));
}

async fn staleness_is_said_by_those_who_were_granted_the_page(db: Database) {
    let (granted, stranger) = (new_organization(&db).await, new_organization(&db).await);
    let web = page("https://example.com/", "a page");
    let own = workspace_document(granted, "a.md", "a file");
    db.save_documents(vec![web.clone(), own.clone()], NOW).await.unwrap();
    for doc_id in [web.document.doc_id, own.document.doc_id] {
        let grant = Grant { organization_id: granted, doc_id, granted_at: NOW };
        db.grant_document(grant).await.unwrap();
    }
    let stale_at = async |doc_id: DocId| db.find_granted_document(granted, doc_id).await.unwrap().unwrap().stale_at;
    db.mark_stale(stranger, web.document.doc_id, at(1)).await.unwrap();
    assert_eq!(stale_at(web.document.doc_id).await, None);
    for new in [&web, &own] {
        db.mark_stale(granted, new.document.doc_id, at(2)).await.unwrap();
    }
    assert_eq!(stale_at(web.document.doc_id).await, Some(at(2)));
    assert_eq!(stale_at(own.document.doc_id).await, None);
    save(&db, page("https://example.com/", "read again")).await;
    assert_eq!(stale_at(web.document.doc_id).await, Some(at(2)), "when it was said stays known");
}
