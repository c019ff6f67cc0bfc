//! Indexing runs: requests, claims, takeovers, counters, completion.

use std::collections::HashSet;
use std::time::Duration;

use docstore::{
    File, FileChanges, FileContent, FileResult, Grant, IndexRun, MeasuredObject, MeasuredUpload, NewDocument,
    StorageQuotas, Strings,
};
use model::{DocId, FileOutcome, IndexName, OrganizationId, RunMode, RunState, RunStats, SyncId, Timestamp};
use uuid::Uuid;

use crate::support::{Database, NOW, at, documents_in, new_organization, run_event, workspace_document};

on_both_backends!(
    second_request_joins_queued_run,
    full_request_upgrades_queued_run,
    concurrent_requests_share_one_run,
    request_during_claim_is_not_lost,
    runs_are_isolated_by_organization,
    runs_are_claimed_oldest_first_one_per_organization,
    concurrent_claims_are_exclusive,
    expired_run_is_resumed_by_another_worker,
    concurrent_takeovers_are_exclusive,
    former_owner_cannot_write,
    leases_are_extended_together,
    concurrent_results_are_counted_exactly,
    repeated_results_are_counted_once,
    later_result_of_a_file_replaces_its_outcome,
    file_that_comes_back_in_a_run_is_counted,
    file_deleted_after_it_was_recorded_counts_as_deleted,
    file_deleted_while_it_was_read_is_read_again,
    files_are_measured_while_results_are_recorded,
    unreadable_file_deletes_document,
    file_deleted_while_a_run_reads_it_stays_deleted,
    file_uploaded_in_the_second_of_its_deletion_is_recorded,
    file_that_was_read_since_its_deletion_is_a_file,
    file_of_a_purged_document_counts_as_unread,
    only_actual_deletions_are_counted,
    deletion_is_limited_to_organization,
    failed_write_is_rolled_back,
    large_deletion_succeeds,
    finished_run_is_final,
    outcomes_of_a_run_outlive_later_runs,
    outcomes_are_pruned_by_age,
    ended_runs_are_pruned_after_their_outcomes,
    labels_of_the_file_are_added_to_its_document,
    runs_of_all_organizations_are_counted_by_state,
);

fn new_run(organization_id: OrganizationId, mode: RunMode, requested_at: Timestamp) -> IndexRun {
    IndexRun::queued(Uuid::new_v4().into(), organization_id, mode, requested_at)
}

async fn request(db: &Database, organization_id: OrganizationId, requested_at: Timestamp) -> IndexRun {
    db.request_run(new_run(organization_id, RunMode::Incremental, requested_at)).await.unwrap()
}

async fn claim(db: &Database, owner: &str, now: Timestamp) -> Option<IndexRun> {
    db.claim_run(owner.to_owned(), now, now + Duration::from_millis(10)).await.unwrap()
}

async fn find(db: &Database, run: &IndexRun) -> IndexRun {
    db.find_run(run.organization_id, run.sync_id).await.unwrap().unwrap()
}

/// Returns a run of a new organization, leased to `worker` until `at(10)`.
async fn claimed_run(db: &Database) -> (OrganizationId, IndexRun) {
    let organization_id = new_organization(db).await;
    request(db, organization_id, NOW).await;
    (organization_id, claim(db, "worker", NOW).await.unwrap())
}

async fn register(db: &Database, organization_id: OrganizationId, new: &NewDocument, key: &str) {
    let file = File::registered(key.to_owned(), organization_id, key.to_owned(), new.document.doc_id, NOW);
    db.register_file(file, StorageQuotas::NONE).await.unwrap();
}

fn result(key: &str, doc_id: DocId, run: &IndexRun, document: Option<NewDocument>) -> FileResult {
    let outcome = if document.is_some() { FileOutcome::Indexed } else { FileOutcome::Failed };
    let indexed = u64::from(document.is_some());
    FileResult {
        object_key: key.to_owned(),
        doc_id,
        uploaded_at: document.as_ref().map_or(NOW, |document| document.capture.captured_at),
        changes: FileChanges {
            processed_etag: Some("etag".to_owned()),
            processed_size: Some(100),
            outcome: Some(outcome),
            reason: document.is_none().then(|| "no text".to_owned()),
            last_run_id: Some(run.sync_id),
        },
        content: document.map_or(FileContent::Remove, |document| FileContent::Replace(Box::new(document))),
        counts: RunStats { fetched: 1, indexed, failed: 1 - indexed, bytes: 100, ..RunStats::default() },
    }
}

async fn record(db: &Database, run: &IndexRun, owner: &str, results: Vec<FileResult>) -> bool {
    let (organization_id, sync_id) = (run.organization_id, run.sync_id);
    db.record_file_results(organization_id, sync_id, owner.to_owned(), results, NOW).await.unwrap()
}

async fn delete(db: &Database, run: &IndexRun, owner: &str, doc_ids: Vec<DocId>) -> bool {
    let (organization_id, sync_id) = (run.organization_id, run.sync_id);
    db.record_deletions(organization_id, sync_id, owner.to_owned(), doc_ids, NOW).await.unwrap()
}

