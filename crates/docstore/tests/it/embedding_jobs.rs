//! Queue of documents to embed, and changes of the model.

use std::collections::HashSet;
use std::time::Duration;

use docstore::{EmbeddingProgress, IndexModel, ModelCalibration, NewDocument};
use model::{DocId, IndexName, OrganizationId};

use crate::support::{
    Database, NOW, Place, at, connect, documents_in, new_organization, page, until_a_query_waits, workspace_document,
};
use crate::vectors::{enqueue, vectors};

on_both_backends!(
    leased_jobs_are_claimed_once,
    organizations_take_turns,
    postponed_job_waits,
    job_of_a_clock_that_was_ahead_is_due,
    job_of_a_changed_document_starts_again,
    change_of_the_model_enqueues_each_document_once,
    concurrent_changes_of_the_model_leave_one_in_all_indexes,
    model_changes_in_all_indexes_at_a_time,
    index_of_another_model_keeps_its_jobs,
    index_without_a_model_has_no_jobs,
    settled_jobs_end_unless_their_documents_changed,
    job_of_a_document_without_its_capture_ends,
    vectors_stored_during_a_change_of_the_model_reach_the_index,
    jobs_settled_during_a_change_of_the_model_stay,
    calibrations_are_those_of_a_model_and_its_texts,
);

const MODEL: &str = "model";

async fn saved(db: &Database, documents: Vec<NewDocument>) -> Vec<DocId> {
    db.save_documents(documents.clone(), NOW).await.unwrap();
    documents.iter().map(|new| new.document.doc_id).collect()
}

async fn pages(db: &Database, count: usize) -> Vec<NewDocument> {
    let pages: Vec<NewDocument> = (0..count).map(|n| page(&format!("https://example.com/{n}"), "a page")).collect();
    saved(db, pages.clone()).await;
    pages
}

async fn claim(db: &Database, owner: &str, after: Option<OrganizationId>, limit: i64) -> Vec<DocId> {
    let claimed = db.claim_embedding_jobs(owner.to_owned(), after, NOW, at(10), limit).await.unwrap();
    claimed.into_iter().map(|job| job.doc_id).collect()
}

fn sorted(doc_ids: impl IntoIterator<Item = DocId>) -> Vec<DocId> {
    let mut doc_ids: Vec<DocId> = doc_ids.into_iter().collect();
    doc_ids.sort_unstable();
    doc_ids
}

async fn leased_jobs_are_claimed_once(db: Database) {
    let ids = sorted(pages(&db, 4).await.iter().map(|new| new.document.doc_id));
    enqueue(&db, IndexName::Web, [&ids[..], &ids[..]].concat()).await;
    enqueue(&db, IndexName::Web, ids.clone()).await;
    assert_eq!(db.count_embedding_jobs().await.unwrap(), 4);
    assert_eq!(db.oldest_embedding_job().await.unwrap(), Some(NOW));
    let (first, second) = (claim(&db, "first", None, 3).await, claim(&db, "second", None, 3).await);
    assert_eq!((first.len(), second.len()), (3, 1));
    assert_eq!(sorted(first.iter().chain(&second).copied()), ids);
    // The lease of a dead worker expires, unless it was extended.
    db.extend_embedding_leases("second".to_owned(), at(100)).await.unwrap();
    let later = db.claim_embedding_jobs("third".to_owned(), None, at(10), at(20), 9).await.unwrap();
    assert_eq!(sorted(later.iter().map(|job| job.doc_id)), sorted(first.clone()));
    db.release_embedding_jobs("second".to_owned(), at(1)).await.unwrap();
    db.release_embedding_jobs("first".to_owned(), at(1)).await.unwrap();
    let released = db.claim_embedding_jobs("fourth".to_owned(), None, at(1), at(20), 9).await.unwrap();
    assert_eq!(released.iter().map(|job| job.doc_id).collect::<Vec<_>>(), second);
}

