//! The outbox: pending changes of an index, oldest first.

use docstore::{OutboxEntry, OutboxWork, PendingOutbox};
use model::{DocId, Generation, IndexName, OrganizationId};
use uuid::Uuid;

use crate::support::{Database, NOW, Place, at, documents_in, new_organization, page, workspace_document};

on_both_backends!(
    pending_entries_are_oldest_first_per_index,
    completion_keeps_newer_entries,
    bounds_are_per_index,
    entry_ids_are_never_reused,
    clear_is_stored_as_nil_id,
    rebuild_is_enqueued_whole_or_not_at_all,
    rebuild_may_take_longer_than_other_changes,
    pending_rebuild_is_not_enqueued_again,
    clearings_are_listed_before_an_older_backlog,
    large_batch_is_enqueued_and_completed,
    long_backlog_is_shared_between_organizations,
    bounds_of_an_organization_ignore_others,
    batch_that_was_overtaken_is_enqueued_again,
    age_is_that_of_the_oldest_entry_of_the_index,
);

fn ids(count: usize) -> Vec<DocId> {
    (0..count).map(|_| Uuid::new_v4().into()).collect()
}

async fn enqueue(db: &Database, index: IndexName, doc_ids: Vec<DocId>) {
    db.enqueue_documents(index, doc_ids, NOW).await.unwrap();
}

async fn bounds(db: &Database, index: IndexName) -> Option<(i64, i64)> {
    db.outbox_bounds(index).await.unwrap()
}

async fn pending_entries_are_oldest_first_per_index(db: Database) {
    let (first, second, other) = (ids(3), ids(2), ids(2));
    enqueue(&db, IndexName::Web, first.clone()).await;
    enqueue(&db, IndexName::Workspace, other.clone()).await;
    enqueue(&db, IndexName::Web, second.clone()).await;
    enqueue(&db, IndexName::Web, vec![]).await;
    let pending = db.pending_outbox(IndexName::Web, 10).await.unwrap().entries;
    assert!(pending.is_sorted_by(|a, b| a.id < b.id));
    let expected: Vec<DocId> = first.into_iter().chain(second).collect();
    assert_eq!(documents_in(&pending), expected);
    let oldest = db.pending_outbox(IndexName::Web, 2).await.unwrap().entries;
    assert_eq!(documents_in(&oldest), expected[..2]);
    let pending = db.pending_outbox(IndexName::Workspace, 10).await.unwrap().entries;
    assert_eq!(documents_in(&pending), other);
    assert!(pending.iter().all(|entry| entry.index_name == IndexName::Workspace));
}

async fn completion_keeps_newer_entries(db: Database) {
    let doc_id = ids(1);
    enqueue(&db, IndexName::Web, doc_id.clone()).await;
    let seen = db.pending_outbox(IndexName::Web, 10).await.unwrap().entries;
    // The document changes again while the index applies the first entry.
    enqueue(&db, IndexName::Web, doc_id.clone()).await;
    db.complete_outbox(seen.iter().map(|entry| entry.id).collect()).await.unwrap();
    let left = db.pending_outbox(IndexName::Web, 10).await.unwrap().entries;
    assert_eq!(documents_in(&left), doc_id);
    assert!(left[0].id > seen[0].id);
    // Delivery is at least once, so completion is idempotent.
    db.complete_outbox(seen.iter().map(|entry| entry.id).collect()).await.unwrap();
    db.complete_outbox(vec![]).await.unwrap();
    assert_eq!(db.count_outbox(IndexName::Web).await.unwrap(), 1);
}

async fn bounds_are_per_index(db: Database) {
    assert_eq!(bounds(&db, IndexName::Web).await, None);
    enqueue(&db, IndexName::Web, ids(3)).await;
    enqueue(&db, IndexName::Workspace, ids(1)).await;
    let pending = db.pending_outbox(IndexName::Web, 10).await.unwrap().entries;
    assert_eq!(bounds(&db, IndexName::Web).await, Some((pending[0].id, pending[2].id)));
    db.complete_outbox(vec![pending[0].id]).await.unwrap();
    assert_eq!(bounds(&db, IndexName::Web).await, Some((pending[1].id, pending[2].id)));
    assert_eq!(db.count_outbox(IndexName::Web).await.unwrap(), 2);
    assert_eq!(db.count_outbox(IndexName::Workspace).await.unwrap(), 1);
}