async fn second_request_joins_queued_run(db: Database) {
    let organization_id = new_organization(&db).await;
    let first = request(&db, organization_id, NOW).await;
    let second = request(&db, organization_id, at(1)).await;
    assert_eq!((second.sync_id, second.requested_at), (first.sync_id, NOW));
    assert_eq!(second.state, RunState::Queued);
    // While one run is in flight, exactly one more is queued.
    assert_eq!(claim(&db, "worker", NOW).await.unwrap().sync_id, first.sync_id);
    let third = request(&db, organization_id, at(2)).await;
    assert_ne!(third.sync_id, first.sync_id);
    assert_eq!(request(&db, organization_id, at(3)).await.sync_id, third.sync_id);
    assert_eq!(db.count("index_runs").await, 2);
}

async fn full_request_upgrades_queued_run(db: Database) {
    let organization_id = new_organization(&db).await;
    let waiting = request(&db, organization_id, NOW).await;
    let full = db.request_run(new_run(organization_id, RunMode::Full, NOW)).await.unwrap();
    assert_eq!((full.sync_id, full.mode), (waiting.sync_id, RunMode::Full));
    // An incremental request does not downgrade it.
    assert_eq!(request(&db, organization_id, NOW).await.mode, RunMode::Full);
    assert_eq!(find(&db, &waiting).await.mode, RunMode::Full);
}

async fn concurrent_requests_share_one_run(db: Database) {
    let organization_id = new_organization(&db).await;
    let requests: Vec<_> = (0..16)
        .map(|n| {
            let store = db.store.clone();
            let mode = if n == 7 { RunMode::Full } else { RunMode::Incremental };
            tokio::spawn(async move { store.request_run(new_run(organization_id, mode, NOW)).await.unwrap() })
        })
        .collect();
    let mut sync_ids = HashSet::new();
    for one in requests {
        sync_ids.insert(one.await.unwrap().sync_id);
    }
    assert_eq!(sync_ids.len(), 1);
    assert_eq!(db.count("index_runs").await, 1);
    assert_eq!(db.count("index_runs WHERE mode = 'full'").await, 1);
}

async fn request_during_claim_is_not_lost(db: Database) {
    // A request for a full run never returns a run that was claimed as incremental concurrently.
    for _ in 0..20 {
        let organization_id = new_organization(&db).await;
        request(&db, organization_id, NOW).await;
        let (store, other) = (db.store.clone(), db.store.clone());
        let claimed = tokio::spawn(async move { store.claim_run("worker".to_owned(), NOW, at(10)).await.unwrap() });
        let full = new_run(organization_id, RunMode::Full, NOW);
        let requested = tokio::spawn(async move { other.request_run(full).await.unwrap() });
        let (claimed, requested) = (claimed.await.unwrap(), requested.await.unwrap());
        assert_eq!(requested.mode, RunMode::Full);
        assert_eq!(find(&db, &requested).await.mode, RunMode::Full);
        // A worker skips a run that is locked by a request, and polls again later.
        if let Some(claimed) = claimed.filter(|claimed| claimed.sync_id == requested.sync_id) {
            assert_eq!(claimed.mode, RunMode::Full);
        }
        db.execute("DELETE FROM index_runs").await;
    }
}

async fn runs_are_isolated_by_organization(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let run = request(&db, ours, NOW).await;
    assert_eq!(find(&db, &run).await.sync_id, run.sync_id);
    assert!(db.find_run(theirs, run.sync_id).await.unwrap().is_none());
    assert!(db.find_run(ours, Uuid::new_v4().into()).await.unwrap().is_none());
}

async fn runs_are_claimed_oldest_first_one_per_organization(db: Database) {
    assert!(claim(&db, "worker", NOW).await.is_none());
    let (early, late) = (new_organization(&db).await, new_organization(&db).await);
    let second = request(&db, late, at(1)).await;
    let first = request(&db, early, NOW).await;

    let claimed = claim(&db, "worker", at(2)).await.unwrap();
    assert_eq!(claimed.sync_id, first.sync_id);
    assert_eq!((claimed.state, claimed.started_at), (RunState::Planning, Some(at(2))));
    assert_eq!((claimed.lease_owner.as_deref(), claimed.lease_expires_at), (Some("worker"), Some(at(12))));

    // The next run of the same organization waits until the first has ended, regardless of its age.
    let next = request(&db, early, at(-1)).await;
    assert_eq!(claim(&db, "worker", at(2)).await.unwrap().sync_id, second.sync_id);
    assert!(claim(&db, "worker", at(2)).await.is_none());
    assert!(db.finish_run(first.sync_id, "worker".to_owned(), None, at(3), run_event).await.unwrap());
    assert_eq!(claim(&db, "worker", at(3)).await.unwrap().sync_id, next.sync_id);
}

/// Claims all runs with eight concurrent workers. Returns the owner of each run.
async fn claim_all(db: &Database, now: Timestamp) -> Vec<(String, SyncId)> {
    let workers: Vec<_> = (0..8)
        .map(|n| {
            let store = db.store.clone();
            let owner = format!("worker {n}");
            tokio::spawn(async move {
                let mut claimed = Vec::new();
                // A worker skips locked rows, so one miss does not mean that the queue is empty.
                let mut misses = 0;
                while misses < 20 {
                    match store.claim_run(owner.clone(), now, now + Duration::from_millis(10)).await.unwrap() {
                        Some(run) => claimed.push((owner.clone(), run.sync_id)),
                        None => misses += 1,
                    }
                }
                claimed
            })
        })
        .collect();
    let mut all = Vec::new();
    for worker in workers {
        all.extend(worker.await.unwrap());
    }
    all
}