async fn organizations_take_turns(db: Database) {
    let mut organizations = Vec::new();
    for _ in 0..12 {
        organizations.push(new_organization(&db).await);
    }
    organizations.sort_unstable();
    for (n, organization_id) in organizations.iter().enumerate() {
        let files = if n == 0 { 50 } else { 2 };
        let documents =
            (0..files).map(|n| workspace_document(*organization_id, &format!("{n}.md"), "a file")).collect();
        let ids = saved(&db, documents).await;
        enqueue(&db, IndexName::Workspace, ids).await;
    }
    let web = pages(&db, 50).await;
    enqueue(&db, IndexName::Web, web.iter().map(|new| new.document.doc_id).collect()).await;
    let mut last = None;
    let mut served = Vec::new();
    for _ in 0..2 {
        let claimed = db.claim_embedding_jobs("worker".to_owned(), last, NOW, at(10), 18).await.unwrap();
        assert!(claimed.iter().any(|job| job.organization_id.is_none()), "the web has its turn, too");
        let mut turn: Vec<OrganizationId> = claimed.iter().filter_map(|job| job.organization_id).collect();
        last = turn.last().copied();
        turn.dedup();
        served.extend(turn);
    }
    let distinct: HashSet<OrganizationId> = served.iter().copied().collect();
    assert_eq!(served[..8], organizations[..8]);
    // The rest, and the one with many files once more.
    assert_eq!(served[8..], [&organizations[8..], &organizations[..1]].concat());
    assert_eq!(distinct.len(), 12, "{served:?}");
    // Of eight organizations and the web.
    db.release_embedding_jobs("worker".to_owned(), at(-1)).await.unwrap();
    assert_eq!(claim(&db, "worker", None, 500).await.len(), 50 + 14 + 50);
}

async fn postponed_job_waits(db: Database) {
    let new = pages(&db, 1).await.remove(0);
    let doc_id = new.document.doc_id;
    enqueue(&db, IndexName::Web, vec![doc_id]).await;
    assert_eq!(claim(&db, "worker", None, 1).await, [doc_id]);
    let progress = EmbeddingProgress::Partial { attempts: 2, not_before: at(50) };
    // Another worker has lost its lease.
    db.store_vectors(MODEL.to_owned(), vec![vectors(&new, 1, progress)], "other".to_owned(), NOW).await.unwrap();
    assert_eq!(db.claim_embedding_jobs("x".to_owned(), None, at(10), at(11), 1).await.unwrap()[0].attempts, 0);
    db.store_vectors(MODEL.to_owned(), vec![vectors(&new, 1, progress)], "x".to_owned(), NOW).await.unwrap();
    assert!(db.claim_embedding_jobs("x".to_owned(), None, at(49), at(60), 1).await.unwrap().is_empty());
    assert_eq!(db.claim_embedding_jobs("x".to_owned(), None, at(50), at(60), 1).await.unwrap()[0].attempts, 2);
}

async fn job_of_a_clock_that_was_ahead_is_due(db: Database) {
    let day = Duration::from_hours(24);
    let organization_id = new_organization(&db).await;
    let documents = vec![workspace_document(organization_id, "a.md", "a file"), page("https://example.com/", "a page")];
    let ids = saved(&db, documents).await;
    db.use_model(Some(MODEL.to_owned())).await.unwrap();
    for index in IndexName::ALL {
        let generation = uuid::Uuid::new_v4().into();
        db.complete_generation(*index, generation, Vec::new(), Vec::new(), ids.clone(), NOW + day).await.unwrap();
    }
    assert_eq!(sorted(claim(&db, "worker", None, 9).await), sorted(ids.clone()));
    assert!(claim(&db, "other", None, 9).await.is_empty(), "they are leased");
    // A lease that was written by the wrong clock.
    db.extend_embedding_leases("worker".to_owned(), NOW + day).await.unwrap();
    assert_eq!(sorted(claim(&db, "other", None, 9).await), sorted(ids));
}

async fn job_of_a_changed_document_starts_again(db: Database) {
    let new = pages(&db, 1).await.remove(0);
    let doc_id = new.document.doc_id;
    enqueue(&db, IndexName::Web, vec![doc_id]).await;
    assert_eq!(claim(&db, "worker", None, 1).await, [doc_id]);
    let progress = EmbeddingProgress::Partial { attempts: 2, not_before: at(50) };
    db.store_vectors(MODEL.to_owned(), vec![vectors(&new, 1, progress)], "worker".to_owned(), NOW).await.unwrap();
    assert_eq!(claim(&db, "worker", None, 1).await, []);
    saved(&db, vec![page("https://example.com/0", "a changed page")]).await;
    enqueue(&db, IndexName::Web, vec![doc_id]).await;
    let jobs = db.claim_embedding_jobs("worker".to_owned(), None, NOW, at(10), 1).await.unwrap();
    assert_eq!(jobs.iter().map(|job| (job.doc_id, job.attempts)).collect::<Vec<_>>(), [(doc_id, 0)]);
    // One that is being embedded keeps its lease.
    enqueue(&db, IndexName::Web, vec![doc_id]).await;
    assert_eq!(claim(&db, "other", None, 1).await, []);
}