async fn entry_ids_are_never_reused(db: Database) {
    // Waiters compare ids to detect that an entry was processed, which a reused id would break.
    enqueue(&db, IndexName::Web, ids(2)).await;
    let (_, newest) = bounds(&db, IndexName::Web).await.unwrap();
    db.complete_outbox(vec![newest - 1, newest]).await.unwrap();
    assert_eq!(bounds(&db, IndexName::Web).await, None);
    enqueue(&db, IndexName::Web, ids(1)).await;
    assert!(bounds(&db, IndexName::Web).await.unwrap().0 > newest);
}

async fn clear_is_stored_as_nil_id(db: Database) {
    let doc_id = ids(1)[0];
    assert_eq!(db.enqueue_rebuild(IndexName::Workspace, NOW).await.unwrap(), 0);
    enqueue(&db, IndexName::Workspace, vec![doc_id]).await;
    let pending = db.pending_outbox(IndexName::Workspace, 10).await.unwrap().entries;
    let work: Vec<_> = pending.iter().map(|entry| entry.work).collect();
    assert_eq!(work, [OutboxWork::ClearIndex, OutboxWork::Document(doc_id)]);
    let nil = if db.is_sqlite() { format!("x'{}'", "0".repeat(32)) } else { format!("'{}'", Uuid::nil()) };
    assert_eq!(db.count(&format!("outbox WHERE doc_id = {nil}")).await, 1);
}

async fn rebuild_is_enqueued_whole_or_not_at_all(db: Database) {
    let organization_id = new_organization(&db).await;
    save(&db, organization_id, 3).await;
    db.save_documents(vec![page("https://example.com/", "a page")], NOW).await.unwrap();
    let removed = workspace_document(organization_id, "1.md", "a file").document.doc_id;
    assert!(db.hide_workspace_document(organization_id, removed, NOW).await.unwrap());
    db.execute("DELETE FROM outbox").await;
    assert_eq!(db.enqueue_rebuild(IndexName::Workspace, NOW).await.unwrap(), 2);
    let pending = db.pending_outbox(IndexName::Workspace, 10).await.unwrap().entries;
    assert_eq!(pending[0].work, OutboxWork::ClearIndex);
    let mut expected: Vec<DocId> =
        ["0.md", "2.md"].map(|name| workspace_document(organization_id, name, "a file").document.doc_id).to_vec();
    let mut queued = documents_in(&pending[1..]);
    expected.sort_unstable();
    queued.sort_unstable();
    assert_eq!(queued, expected);
    assert!(pending[1..].iter().all(|entry| entry.organization_id == Some(organization_id)));
    assert_eq!(db.count_outbox(IndexName::Web).await.unwrap(), 0);

    // Interrupted after the first entry.
    db.execute("DELETE FROM outbox").await;
    db.execute("CREATE UNIQUE INDEX one_entry ON outbox (index_name)").await;
    db.enqueue_rebuild(IndexName::Workspace, NOW).await.unwrap_err();
    assert_eq!(db.count_outbox(IndexName::Workspace).await.unwrap(), 0, "the index is not cleared either");
}

async fn rebuild_may_take_longer_than_other_changes(db: Database) {
    let Place::Postgres(_) = &db.place else { return };
    db.execute(
        "CREATE TABLE timeouts (id bigserial, line text);
         CREATE FUNCTION note_timeout() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN INSERT INTO timeouts (line) VALUES (current_setting('statement_timeout')); RETURN NULL; END $$;
         CREATE TRIGGER note_timeout BEFORE INSERT ON outbox FOR EACH STATEMENT EXECUTE FUNCTION note_timeout()",
    )
    .await;
    db.enqueue_rebuild(IndexName::Workspace, NOW).await.unwrap();
    enqueue(&db, IndexName::Web, ids(1)).await;
    let timeouts: Vec<String> = db.lines("SELECT line FROM timeouts ORDER BY id").await.into_iter().flatten().collect();
    assert_eq!(timeouts, ["1h", "1h", "1min"]);
}