async fn concurrent_claims_are_exclusive(db: Database) {
    let mut expected = HashSet::new();
    for n in 0..20 {
        let organization_id = new_organization(&db).await;
        expected.insert(request(&db, organization_id, at(n)).await.sync_id);
    }
    let claimed = claim_all(&db, at(100)).await;
    assert_eq!(claimed.len(), 20);
    assert_eq!(claimed.iter().map(|(_, sync_id)| *sync_id).collect::<HashSet<_>>(), expected);
    for (owner, sync_id) in claimed {
        assert!(db.extend_run_lease(sync_id, owner, at(200)).await.unwrap());
    }
}

async fn concurrent_takeovers_are_exclusive(db: Database) {
    for n in 0..20 {
        let organization_id = new_organization(&db).await;
        request(&db, organization_id, at(n)).await;
    }
    assert_eq!(claim_all(&db, NOW).await.len(), 20);
    let taken_over = claim_all(&db, at(10)).await;
    assert_eq!(taken_over.len(), 20);
    assert_eq!(taken_over.iter().map(|(_, sync_id)| *sync_id).collect::<HashSet<_>>().len(), 20);
}

async fn expired_run_is_resumed_by_another_worker(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    assert!(db.begin_running(run.sync_id, "worker".to_owned(), 3).await.unwrap());
    let new = workspace_document(organization_id, "a.md", "a file");
    register(&db, organization_id, &new, "a").await;
    assert!(record(&db, &run, "worker", vec![result("a", new.document.doc_id, &run, Some(new.clone()))]).await);
    // A queued run with an earlier request time does not take precedence over an expired one.
    request(&db, new_organization(&db).await, at(-5)).await;

    assert_ne!(claim(&db, "other", at(9)).await.unwrap().sync_id, run.sync_id);
    let taken = claim(&db, "other", at(10)).await.unwrap();
    assert_eq!(taken.sync_id, run.sync_id);
    assert_eq!((taken.state, taken.started_at), (RunState::Running, Some(NOW)));
    assert_eq!((taken.lease_owner.as_deref(), taken.lease_expires_at), (Some("other"), Some(at(20))));
    let expected = RunStats { enumerated: 3, fetched: 1, indexed: 1, bytes: 100, ..RunStats::default() };
    assert_eq!(taken.stats(), expected);
}

async fn former_owner_cannot_write(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let old = workspace_document(organization_id, "old.md", "an old file");
    db.save_documents(vec![old.clone()], NOW).await.unwrap();
    let new = workspace_document(organization_id, "a.md", "a file");
    register(&db, organization_id, &new, "a").await;
    assert_eq!(claim(&db, "other", at(10)).await.unwrap().sync_id, run.sync_id);
    db.execute("DELETE FROM outbox").await;

    let before = find(&db, &run).await;
    let sync_id = run.sync_id;
    assert!(!db.extend_run_lease(sync_id, "worker".to_owned(), at(99)).await.unwrap());
    assert!(!db.begin_running(sync_id, "worker".to_owned(), 9).await.unwrap());
    assert!(!record(&db, &run, "worker", vec![result("a", new.document.doc_id, &run, Some(new.clone()))]).await);
    assert!(!delete(&db, &run, "worker", vec![old.document.doc_id]).await);
    assert!(!db.finish_run(sync_id, "worker".to_owned(), Some("mine".to_owned()), at(11), run_event).await.unwrap());

    let after = find(&db, &run).await;
    assert_eq!(after.stats(), RunStats::default());
    assert_eq!((after.state, after.lease_owner, after.lease_expires_at, after.completed_at, after.error), {
        (before.state, Some("other".to_owned()), before.lease_expires_at, None, None)
    });
    assert_eq!(db.list_workspace_documents(organization_id).await.unwrap(), [old.document.doc_id]);
    assert_eq!(db.count("outbox").await, 0);
    assert!(db.find_file(organization_id, "a".to_owned()).await.unwrap().unwrap().outcome.is_none());
    assert!(record(&db, &run, "other", vec![result("a", new.document.doc_id, &run, Some(new))]).await);
}

async fn concurrent_results_are_counted_exactly(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    assert!(db.begin_running(run.sync_id, "worker".to_owned(), 30).await.unwrap());
    let mut batches = Vec::new();
    for n in 0..30 {
        let key = format!("{n}");
        let new = workspace_document(organization_id, &key, &format!("file {n}"));
        register(&db, organization_id, &new, &key).await;
        batches.push((key, new));
    }
    // Batches of five, written concurrently as the tasks of a run do.
    let writers: Vec<_> = batches
        .chunks(5)
        .map(|chunk| {
            let (db, run) = (db.clone(), run.clone());
            let results = chunk
                .iter()
                .enumerate()
                .map(|(n, (key, new))| result(key, new.document.doc_id, &run, (n != 0).then(|| new.clone())))
                .collect();
            tokio::spawn(async move { record(&db, &run, "worker", results).await })
        })
        .collect();
    for writer in writers {
        assert!(writer.await.unwrap());
    }
    let expected =
        RunStats { enumerated: 30, fetched: 30, indexed: 24, failed: 6, bytes: 3_000, ..RunStats::default() };
    assert_eq!(find(&db, &run).await.stats(), expected);
    assert_eq!(db.count("documents").await, 24);
    assert_eq!(db.count_outbox(IndexName::Workspace).await.unwrap(), 24);
    assert_eq!(db.count("files WHERE outcome = 'indexed' AND reason IS NULL").await, 24);
    assert_eq!(db.count("files WHERE outcome = 'failed' AND reason = 'no text'").await, 6);
    assert_eq!(db.count("files WHERE processed_etag = 'etag' AND processed_size = 100").await, 30);
    let found = db.find_file(organization_id, "7".to_owned()).await.unwrap().unwrap();
    assert_eq!(found.last_run_id, Some(run.sync_id));
}