async fn change_of_the_model_enqueues_each_document_once(db: Database) {
    let pages = pages(&db, 5).await;
    let organization_id = new_organization(&db).await;
    saved(&db, vec![workspace_document(organization_id, "a.md", "a file")]).await;
    let complete: Vec<_> = pages[..2].iter().map(|new| vectors(new, 1, EmbeddingProgress::Complete)).collect();
    db.store_vectors(MODEL.to_owned(), complete, String::new(), NOW).await.unwrap();
    let entries = db.count_outbox(IndexName::Web).await.unwrap();
    let queue = async || db.queue_for_model(IndexName::Web, MODEL.to_owned(), 2, NOW).await.unwrap();
    assert_eq!((queue().await, db.find_index_model(IndexName::Web).await.unwrap()), (None, IndexModel::default()));
    db.use_model(Some(MODEL.to_owned())).await.unwrap();
    let mut queued = Vec::new();
    while let Some(count) = queue().await {
        queued.push(count);
        // A second process, or a restart, goes on.
        db.use_model(Some(MODEL.to_owned())).await.unwrap();
    }
    assert_eq!(queued, [2, 2, 1]);
    assert_eq!(
        db.find_index_model(IndexName::Web).await.unwrap(),
        IndexModel { model: Some(MODEL.to_owned()), queued: true }
    );
    let pending = db.pending_outbox(IndexName::Web, 100).await.unwrap().entries;
    let known = sorted(pages[..2].iter().map(|new| new.document.doc_id));
    assert_eq!(documents_in(&pending)[usize::try_from(entries).unwrap()..], known);
    let rest = sorted(pages[2..].iter().map(|new| new.document.doc_id));
    assert_eq!(sorted(claim(&db, "worker", None, 10).await), rest);
    assert_eq!(db.list_unembedded(IndexName::Web, MODEL.to_owned(), None, 10).await.unwrap(), rest);
    assert_eq!(db.list_unembedded(IndexName::Web, MODEL.to_owned(), Some(rest[0]), 1).await.unwrap(), rest[1..2]);
    assert_eq!(db.count_unembedded(IndexName::Web, MODEL.to_owned()).await.unwrap(), 3);
    assert_eq!(db.count_unembedded(IndexName::Workspace, MODEL.to_owned()).await.unwrap(), 1);
    assert_eq!(db.count_embedding_jobs().await.unwrap(), 3);
    db.use_model(None).await.unwrap();
    assert_eq!((queue().await, db.count_embedding_jobs().await.unwrap()), (None, 0));
}

/// Returns the models of the indexes.
async fn models(db: &Database) -> Vec<Option<String>> {
    let mut models = Vec::new();
    for index in IndexName::ALL {
        models.push(db.find_index_model(*index).await.unwrap().model);
    }
    models
}

async fn concurrent_changes_of_the_model_leave_one_in_all_indexes(db: Database) {
    let stores = [db.store.clone(), db.another_store()];
    // No index has a model at first.
    for round in 0..10 {
        let change = |n: usize| {
            let (store, model) = (stores[n % 2].clone(), ["first", "second", "third"][n % 3]);
            tokio::spawn(async move { store.use_model(Some(model.to_owned())).await })
        };
        let changes: Vec<_> = (0..6).map(change).collect();
        for change in changes {
            change.await.unwrap().unwrap();
        }
        let used = models(&db).await;
        assert!(used[0].is_some() && used.iter().all(|model| *model == used[0]), "{round}: {used:?}");
    }
}

