//! Saving documents with their content.

use docstore::{Capture, DocumentState, NewDocument, SaveOutcome, StoreError};
use model::{CaptureFormat, Collection, DocId, IndexName, OrganizationId, Timestamp};

use crate::support::{Database, NOW, at, documents_in, new_organization, page, workspace_document};

on_both_backends!(
    new_document_is_stored_and_queued,
    same_content_updates_only_times,
    changed_content_replaces_capture,
    changed_metadata_keeps_capture,
    removed_metadata_is_cleared,
    last_duplicate_in_batch_wins,
    empty_batch_is_accepted,
    large_batch_queues_only_changes,
    rows_beyond_bind_limit_are_stored,
    every_document_of_a_large_batch_is_updated,
    rereading_restores_removed_document,
    content_read_before_removal_does_not_restore,
    removal_wins_over_concurrent_save,
    duplicate_url_conflicts_and_rolls_back,
    crawl_time_is_kept_without_a_new_one,
    listed_page_stays_listed,
    whole_page_replaces_snippet_with_same_text,
    validators_are_updated_on_rereading,
);

async fn queued(db: &Database, index: IndexName) -> Vec<DocId> {
    documents_in(&db.pending_outbox(index, 100_000).await.unwrap().entries)
}

/// Empties the outbox.
async fn clear_outbox(db: &Database) {
    db.execute("DELETE FROM outbox").await;
}

fn read_at(mut new: NewDocument, time: Timestamp) -> NewDocument {
    new.document.first_seen_at = time;
    new.document.last_seen_at = time;
    new.document.last_crawled_at = Some(time);
    new.capture.captured_at = time;
    new
}

async fn save(db: &Database, new: NewDocument) -> SaveOutcome {
    db.save_documents(vec![new], NOW).await.unwrap()[0]
}