async fn repeated_results_are_counted_once(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let [read, unreadable] = ["a", "b"].map(|name| workspace_document(organization_id, name, name));
    for (key, new) in [("a", &read), ("b", &unreadable)] {
        register(&db, organization_id, new, key).await;
    }
    let results = || {
        let read = result("a", read.document.doc_id, &run, Some(read.clone()));
        vec![read, result("b", unreadable.document.doc_id, &run, None)]
    };
    let recorded = RunStats { fetched: 2, indexed: 1, failed: 1, bytes: 200, ..RunStats::default() };
    for _ in 0..2 {
        assert!(record(&db, &run, "worker", results()).await);
        assert_eq!(find(&db, &run).await.stats(), recorded);
    }
    // The object was replaced before another worker took the run over.
    let mut replaced = results();
    replaced.iter_mut().for_each(|result| result.changes.processed_etag = Some("another".to_owned()));
    assert!(record(&db, &run, "worker", replaced).await);
    assert_eq!(find(&db, &run).await.stats().fetched, 4);
}

/// A run that is continued after a crash reads files again that say nothing about the next attempt.
async fn later_result_of_a_file_replaces_its_outcome(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let new = workspace_document(organization_id, "a", "a file");
    let doc_id = new.document.doc_id;
    register(&db, organization_id, &new, "a").await;
    let mut starved = result("a", doc_id, &run, None);
    (starved.changes.processed_etag, starved.changes.processed_size) = (None, None);
    starved.content = FileContent::Keep;
    let indexed = result("a", doc_id, &run, Some(new));
    let mut skipped = result("a", doc_id, &run, None);
    skipped.changes.outcome = Some(FileOutcome::SkippedUnsupported);
    skipped.counts = RunStats { skipped_unsupported: 1, ..RunStats::default() };
    let gone = gone("a", doc_id, &run);
    let read = |times| RunStats { fetched: times, bytes: 100 * times, ..RunStats::default() };
    for (result, outcome, expected) in [
        (&starved, Some(FileOutcome::Failed), RunStats { failed: 1, ..read(1) }),
        (&indexed, Some(FileOutcome::Indexed), RunStats { indexed: 1, ..read(2) }),
        (&skipped, Some(FileOutcome::SkippedUnsupported), RunStats { skipped_unsupported: 1, ..read(2) }),
        (&starved, Some(FileOutcome::Failed), RunStats { failed: 1, ..read(3) }),
        (&gone, None, RunStats { deleted: 1, ..read(3) }),
    ] {
        for _ in 0..2 {
            assert!(record(&db, &run, "worker", vec![result.clone()]).await);
            assert_eq!(find(&db, &run).await.stats(), expected);
            let recorded: Vec<_> = outcomes(&db, &run, 100).await.into_iter().map(|(_, outcome, _)| outcome).collect();
            assert_eq!(recorded, outcome.into_iter().collect::<Vec<_>>());
        }
    }
}

/// Returns the result of a file whose object was deleted since the plan.
fn gone(key: &str, doc_id: DocId, run: &IndexRun) -> FileResult {
    let changes = FileChanges {
        processed_etag: None,
        processed_size: None,
        outcome: None,
        reason: None,
        last_run_id: Some(run.sync_id),
    };
    let counts = RunStats { deleted: 1, ..RunStats::default() };
    FileResult { changes, counts, ..result(key, doc_id, run, None) }
}

/// It may be uploaded again before another worker takes the run over.
async fn file_that_comes_back_in_a_run_is_counted(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let new = workspace_document(organization_id, "a", "a file");
    let doc_id = new.document.doc_id;
    register(&db, organization_id, &new, "a").await;
    assert!(record(&db, &run, "worker", vec![gone("a", doc_id, &run)]).await);
    let expected = RunStats { fetched: 1, indexed: 1, deleted: 1, bytes: 100, ..RunStats::default() };
    for _ in 0..2 {
        assert!(record(&db, &run, "worker", vec![result("a", doc_id, &run, Some(new.clone()))]).await);
        assert_eq!(find(&db, &run).await.stats(), expected);
    }
    assert_eq!(db.list_workspace_documents(organization_id).await.unwrap(), [doc_id]);
}