async fn model_changes_in_all_indexes_at_a_time(db: Database) {
    // SQLite has one writer at a time.
    let Place::Postgres(url) = &db.place else { return };
    db.use_model(Some("used".to_owned())).await.unwrap();
    for held in IndexName::ALL {
        let (holding, observer) = (connect(url).await, connect(url).await);
        let hold = format!("BEGIN; SELECT 1 FROM index_models WHERE index_name = '{}' FOR UPDATE", held.as_str());
        holding.batch_execute(&hold).await.unwrap();
        let (store, model) = (db.store.clone(), held.as_str());
        let before = models(&db).await;
        let changing = tokio::spawn(async move { store.use_model(Some(model.to_owned())).await });
        until_a_query_waits(&observer).await;
        assert_eq!(models(&db).await, before);
        holding.batch_execute("COMMIT").await.unwrap();
        changing.await.unwrap().unwrap();
        assert!(models(&db).await.iter().all(|used| used.as_deref() == Some(model)));
    }
}

async fn index_of_another_model_keeps_its_jobs(db: Database) {
    let new = pages(&db, 1).await.remove(0);
    db.use_model(Some("used".to_owned())).await.unwrap();
    enqueue(&db, IndexName::Web, vec![new.document.doc_id]).await;
    let entries = db.count_outbox(IndexName::Web).await.unwrap();
    let complete = || vec![vectors(&new, 1, EmbeddingProgress::Complete)];
    db.store_vectors(MODEL.to_owned(), complete(), String::new(), NOW).await.unwrap();
    assert_eq!(db.count_embedding_jobs().await.unwrap(), 1);
    assert_eq!(db.count_outbox(IndexName::Web).await.unwrap(), entries);
    db.store_vectors("used".to_owned(), complete(), String::new(), NOW).await.unwrap();
    assert_eq!(db.count_embedding_jobs().await.unwrap(), 0);
    assert_eq!(db.count_outbox(IndexName::Web).await.unwrap(), entries + 1);
}

/// Instances with and without a model may feed one index while their settings change.
async fn index_without_a_model_has_no_jobs(db: Database) {
    let doc_id = pages(&db, 1).await[0].document.doc_id;
    let feed = async || {
        let generation = uuid::Uuid::new_v4().into();
        db.complete_generation(IndexName::Web, generation, Vec::new(), Vec::new(), vec![doc_id], NOW).await.unwrap();
        db.count_embedding_jobs().await.unwrap()
    };
    let use_model = async |model: Option<&'static str>| {
        db.use_model(model.map(str::to_owned)).await.unwrap();
        db.count_embedding_jobs().await.unwrap()
    };
    assert_eq!(feed().await, 0, "it never had a model");
    assert_eq!((use_model(Some(MODEL)).await, feed().await), (0, 1));
    assert_eq!((use_model(None).await, feed().await), (0, 0));
    // An earlier build left a job.
    assert_eq!((use_model(Some(MODEL)).await, feed().await), (0, 1));
    db.execute("UPDATE index_models SET model = NULL").await;
    assert_eq!(use_model(None).await, 0);
}

async fn settled_jobs_end_unless_their_documents_changed(db: Database) {
    let pages = pages(&db, 3).await;
    let ids: Vec<DocId> = pages.iter().map(|new| new.document.doc_id).collect();
    db.use_model(Some("another".to_owned())).await.unwrap();
    enqueue(&db, IndexName::Web, ids.clone()).await;
    let complete = pages[..2].iter().map(|new| vectors(new, 1, EmbeddingProgress::Complete)).collect();
    db.store_vectors(MODEL.to_owned(), complete, String::new(), NOW).await.unwrap();
    saved(&db, vec![page("https://example.com/1", "a changed page")]).await;
    let settle = async || db.settle_embedding_jobs(ids.clone(), MODEL.to_owned()).await.unwrap();
    assert_eq!(settle().await, 0);
    assert_eq!(db.count_embedding_jobs().await.unwrap(), 3, "the other model has embedded none of them");
    db.use_model(Some(MODEL.to_owned())).await.unwrap();
    assert_eq!(settle().await, 1);
    assert_eq!(sorted(claim(&db, "worker", None, 10).await), sorted(ids[1..].to_vec()));
}