async fn pending_rebuild_is_not_enqueued_again(db: Database) {
    let organization_id = new_organization(&db).await;
    save(&db, organization_id, 2).await;
    let enqueue_missing = async |index| db.enqueue_missing_rebuild(index, NOW).await.unwrap();
    assert_eq!(enqueue_missing(IndexName::Workspace).await, 2);
    for _ in 0..2 {
        assert_eq!(enqueue_missing(IndexName::Workspace).await, 0);
    }
    assert_eq!(db.count_outbox(IndexName::Workspace).await.unwrap(), 2 + 3);
    assert_eq!(enqueue_missing(IndexName::Web).await, 0);
    assert_eq!(db.count_outbox(IndexName::Web).await.unwrap(), 1, "only the other index is being rebuilt");

    let pending = db.pending_outbox(IndexName::Workspace, 10).await.unwrap().entries;
    let clearing = pending.iter().filter(|entry| entry.work == OutboxWork::ClearIndex).map(|entry| entry.id);
    db.complete_outbox(clearing.collect()).await.unwrap();
    assert_eq!(enqueue_missing(IndexName::Workspace).await, 2, "the documents of the first one may be indexed by now");
}

async fn clearings_are_listed_before_an_older_backlog(db: Database) {
    let listed = async |index, limit| db.pending_outbox(index, limit).await.unwrap().entries;
    let clearings = |entries: &[OutboxEntry]| {
        entries.iter().filter(|entry| entry.work == OutboxWork::ClearIndex).map(|entry| entry.id).collect::<Vec<i64>>()
    };
    let web = ids(5);
    enqueue(&db, IndexName::Web, web.clone()).await;
    let [one, two] = [new_organization(&db).await, new_organization(&db).await];
    for organization_id in [one, two] {
        save(&db, organization_id, 5).await;
    }
    for _ in 0..2 {
        for index in IndexName::ALL {
            db.enqueue_rebuild(*index, NOW).await.unwrap();
        }
    }
    for (index, limit) in [(IndexName::Web, 3), (IndexName::Workspace, 4)] {
        let (all, some) = (listed(index, 100).await, listed(index, limit).await);
        let expected = clearings(&all);
        assert_eq!((expected.len(), clearings(&some)), (2, expected), "{index}");
        assert!(some.is_sorted_by(|a, b| a.id < b.id), "{index}: each is listed once");
    }
    assert_eq!(documents_in(&listed(IndexName::Web, 3).await[..3]), web[..3]);
}

async fn large_batch_is_enqueued_and_completed(db: Database) {
    // 75,000 bound values in the insert, and 25,000 ids in one completion.
    let doc_ids = ids(25_000);
    enqueue(&db, IndexName::Web, doc_ids.clone()).await;
    let pending = db.pending_outbox(IndexName::Web, 30_000).await.unwrap().entries;
    assert_eq!(documents_in(&pending), doc_ids);
    db.complete_outbox(pending.iter().map(|entry| entry.id).collect()).await.unwrap();
    assert_eq!(db.count("outbox").await, 0);
}

/// Stores files of an organization, which enqueues them.
async fn save(db: &Database, organization_id: OrganizationId, count: usize) {
    let files = (0..count).map(|n| workspace_document(organization_id, &format!("{n}.md"), "a file")).collect();
    db.save_documents(files, NOW).await.unwrap();
}