async fn file_deleted_after_it_was_recorded_counts_as_deleted(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let new = workspace_document(organization_id, "a", "a file");
    register(&db, organization_id, &new, "a").await;
    let read = || vec![result("a", new.document.doc_id, &run, Some(new.clone()))];
    assert!(record(&db, &run, "worker", read()).await);
    let next = new_run(organization_id, RunMode::Incremental, at(1));
    db.withdraw_file(organization_id, "a".to_owned(), next, at(1)).await.unwrap();
    for _ in 0..2 {
        assert!(record(&db, &run, "worker", read()).await);
        let expected = RunStats { fetched: 1, deleted: 1, bytes: 100, ..RunStats::default() };
        assert_eq!(find(&db, &run).await.stats(), expected);
        assert_eq!(outcomes(&db, &run, 100).await, []);
    }
}

async fn file_deleted_while_it_was_read_is_read_again(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let new = workspace_document(organization_id, "a", "a file");
    register(&db, organization_id, &new, "a").await;
    let results = |new: &NewDocument| vec![result("a", new.document.doc_id, &run, Some(new.clone()))];
    assert!(record(&db, &run, "worker", results(&new)).await);
    let next = new_run(organization_id, RunMode::Incremental, at(1));
    db.withdraw_file(organization_id, "a".to_owned(), next, at(1)).await.unwrap();
    let read = async || {
        let file = db.find_file(organization_id, "a".to_owned()).await.unwrap().unwrap();
        (file.processed_etag, file.processed_size, file.outcome)
    };
    for _ in 0..2 {
        assert!(record(&db, &run, "worker", results(&new)).await);
        assert_eq!(read().await, (None, None, None));
        assert_eq!(find(&db, &run).await.stats().fetched, 1, "a repeated call adds nothing");
    }
    // Read after the deletion.
    let mut again = new.clone();
    again.capture.captured_at = at(2);
    assert!(record(&db, &run, "worker", results(&again)).await);
    assert_eq!(read().await, (Some("etag".to_owned()), Some(100), Some(FileOutcome::Indexed)));
}

async fn files_are_measured_while_results_are_recorded(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let mut files = Vec::new();
    for n in 0..60 {
        let key = format!("{n:02}");
        let new = workspace_document(organization_id, &key, "a file");
        register(&db, organization_id, &new, &key).await;
        files.push((key, new.document.doc_id));
    }
    let keys: Vec<String> = files.iter().map(|(key, _)| key.clone()).collect();
    for bytes in 1..=5 {
        db.remeasure_uploads(organization_id, keys.clone(), NOW).await.unwrap();
        let object = MeasuredObject { bytes, uploaded_at: NOW, etag: "etag".to_owned() };
        let measured = |key: &String| MeasuredUpload { object_key: key.clone(), object: Some(object.clone()) };
        let measured = keys.iter().map(measured).collect();
        let results = files.iter().rev().map(|(key, doc_id)| result(key, *doc_id, &run, None)).collect();
        let measuring = db.settle_uploads(organization_id, measured, NOW);
        let (measured, recorded) = tokio::join!(measuring, record(&db, &run, "worker", results));
        measured.unwrap();
        assert!(recorded);
    }
    assert_eq!(db.find_storage_totals(organization_id).await.unwrap().bytes, 60 * 5);
    assert_eq!(db.count("files WHERE bytes = 5 AND outcome = 'failed'").await, 60);
}

async fn unreadable_file_deletes_document(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let readable_once = workspace_document(organization_id, "a.md", "a file");
    let never_read = workspace_document(organization_id, "b.md", "another");
    for (key, new) in [("a", &readable_once), ("b", &never_read)] {
        register(&db, organization_id, new, key).await;
    }
    db.save_documents(vec![readable_once.clone()], NOW).await.unwrap();
    let doc_id = readable_once.document.doc_id;
    db.grant_document(Grant { organization_id, doc_id, granted_at: NOW, capture_id: None }).await.unwrap();
    db.execute("DELETE FROM outbox").await;

    let results = vec![result("a", doc_id, &run, None), result("b", never_read.document.doc_id, &run, None)];
    assert!(record(&db, &run, "worker", results).await);
    for table in ["documents", "captures", "passages", "grants"] {
        assert_eq!(db.count(table).await, 0, "{table}");
    }
    // Only the document that existed is enqueued.
    let queued = db.pending_outbox(IndexName::Workspace, 10).await.unwrap().entries;
    assert_eq!(documents_in(&queued), [doc_id]);
}

/// The deletion is later than what the run has read.
async fn file_deleted_while_a_run_reads_it_stays_deleted(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let file = |name: &str| workspace_document(organization_id, name, name);
    db.save_documents(vec![file("known")], NOW).await.unwrap();
    for name in ["first", "known", "unreadable", "later", "left"] {
        register(&db, organization_id, &file(name), name).await;
        let cleaning = new_run(organization_id, RunMode::Incremental, at(1));
        db.withdraw_file(organization_id, name.to_owned(), cleaning, at(1)).await.unwrap().unwrap();
    }
    // An upload that ended after the deletion.
    let mut later = file("later");
    later.capture.captured_at = at(2);
    let read = |new: NewDocument, name| result(name, new.document.doc_id, &run, Some(new));
    let unreadable = result("unreadable", file("unreadable").document.doc_id, &run, None);
    // The object outlived the deletion, and was read after it.
    let mut left = file("left");
    left.capture.captured_at = at(2);
    let left = FileResult { uploaded_at: NOW, ..read(left, "left") };
    let results =
        [read(file("first"), "first"), read(file("known"), "known"), read(later.clone(), "later"), unreadable, left];
    for _ in 0..2 {
        assert!(record(&db, &run, "worker", results.to_vec()).await);
        let expected = RunStats { fetched: 5, indexed: 1, deleted: 4, bytes: 500, ..RunStats::default() };
        assert_eq!(find(&db, &run).await.stats(), expected);
    }
    assert_eq!(db.list_workspace_documents(organization_id).await.unwrap(), [later.document.doc_id]);
    assert_eq!(db.count("files WHERE outcome IS NULL AND reason IS NULL AND processed_etag IS NULL").await, 4);
    assert_eq!(outcomes(&db, &run, 100).await, [("later".to_owned(), FileOutcome::Indexed, None)]);
}