async fn job_of_a_document_without_its_capture_ends(db: Database) {
    let ids: Vec<DocId> = pages(&db, 2).await.iter().map(|new| new.document.doc_id).collect();
    enqueue(&db, IndexName::Web, ids.clone()).await;
    let lost = db.list_unembedded(IndexName::Web, MODEL.to_owned(), None, 1).await.unwrap();
    let first = if db.is_sqlite() { format!("x'{}'", lost[0].0.simple()) } else { format!("'{}'", lost[0].0) };
    db.execute(&format!("DELETE FROM captures WHERE doc_id = {first}")).await;
    assert_eq!(db.settle_embedding_jobs(ids.clone(), MODEL.to_owned()).await.unwrap(), 1);
    let left: Vec<DocId> = ids.into_iter().filter(|doc_id| *doc_id != lost[0]).collect();
    assert_eq!(claim(&db, "worker", None, 10).await, left);
    assert_eq!(db.count_unembedded(IndexName::Web, MODEL.to_owned()).await.unwrap(), 1, "nothing to fill in");
    assert_eq!(db.list_unembedded(IndexName::Web, MODEL.to_owned(), None, 10).await.unwrap(), left);
}

async fn vectors_stored_during_a_change_of_the_model_reach_the_index(db: Database) {
    // SQLite has one writer at a time.
    let Place::Postgres(url) = &db.place else { return };
    let new = pages(&db, 1).await.remove(0);
    db.use_model(Some("another".to_owned())).await.unwrap();
    enqueue(&db, IndexName::Web, vec![new.document.doc_id]).await;
    let entries = db.count_outbox(IndexName::Web).await.unwrap();
    let (changing, observer) = (connect(url).await, connect(url).await);
    let change = format!("BEGIN; UPDATE index_models SET model = '{MODEL}', queued_to = NULL, queued = FALSE");
    changing.batch_execute(&change).await.unwrap();
    let store = db.store.clone();
    let complete = vec![vectors(&new, 1, EmbeddingProgress::Complete)];
    let storing =
        tokio::spawn(async move { store.store_vectors(MODEL.to_owned(), complete, String::new(), NOW).await });
    until_a_query_waits(&observer).await;
    changing.batch_execute("COMMIT").await.unwrap();
    storing.await.unwrap().unwrap();
    assert_eq!(db.count_embedding_jobs().await.unwrap(), 0);
    assert_eq!(db.count_outbox(IndexName::Web).await.unwrap(), entries + 1);
}

async fn jobs_settled_during_a_change_of_the_model_stay(db: Database) {
    let Place::Postgres(url) = &db.place else { return };
    let new = pages(&db, 1).await.remove(0);
    let doc_id = new.document.doc_id;
    db.use_model(Some(MODEL.to_owned())).await.unwrap();
    let complete = vec![vectors(&new, 1, EmbeddingProgress::Complete)];
    db.store_vectors(MODEL.to_owned(), complete, String::new(), NOW).await.unwrap();
    enqueue(&db, IndexName::Web, vec![doc_id]).await;
    let (changing, observer) = (connect(url).await, connect(url).await);
    let change = "BEGIN; UPDATE index_models SET model = 'another', queued_to = NULL, queued = FALSE";
    changing.batch_execute(change).await.unwrap();
    let store = db.store.clone();
    let settling = tokio::spawn(async move { store.settle_embedding_jobs(vec![doc_id], MODEL.to_owned()).await });
    until_a_query_waits(&observer).await;
    changing.batch_execute("COMMIT").await.unwrap();
    settling.await.unwrap().unwrap();
    assert_eq!(db.count_embedding_jobs().await.unwrap(), 1, "the other model has not embedded it");
}

async fn calibrations_are_those_of_a_model_and_its_texts(db: Database) {
    let calibration = |version, meaning| {
        let by_language = format!("en={meaning} de=0.5");
        ModelCalibration { model: MODEL.to_owned(), version, meaning, repetition: 0.25, by_language }
    };
    for (version, meaning) in [(1, 7.125), (2, 5.5), (1, 3.0)] {
        db.store_calibration(calibration(version, meaning)).await.unwrap();
    }
    let found = async |model: &str, version| db.find_calibration(model.to_owned(), version).await.unwrap();
    assert_eq!(found(MODEL, 1).await, Some(calibration(1, 7.125)), "the first of two processes wins");
    assert_eq!(found(MODEL, 2).await, Some(calibration(2, 5.5)));
    assert_eq!((found(MODEL, 3).await, found("other", 1).await), (None, None));
}