async fn new_document_is_stored_and_queued(db: Database) {
    let organization_id = new_organization(&db).await;
    let web = page("https://example.com/", "a page of more than ten bytes");
    let own = workspace_document(organization_id, "a.md", "a file");
    let saved = db.save_documents(vec![web.clone(), own.clone()], NOW).await.unwrap();
    assert_eq!(saved, [SaveOutcome::Stored, SaveOutcome::Stored]);

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

async fn same_content_updates_only_times(db: Database) {
    let first = page("https://example.com/", "the same");
    save(&db, first.clone()).await;
    clear_outbox(&db).await;

    let again = read_at(page("https://example.com/", "the same"), at(5));
    assert_ne!(again.capture.capture_id, first.capture.capture_id);
    assert_eq!(save(&db, again).await, SaveOutcome::Unchanged);

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

async fn changed_content_replaces_capture(db: Database) {
    let first = page("https://example.com/", "the first version, in four passages");
    let other = page("https://example.com/other", "another page, untouched");
    db.save_documents(vec![first.clone(), other.clone()], NOW).await.unwrap();
    clear_outbox(&db).await;

    let changed = read_at(page("https://example.com/", "the new version"), at(5));
    assert_eq!(save(&db, changed.clone()).await, SaveOutcome::Stored);

    let loaded = db.load_documents(Collection::Web, vec![first.document.doc_id]).await.unwrap().remove(0);
    assert_eq!(loaded.capture, changed.capture);
    assert_eq!(loaded.passages, changed.passages);
    assert_eq!(loaded.document.latest_capture_id, Some(changed.capture.capture_id));
    let pages = [&first, &other].map(|new| (new.document.doc_id, new.capture.capture_id));
    let unchanged = db.load_known_documents(Collection::Web, pages.to_vec()).await.unwrap();
    assert_eq!(unchanged.iter().map(|one| one.document.doc_id).collect::<Vec<_>>(), [other.document.doc_id]);
    assert_eq!(loaded.document.first_seen_at, NOW);
    assert_eq!(loaded.document.last_seen_at, at(5));
    assert_eq!(queued(&db, IndexName::Web).await, [first.document.doc_id]);
    // The old rows are deleted; those of the other document remain.
    assert_eq!(db.count("captures").await, 2);
    assert_eq!(db.count("passages").await, (changed.passages.len() + other.passages.len()) as i64);
}

async fn changed_metadata_keeps_capture(db: Database) {
    let first = page("https://example.com/", "the same");
    save(&db, first.clone()).await;
    clear_outbox(&db).await;

    let mut described = page("https://example.com/", "the same");
    described.document.description = Some("Said anew".to_owned());
    assert_eq!(save(&db, described).await, SaveOutcome::MetadataChanged);

    let loaded = db.load_documents(Collection::Web, vec![first.document.doc_id]).await.unwrap().remove(0);
    assert_eq!(loaded.document.description.as_deref(), Some("Said anew"));
    assert_eq!(loaded.capture, first.capture);
    assert_eq!(loaded.passages, first.passages);
    assert_eq!(queued(&db, IndexName::Web).await, [first.document.doc_id]);
}

async fn removed_metadata_is_cleared(db: Database) {
    let first = page("https://example.com/", "the same");
    save(&db, first.clone()).await;
    let mut poorer = page("https://example.com/", "the same");
    poorer.document.title = None;
    poorer.document.published_at = None;
    assert_eq!(save(&db, poorer).await, SaveOutcome::MetadataChanged);
    let loaded = db.load_documents(Collection::Web, vec![first.document.doc_id]).await.unwrap().remove(0);
    assert_eq!((loaded.document.title, loaded.document.published_at), (None, None));
}

async fn last_duplicate_in_batch_wins(db: Database) {
    let earlier = page("https://example.com/", "the earlier version");
    let between = page("https://example.com/between", "another");
    let last = page("https://example.com/", "the last version");
    let batch = vec![earlier, between, last.clone()];
    let saved = db.save_documents(batch, NOW).await.unwrap();
    assert_eq!(saved, [SaveOutcome::Unchanged, SaveOutcome::Stored, SaveOutcome::Stored]);
    let loaded = db.load_documents(Collection::Web, vec![last.document.doc_id]).await.unwrap().remove(0);
    assert_eq!(loaded.capture, last.capture);
    assert_eq!(loaded.passages, last.passages);
    assert_eq!(db.count("captures").await, 2);
    assert_eq!(db.count("outbox").await, 2);
}

async fn empty_batch_is_accepted(db: Database) {
    assert_eq!(db.save_documents(vec![], NOW).await.unwrap(), []);
    assert!(db.load_documents(Collection::Web, vec![]).await.unwrap().is_empty());
    assert!(db.load_for_indexing(vec![]).await.unwrap().is_empty());
}

async fn large_batch_queues_only_changes(db: Database) {
    let organization_id = new_organization(&db).await;
    let batch = |changed: &dyn Fn(usize) -> bool| -> Vec<NewDocument> {
        let content = |n: usize| if changed(n) { format!("{n} anew") } else { format!("{n}") };
        let web = (0..500).map(|n| page(&format!("https://example.com/{n}"), &content(n)));
        let own = (0..300).map(|n| workspace_document(organization_id, &format!("{n}.md"), &content(n)));
        web.chain(own).collect()
    };
    let saved = db.save_documents(batch(&|_| false), NOW).await.unwrap();
    assert_eq!(saved, [SaveOutcome::Stored; 800]);
    assert_eq!((queued(&db, IndexName::Web).await.len(), queued(&db, IndexName::Workspace).await.len()), (500, 300));
    clear_outbox(&db).await;

    let third = |n: usize| n.is_multiple_of(3);
    let again = batch(&third);
    let saved = db.save_documents(again.clone(), at(1)).await.unwrap();
    let changed: Vec<DocId> = again
        .iter()
        .zip(&saved)
        .filter(|(_, saved)| **saved == SaveOutcome::Stored)
        .map(|(new, _)| new.document.doc_id)
        .collect();
    assert_eq!(changed.len(), 167 + 100);
    assert!(
        saved
            .iter()
            .enumerate()
            .all(|(n, saved)| (*saved == SaveOutcome::Stored) == third(if n < 500 { n } else { n - 500 }))
    );
    let mut entries = queued(&db, IndexName::Web).await;
    entries.extend(queued(&db, IndexName::Workspace).await);
    entries.sort_unstable();
    let mut expected = changed;
    expected.sort_unstable();
    assert_eq!(entries, expected);
    assert_eq!(db.count("captures").await, 800);
}

async fn rows_beyond_bind_limit_are_stored(db: Database) {
    // SQLite binds 32,766 values in a statement, PostgreSQL 65,535: 12,000 passages of nine columns and 4,000
    // documents of nineteen exceed both.
    let long = page("https://example.com/long", &"0123456789".repeat(12_000));
    assert_eq!(save(&db, long.clone()).await, SaveOutcome::Stored);
    let loaded = db.load_documents(Collection::Web, vec![long.document.doc_id]).await.unwrap().remove(0);
    assert_eq!(loaded.passages.len(), 12_000);
    assert_eq!(loaded.passages, long.passages);

    let many: Vec<NewDocument> = (0..4_000).map(|n| page(&format!("https://example.com/{n}"), "short")).collect();
    let saved = db.save_documents(many, NOW).await.unwrap();
    assert_eq!(saved, vec![SaveOutcome::Stored; 4_000]);
    assert_eq!(db.count("documents").await, 4_001);
    assert_eq!(db.count_outbox(IndexName::Web).await.unwrap(), 4_001);
}

async fn every_document_of_a_large_batch_is_updated(db: Database) {
    let pages = |time: Timestamp, title: &str| -> Vec<NewDocument> {
        let page = |n: i64| {
            let mut new = read_at(page(&format!("https://example.com/{n}"), "the same"), time);
            new.document.title = Some(format!("{title} {n}"));
            new.document.country = (n % 2 == 0).then(|| "de".to_owned());
            new
        };
        (0..1_500).map(page).collect()
    };
    db.save_documents(pages(NOW, "before"), NOW).await.unwrap();
    let again = pages(at(5), "after");
    let saved = db.save_documents(again.clone(), at(5)).await.unwrap();
    assert_eq!(saved, vec![SaveOutcome::MetadataChanged; 1_500]);

    let doc_ids = again.iter().map(|new| new.document.doc_id).collect();
    let mut loaded = db.load_documents(Collection::Web, doc_ids).await.unwrap();
    loaded.sort_by_key(|one| one.document.canonical_url.clone());
    let mut expected: Vec<_> = again.into_iter().map(|new| new.document).collect();
    expected.sort_by_key(|document| document.canonical_url.clone());
    for (loaded, expected) in loaded.into_iter().zip(expected) {
        assert_eq!((&loaded.document.title, &loaded.document.country), (&expected.title, &expected.country));
        assert_eq!(loaded.capture.captured_at, at(5));
    }
}

async fn rereading_restores_removed_document(db: Database) {
    let organization_id = new_organization(&db).await;
    let first = workspace_document(organization_id, "a.md", "the same");
    let doc_id = first.document.doc_id;
    save(&db, first.clone()).await;
    assert!(db.hide_workspace_document(organization_id, doc_id, at(1)).await.unwrap());
    clear_outbox(&db).await;

    let again = read_at(workspace_document(organization_id, "a.md", "the same"), at(2));
    assert_eq!(save(&db, again).await, SaveOutcome::MetadataChanged);
    let found = db.read_document(organization_id, doc_id).await.unwrap().map(|(visible, _)| visible).unwrap().document;
    assert_eq!((found.first_seen_at, found.removed_at), (NOW, None));
    assert_eq!(queued(&db, IndexName::Workspace).await, [doc_id]);
}

async fn content_read_before_removal_does_not_restore(db: Database) {
    let organization_id = new_organization(&db).await;
    let first = workspace_document(organization_id, "a.md", "the old version");
    let doc_id = first.document.doc_id;
    save(&db, first).await;
    // A run reads the object, the owner deletes the file, and then the run stores the content.
    let late = read_at(workspace_document(organization_id, "a.md", "the new version"), at(1));
    assert!(db.hide_workspace_document(organization_id, doc_id, at(2)).await.unwrap());
    save(&db, late.clone()).await;
    assert!(
        db.read_document(organization_id, late.document.doc_id).await.unwrap().map(|(visible, _)| visible).is_none()
    );
    assert!(db.load_for_indexing(vec![doc_id]).await.unwrap().is_empty());
}

async fn removal_wins_over_concurrent_save(db: Database) {
    let organization_id = new_organization(&db).await;
    for n in 0..40 {
        let name = format!("{n}.md");
        let first = workspace_document(organization_id, &name, "the old version");
        let doc_id = first.document.doc_id;
        save(&db, first.clone()).await;
        let late = read_at(workspace_document(organization_id, &name, "the new version"), at(1));
        let (storing, removing) = (db.store.clone(), db.store.clone());
        let storing = tokio::spawn(async move { storing.save_documents(vec![late], at(3)).await.unwrap() });
        let removing = async move { removing.hide_workspace_document(organization_id, doc_id, at(2)).await };
        assert!(tokio::spawn(removing).await.unwrap().unwrap());
        storing.await.unwrap();
        assert!(db.read_document(organization_id, doc_id).await.unwrap().map(|(visible, _)| visible).is_none());
    }
}

async fn duplicate_url_conflicts_and_rolls_back(db: Database) {
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

/// Returns the latest capture of a listed page.
async fn capture_of(db: &Database, new: &NewDocument) -> Capture {
    db.load_documents(Collection::Web, vec![new.document.doc_id]).await.unwrap().remove(0).capture
}

async fn crawl_time_is_kept_without_a_new_one(db: Database) {
    let first = page("https://example.com/", "first");
    save(&db, first.clone()).await;
    let mut second = read_at(page("https://example.com/", "second"), at(5));
    second.document.last_crawled_at = None;
    save(&db, second).await;
    let loaded = db.load_documents(Collection::Web, vec![first.document.doc_id]).await.unwrap().remove(0);
    assert_eq!((loaded.document.last_seen_at, loaded.document.last_crawled_at), (at(5), Some(NOW)));
}

async fn listed_page_stays_listed(db: Database) {
    let listed = page("https://example.com/", "first");
    save(&db, listed.clone()).await;
    clear_outbox(&db).await;
    assert_eq!(save(&db, unlisted(page("https://example.com/", "second"))).await, SaveOutcome::Stored);
    assert_eq!(queued(&db, IndexName::Web).await, [listed.document.doc_id]);
    assert_eq!(indexable(&db).await, [listed.document.doc_id]);
}

async fn whole_page_replaces_snippet_with_same_text(db: Database) {
    let mut snippet = page("https://example.com/", "the same");
    snippet.capture.format = CaptureFormat::Text;
    save(&db, snippet.clone()).await;
    let whole = page("https://example.com/", "the same");
    assert_eq!(save(&db, whole.clone()).await, SaveOutcome::Stored);
    assert_eq!(capture_of(&db, &whole).await, whole.capture);
}

async fn validators_are_updated_on_rereading(db: Database) {
    let mut new = page("https://example.com/", "the same");
    new.capture.etag = Some("\"1\"".to_owned());
    new.capture.fetched_from = Some("https://example.com/".to_owned());
    save(&db, new.clone()).await;
    let mut again = read_at(page("https://example.com/", "the same"), at(5));
    again.capture.etag = Some("\"2\"".to_owned());
    again.capture.last_modified = Some("Sun, 06 Nov 1994 08:49:37 GMT".to_owned());
    save(&db, again.clone()).await;
    let capture = capture_of(&db, &new).await;
    assert_eq!(capture.capture_id, new.capture.capture_id);
    assert_eq!((capture.etag, capture.last_modified), (again.capture.etag, again.capture.last_modified));
    assert_eq!(capture.fetched_from, None);
}