async fn file_uploaded_in_the_second_of_its_deletion_is_recorded(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let mut new = workspace_document(organization_id, "a", "again");
    let doc_id = new.document.doc_id;
    register(&db, organization_id, &new, "a").await;
    let cleaning = new_run(organization_id, RunMode::Incremental, at(1));
    db.withdraw_file(organization_id, "a".to_owned(), cleaning, at(1)).await.unwrap().unwrap();
    db.record_deleted_object(organization_id, "a".to_owned(), at(1), Some("old".to_owned())).await.unwrap();
    new.capture.captured_at = at(2);
    let read = FileResult { uploaded_at: NOW, ..result("a", doc_id, &run, Some(new)) };
    assert!(record(&db, &run, "worker", vec![read]).await);
    assert_eq!(db.list_workspace_documents(organization_id).await.unwrap(), [doc_id]);
}

/// The run knew the time of the upload more exactly than others do.
async fn file_that_was_read_since_its_deletion_is_a_file(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let mut new = workspace_document(organization_id, "a", "again");
    let doc_id = new.document.doc_id;
    register(&db, organization_id, &new, "a").await;
    let find_file = async || db.find_file(organization_id, "a".to_owned()).await.unwrap().unwrap();
    let withdraw = async |now| {
        let cleaning = new_run(organization_id, RunMode::Incremental, now);
        db.withdraw_file(organization_id, "a".to_owned(), cleaning, now).await.unwrap().unwrap();
        find_file().await
    };
    assert!(withdraw(at(1)).await.is_withdrawn(NOW, "etag"));
    new.capture.captured_at = at(2);
    assert!(record(&db, &run, "worker", vec![result("a", doc_id, &run, Some(new))]).await);
    let file = find_file().await;
    assert!(!file.is_withdrawn(NOW, "etag") && file.is_withdrawn(NOW, "another"));
    db.remeasure_uploads(organization_id, vec!["a".to_owned()], NOW).await.unwrap();
    let object = MeasuredObject { bytes: 100, uploaded_at: NOW, etag: "etag".to_owned() };
    let measured = MeasuredUpload { object_key: "a".to_owned(), object: Some(object) };
    db.settle_uploads(organization_id, vec![measured], NOW).await.unwrap();
    assert_eq!(find_file().await.withdrawn_at, None);
    assert!(withdraw(at(3)).await.is_withdrawn(NOW, "etag"), "it was deleted again");
}

/// Content that is uploaded again under the name of a purged document has to be read.
async fn file_of_a_purged_document_counts_as_unread(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let file = |name: &str| workspace_document(organization_id, name, name);
    for name in ["gone", "kept"] {
        register(&db, organization_id, &file(name), name).await;
        let read = result(name, file(name).document.doc_id, &run, Some(file(name)));
        assert!(record(&db, &run, "worker", vec![read]).await);
    }
    assert!(delete(&db, &run, "worker", vec![file("gone").document.doc_id]).await);
    let processed = async |name: &str| {
        let file = db.find_file(organization_id, name.to_owned()).await.unwrap().unwrap();
        (file.processed_etag, file.processed_size, file.outcome, file.processed_at)
    };
    assert_eq!(processed("gone").await, (None, None, None, None));
    let expected = (Some("etag".to_owned()), Some(100), Some(FileOutcome::Indexed), Some(NOW));
    assert_eq!(processed("kept").await, expected);
}

async fn only_actual_deletions_are_counted(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let documents: Vec<_> = (0..3).map(|n| workspace_document(organization_id, &format!("{n}"), "a file")).collect();
    let ids: Vec<DocId> = documents.iter().map(|new| new.document.doc_id).collect();
    db.save_documents(documents, NOW).await.unwrap();
    for doc_id in &ids {
        let grant = Grant { organization_id, doc_id: *doc_id, granted_at: NOW, capture_id: None };
        db.grant_document(grant).await.unwrap();
    }
    // Hidden documents are deleted too.
    assert!(db.hide_workspace_document(organization_id, ids[0], NOW).await.unwrap());
    db.execute("DELETE FROM outbox").await;

    assert!(delete(&db, &run, "worker", vec![ids[0], ids[1], Uuid::new_v4().into()]).await);
    assert!(delete(&db, &run, "worker", vec![ids[0]]).await);
    assert!(delete(&db, &run, "worker", vec![]).await);
    assert_eq!(find(&db, &run).await.stats(), RunStats { deleted: 2, ..RunStats::default() });
    assert_eq!(db.list_workspace_documents(organization_id).await.unwrap(), [ids[2]]);
    assert_eq!((db.count("captures").await, db.count("passages").await, db.count("grants").await), (1, 1, 1));
    let mut queued: Vec<DocId> = documents_in(&db.pending_outbox(IndexName::Workspace, 10).await.unwrap().entries);
    queued.sort_unstable();
    let mut expected = ids[..2].to_vec();
    expected.sort_unstable();
    assert_eq!(queued, expected);
}