async fn long_backlog_is_shared_between_organizations(db: Database) {
    let (large, small, rebuilt) =
        (new_organization(&db).await, new_organization(&db).await, new_organization(&db).await);
    save(&db, large, 50).await;
    save(&db, small, 2).await;
    save(&db, rebuilt, 1).await;
    let stored = db.pending_outbox(IndexName::Workspace, 1_000).await.unwrap();
    assert_eq!((stored.entries.len(), stored.has_more), (53, false), "all, while they are few");
    let of = |entries: &[OutboxEntry], owner: OrganizationId| {
        entries.iter().filter(|entry| entry.organization_id == Some(owner)).count()
    };
    let pending = db.pending_outbox(IndexName::Workspace, 30).await.unwrap().entries;
    assert!(pending.is_sorted_by(|a, b| a.id < b.id));
    assert_eq!(
        (of(&pending, large), of(&pending, small)),
        (16, 0),
        "the share is at least 16, for the longest waiting"
    );
    let PendingOutbox { entries: pending, has_more } = db.pending_outbox(IndexName::Workspace, 48).await.unwrap();
    assert!(has_more, "shares of small backlogs stay unused");
    assert_eq!((of(&pending, large), of(&pending, small), of(&pending, rebuilt)), (16, 2, 1));
    let document = workspace_document(rebuilt, "0.md", "a file").document.doc_id;
    enqueue(&db, IndexName::Workspace, vec![document]).await;
    db.enqueue_rebuild(IndexName::Workspace, NOW).await.unwrap();
    let pending = db.pending_outbox(IndexName::Workspace, 52).await.unwrap().entries;
    assert!(pending.iter().any(|entry| entry.work == OutboxWork::ClearIndex), "it comes before the documents");
    assert_eq!(of(&pending, small), 4);
    let all = db.pending_outbox(IndexName::Workspace, 1_000).await.unwrap().entries;
    assert_eq!(of(&all, rebuilt), 3, "the owner of a queued document is known");
}

async fn bounds_of_an_organization_ignore_others(db: Database) {
    let (one, two) = (new_organization(&db).await, new_organization(&db).await);
    save(&db, one, 3).await;
    save(&db, two, 1).await;
    let pending = db.pending_outbox(IndexName::Workspace, 10).await.unwrap().entries;
    let bounds = async |owner| db.outbox_bounds_of(IndexName::Workspace, owner).await.unwrap();
    assert_eq!(bounds(one).await, Some((pending[0].id, pending[2].id)));
    assert_eq!(bounds(two).await, Some((pending[3].id, pending[3].id)));
    db.complete_outbox(pending[..3].iter().map(|entry| entry.id).collect()).await.unwrap();
    assert_eq!(bounds(one).await, None);
    assert_eq!(bounds(new_organization(&db).await).await, None);
}

async fn batch_that_was_overtaken_is_enqueued_again(db: Database) {
    let index = IndexName::Workspace;
    let organization_id = new_organization(&db).await;
    save(&db, organization_id, 2).await;
    let pending = async || db.pending_outbox(index, 10).await.unwrap().entries;
    let work = |entries: &[OutboxEntry]| entries.iter().map(|entry| entry.work).collect::<Vec<_>>();
    let complete = async |generation, entries: &[OutboxEntry], work| {
        let ids = entries.iter().map(|entry| entry.id).collect();
        db.complete_generation(index, generation, ids, work, Vec::new(), NOW).await.unwrap()
    };
    let [ours, theirs] = [1, 2].map(|number| Generation(Uuid::from_u128(number)));
    db.start_generation(index, None, ours).await.unwrap();
    db.start_generation(index, Some(ours), theirs).await.unwrap();
    let first = pending().await;
    assert!(!complete(ours, &first, work(&first)).await);
    let again = pending().await;
    assert_eq!(work(&again), work(&first));
    assert!(again.iter().all(|entry| entry.id > first[1].id && entry.organization_id == Some(organization_id)));

    assert!(!complete(ours, &again, vec![OutboxWork::ClearIndex]).await);
    let rebuild = pending().await;
    assert_eq!((rebuild.len(), rebuild[0].work), (3, OutboxWork::ClearIndex));

    // The batch of the other process, which repeats the call after an outage.
    for _ in 0..2 {
        assert!(complete(theirs, &rebuild, work(&rebuild)).await);
        assert_eq!(db.count_outbox(index).await.unwrap(), 0);
    }
}

async fn age_is_that_of_the_oldest_entry_of_the_index(db: Database) {
    let oldest = async |index| db.oldest_outbox_entry(index).await.unwrap();
    assert_eq!(oldest(IndexName::Web).await, None);
    for seconds in [5, 7] {
        db.enqueue_documents(IndexName::Web, ids(1), at(seconds)).await.unwrap();
    }
    enqueue(&db, IndexName::Workspace, ids(1)).await;
    assert_eq!(oldest(IndexName::Web).await, Some(at(5)));
    let first = db.pending_outbox(IndexName::Web, 1).await.unwrap().entries;
    db.complete_outbox(first.iter().map(|entry| entry.id).collect()).await.unwrap();
    assert_eq!(oldest(IndexName::Web).await, Some(at(7)));
}