async fn deletion_is_limited_to_organization(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let theirs = new_organization(&db).await;
    let own = workspace_document(organization_id, "a.md", "our file");
    let foreign = workspace_document(theirs, "a.md", "their file");
    let web = crate::support::page("https://example.com/", "a page");
    let ids = [&own, &foreign, &web].map(|new| new.document.doc_id).to_vec();
    db.save_documents(vec![own.clone(), foreign, web], NOW).await.unwrap();
    db.execute("DELETE FROM outbox").await;
    assert!(delete(&db, &run, "worker", ids).await);
    assert_eq!(find(&db, &run).await.stats().deleted, 1);
    assert_eq!(db.count("documents").await, 2);
    let queued = db.pending_outbox(IndexName::Workspace, 10).await.unwrap().entries;
    assert_eq!(documents_in(&queued), [own.document.doc_id]);
}

async fn failed_write_is_rolled_back(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let good = workspace_document(organization_id, "a.md", "a file");
    let mut bad = workspace_document(organization_id, "b.md", "another file");
    bad.document.canonical_url = good.document.canonical_url.clone();
    for (key, new) in [("a", &good), ("b", &bad)] {
        register(&db, organization_id, new, key).await;
    }
    let results = [("a", good), ("b", bad)].map(|(key, new)| result(key, new.document.doc_id, &run, Some(new)));
    let (sync_id, results) = (run.sync_id, results.to_vec());
    let refused = db.record_file_results(organization_id, sync_id, "worker".to_owned(), results, NOW).await;
    assert!(refused.is_err());
    assert_eq!(find(&db, &run).await.stats(), RunStats::default());
    assert_eq!(db.count("files WHERE outcome IS NOT NULL").await, 0);
    assert_eq!((db.count("documents").await, db.count("outbox").await), (0, 0));
}

async fn large_deletion_succeeds(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let known = workspace_document(organization_id, "a.md", "a file");
    let doc_id = known.document.doc_id;
    db.save_documents(vec![known], NOW).await.unwrap();
    // Beyond the bind limit of both backends.
    let mut ids: Vec<DocId> = (0..70_000).map(|_| Uuid::new_v4().into()).collect();
    ids.push(doc_id);
    assert!(delete(&db, &run, "worker", ids).await);
    assert_eq!(find(&db, &run).await.stats().deleted, 1);
    assert_eq!(db.count("documents").await, 0);
}

async fn finished_run_is_final(db: Database) {
    for error in [None, Some("storage is gone".to_owned())] {
        let (organization_id, run) = claimed_run(&db).await;
        let sync_id = run.sync_id;
        assert!(db.finish_run(sync_id, "worker".to_owned(), error.clone(), at(5), run_event).await.unwrap());
        let ended = find(&db, &run).await;
        let expected = if error.is_some() { RunState::Failed } else { RunState::Completed };
        assert_eq!((ended.state, ended.error.clone()), (expected, error));
        assert!(ended.state.is_terminal());
        assert_eq!((ended.started_at, ended.completed_at), (Some(NOW), Some(at(5))));
        assert_eq!((&ended.lease_owner, ended.lease_expires_at), (&None, None));

        assert!(!db.finish_run(sync_id, "worker".to_owned(), None, at(6), run_event).await.unwrap());
        assert!(!db.extend_run_lease(sync_id, "worker".to_owned(), at(99)).await.unwrap());
        let new = workspace_document(organization_id, "a.md", "a file");
        assert!(!record(&db, &run, "worker", vec![result("a", new.document.doc_id, &run, Some(new))]).await);
        assert!(claim(&db, "worker", at(100)).await.is_none());
        assert_eq!(find(&db, &run).await.completed_at, Some(at(5)));
        let next = request(&db, organization_id, at(6)).await;
        assert_eq!(claim(&db, "worker", at(6)).await.unwrap().sync_id, next.sync_id);
        assert!(db.finish_run(next.sync_id, "worker".to_owned(), None, at(7), run_event).await.unwrap());
    }
}

async fn leases_are_extended_together(db: Database) {
    let ((_, first), (_, second)) = (claimed_run(&db).await, claimed_run(&db).await);
    let lost = claim(&db, "thief", at(11)).await.unwrap();
    let kept = if lost.sync_id == first.sync_id { &second } else { &first };
    let held = [&first, &second].map(|run| (run.sync_id, "worker".to_owned())).to_vec();
    assert_eq!(db.extend_run_leases(held, at(30)).await.unwrap(), [kept.sync_id]);
    assert_eq!(find(&db, kept).await.lease_expires_at, Some(at(30)));
    assert_eq!(find(&db, &lost).await.lease_expires_at, Some(at(21)));
    assert!(db.extend_run_leases(Vec::new(), at(40)).await.unwrap().is_empty());
}

/// Returns the outcomes that the run recorded, in pages of `limit`.
async fn outcomes(db: &Database, run: &IndexRun, limit: i64) -> Vec<(String, FileOutcome, Option<String>)> {
    let mut listed: Vec<(String, FileOutcome, Option<String>)> = Vec::new();
    loop {
        let after = listed.last().map(|(name, ..)| name.clone());
        let page = db.list_run_files(run.organization_id, run.sync_id, after, limit).await.unwrap();
        if page.is_empty() {
            return listed;
        }
        listed.extend(page.into_iter().map(|file| (file.name, file.outcome, file.reason)));
    }
}

async fn outcomes_of_a_run_outlive_later_runs(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let file = |name: &str| workspace_document(organization_id, name, name);
    for name in ["a", "b", "c"] {
        register(&db, organization_id, &file(name), name).await;
    }
    let read = |name: &str| result(name, file(name).document.doc_id, &run, Some(file(name)));
    let unread = |name: &str, run: &IndexRun| result(name, file(name).document.doc_id, run, None);
    assert!(record(&db, &run, "worker", vec![unread("b", &run), read("a")]).await);
    // Processed once more, as after a crash; and a file that has been deleted since.
    assert!(record(&db, &run, "worker", vec![read("b"), unread("c", &run), read("gone")]).await);
    let failed = Some("no text".to_owned());
    let expected = [
        ("a".to_owned(), FileOutcome::Indexed, None),
        ("b".to_owned(), FileOutcome::Indexed, None),
        ("c".to_owned(), FileOutcome::Failed, failed.clone()),
    ];
    assert_eq!(outcomes(&db, &run, 100).await, expected);
    db.finish_run(run.sync_id, "worker".to_owned(), None, NOW, run_event).await.unwrap();
    request(&db, organization_id, at(1)).await;
    let later = claim(&db, "worker", at(1)).await.unwrap();
    assert!(record(&db, &later, "worker", vec![unread("a", &later)]).await);
    assert_eq!(outcomes(&db, &run, 1).await, expected);
    assert_eq!(outcomes(&db, &later, 1).await, [("a".to_owned(), FileOutcome::Failed, failed)]);
    let stranger = IndexRun { organization_id: new_organization(&db).await, ..run };
    assert_eq!(outcomes(&db, &stranger, 100).await, []);
}

async fn outcomes_are_pruned_by_age(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    for name in ["a", "b", "c"] {
        let new = workspace_document(organization_id, name, name);
        register(&db, organization_id, &new, name).await;
        assert!(record(&db, &run, "worker", vec![result(name, new.document.doc_id, &run, Some(new))]).await);
    }
    assert_eq!(db.prune_run_files(NOW, 100).await.unwrap(), 0);
    assert_eq!(db.prune_run_files(at(1), 2).await.unwrap(), 2);
    assert_eq!(outcomes(&db, &run, 100).await.len(), 1);
}

async fn ended_runs_are_pruned_after_their_outcomes(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let new = workspace_document(organization_id, "a", "a");
    register(&db, organization_id, &new, "a").await;
    assert!(record(&db, &run, "worker", vec![result("a", new.document.doc_id, &run, Some(new))]).await);
    assert_eq!(db.prune_runs(at(1_000), 10).await.unwrap(), 0, "it is in flight");
    db.finish_run(run.sync_id, "worker".to_owned(), None, at(5), run_event).await.unwrap();
    assert_eq!(db.prune_runs(at(6), 10).await.unwrap(), 0, "it has outcomes");
    db.prune_run_files(at(1), 10).await.unwrap();
    request(&db, organization_id, at(6)).await;
    assert_eq!(db.prune_runs(at(5), 10).await.unwrap(), 0);
    assert_eq!(db.prune_runs(at(6), 10).await.unwrap(), 1);
    assert_eq!(db.count("index_runs").await, 1, "the queued one");
}

/// The labels may change while a run reads the file.
async fn labels_of_the_file_are_added_to_its_document(db: Database) {
    let (organization_id, run) = claimed_run(&db).await;
    let new = workspace_document(organization_id, "a", "some text");
    let doc_id = new.document.doc_id;
    let mut expected = new.document.labels.0.clone();
    register(&db, organization_id, &new, "a").await;
    let mut file = db.find_file(organization_id, "a".to_owned()).await.unwrap().unwrap();
    file.labels = Some(Strings(vec!["finance".to_owned()]));
    db.register_file(file, StorageQuotas::NONE).await.unwrap();
    for _ in 0..2 {
        assert!(record(&db, &run, "worker", vec![result("a", doc_id, &run, Some(new.clone()))]).await);
    }
    expected.push("finance".to_owned());
    assert_eq!(db.load_for_indexing(vec![doc_id]).await.unwrap()[0].0.labels.0, expected);
    let file = db.find_file(organization_id, "a".to_owned()).await.unwrap().unwrap();
    assert_eq!(file.processed_at, Some(NOW));
}

async fn runs_of_all_organizations_are_counted_by_state(db: Database) {
    let count = async |state| db.count_runs(state).await.unwrap();
    for _ in 0..3 {
        request(&db, new_organization(&db).await, NOW).await;
    }
    assert_eq!(count(RunState::Queued).await, 3);
    claim(&db, "worker", NOW).await.unwrap();
    assert_eq!((count(RunState::Queued).await, count(RunState::Planning).await), (2, 1));
    assert_eq!(count(RunState::Completed).await, 0);
}
