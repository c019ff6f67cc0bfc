//! Vectors of passages: whose they are, and when they go.

use docstore::{CaptureVectors, EmbeddingProgress, Grant, NewDocument, NewVectors, PassageVector, StoreError};
use model::{CaptureId, DocId, IndexName, OrganizationId};

use crate::support::{Database, NOW, at, new_organization, page, workspace_document};

on_both_backends!(
    vectors_are_loaded_by_model_and_reader,
    replaced_capture_hands_its_vectors_over,
    kept_capture_keeps_its_vectors,
    purged_document_loses_its_vectors_and_its_job,
    new_title_calls_for_new_vectors,
    incomplete_vectors_do_not_replace_complete_ones,
    vectors_of_a_capture_that_was_replaced_meanwhile_serve_the_new_one,
    vectors_with_a_title_that_changed_meanwhile_are_incomplete,
    damaged_vectors_are_skipped,
    damaged_vectors_are_replaced_by_incomplete_ones,
    capture_sees_its_own_vectors_first,
    only_the_owner_reuses_vectors,
    vectors_that_cannot_be_stored_are_an_error,
    vectors_of_other_models_are_pruned,
);

const MODEL: &str = "model";
const COMPLETE: EmbeddingProgress = EmbeddingProgress::Complete;
const PARTIAL: EmbeddingProgress = EmbeddingProgress::Partial { attempts: 0, not_before: NOW };

/// Returns vectors of a document, which have this first component.
pub fn vectors(new: &NewDocument, first: i8, progress: EmbeddingProgress) -> NewVectors {
    let passage = |ordinal: u32| PassageVector {
        ordinal,
        digest: [first.cast_unsigned(); 16],
        codes: vec![first, 2, 3].into_boxed_slice(),
    };
    NewVectors {
        doc_id: new.document.doc_id,
        title: new.document.title.clone(),
        capture_id: new.capture.capture_id,
        content_digest: new.capture.content_digest.clone(),
        passages: vec![passage(0), passage(3)],
        progress,
    }
}

async fn store(db: &Database, model: &str, new: NewVectors) {
    db.store_vectors(model.to_owned(), vec![new], "worker".to_owned(), NOW).await.unwrap();
}

async fn save(db: &Database, new: &NewDocument) {
    db.save_documents(vec![new.clone()], at(1)).await.unwrap();
}

/// Stores a document with vectors.
async fn embedded(db: &Database, new: NewDocument) -> NewDocument {
    save(db, &new).await;
    store(db, MODEL, vectors(&new, 1, COMPLETE)).await;
    new
}

async fn listed(db: &Database, capture_id: CaptureId) -> Vec<CaptureVectors> {
    db.list_vectors(vec![capture_id], MODEL.to_owned()).await.unwrap()
}

async fn reusable(db: &Database, new: &NewDocument) -> Vec<CaptureVectors> {
    db.find_reusable_vectors(new.capture.capture_id, MODEL.to_owned()).await.unwrap()
}

async fn vectors_are_loaded_by_model_and_reader(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let web = embedded(&db, page("https://example.com/", "a page")).await;
    let own = embedded(&db, workspace_document(ours, "a.md", "a file")).await;
    let partial = workspace_document(ours, "b.md", "another file");
    save(&db, &partial).await;
    store(&db, MODEL, vectors(&partial, 1, PARTIAL)).await;
    let ids: Vec<CaptureId> = [&web, &own, &partial].map(|new| new.capture.capture_id).to_vec();
    let load = async |reader: OrganizationId, model: &str| {
        let mut loaded = db.load_vectors(reader, ids.clone(), model.to_owned()).await.unwrap();
        loaded.sort_by_key(|vectors| vectors.capture_id);
        loaded
    };
    let expected = |new: &NewDocument| CaptureVectors {
        capture_id: new.capture.capture_id,
        passages: vectors(new, 1, COMPLETE).passages,
        complete: true,
    };
    let mut both = vec![expected(&web), expected(&own)];
    both.sort_by_key(|vectors| vectors.capture_id);
    assert_eq!(load(ours, MODEL).await, both);
    assert_eq!(load(theirs, MODEL).await, [expected(&web)]);
    assert_eq!(load(ours, "other").await, []);
    assert_eq!(listed(&db, own.capture.capture_id).await, [expected(&own)]);
}

async fn replaced_capture_hands_its_vectors_over(db: Database) {
    let old = embedded(&db, page("https://example.com/", "a page")).await;
    for content in ["a changed page", "a page that changed again"] {
        let new = page("https://example.com/", content);
        save(&db, &new).await;
        assert_eq!(listed(&db, new.capture.capture_id).await, []);
        let found = reusable(&db, &new).await;
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].capture_id, found[0].complete), (new.capture.capture_id, false));
        assert_eq!(found[0].passages, vectors(&old, 1, COMPLETE).passages);
    }
    assert_eq!((db.count("captures").await, db.count("capture_vectors").await), (1, 1));
}

async fn kept_capture_keeps_its_vectors(db: Database) {
    let organization_id = new_organization(&db).await;
    let old = embedded(&db, page("https://example.com/", "a page")).await;
    let (doc_id, capture_id) = (old.document.doc_id, old.capture.capture_id);
    let grant = Grant { organization_id, doc_id, granted_at: NOW, capture_id: Some(capture_id) };
    db.grant_document(grant).await.unwrap();
    let new = page("https://example.com/", "a changed page");
    save(&db, &new).await;
    assert_eq!(listed(&db, capture_id).await.len(), 1);
    let found = reusable(&db, &new).await;
    assert_eq!((found.len(), found[0].capture_id), (1, capture_id));
    // The title may have changed meanwhile.
    save(&db, &page("https://example.com/", "a page")).await;
    assert_eq!(listed(&db, capture_id).await, []);
    assert_eq!(reusable(&db, &old).await.len(), 1);
    db.prune_captures(at(10), at(10), 10).await.unwrap();
    assert_eq!(db.count("capture_vectors").await, 1);
}

async fn purged_document_loses_its_vectors_and_its_job(db: Database) {
    let organization_id = new_organization(&db).await;
    let own = embedded(&db, workspace_document(organization_id, "a.md", "a file")).await;
    enqueue(&db, IndexName::Workspace, vec![own.document.doc_id]).await;
    assert_eq!((db.count("capture_vectors").await, db.count_embedding_jobs().await.unwrap()), (1, 1));
    db.purge_workspace(organization_id, 10, NOW).await.unwrap();
    assert_eq!((db.count("capture_vectors").await, db.count_embedding_jobs().await.unwrap()), (0, 0));
    // The feeder and the worker are late.
    enqueue(&db, IndexName::Workspace, vec![own.document.doc_id]).await;
    store(&db, MODEL, vectors(&own, 1, COMPLETE)).await;
    assert_eq!((db.count("capture_vectors").await, db.count_embedding_jobs().await.unwrap()), (0, 0));
}

/// Enqueues documents as the feeder does. Indexes without a model get one.
pub async fn enqueue(db: &Database, index: IndexName, doc_ids: Vec<DocId>) {
    if db.find_index_model(index).await.unwrap().model.is_none() {
        db.use_model(Some(MODEL.to_owned())).await.unwrap();
    }
    let generation = uuid::Uuid::new_v4().into();
    db.complete_generation(index, generation, Vec::new(), Vec::new(), doc_ids, NOW).await.unwrap();
}

async fn new_title_calls_for_new_vectors(db: Database) {
    let old = embedded(&db, page("https://example.com/", "a page")).await;
    let capture_id = old.capture.capture_id;
    let mut labelled = page("https://example.com/", "a page");
    labelled.document.description = Some("New".to_owned());
    save(&db, &labelled).await;
    assert_eq!(listed(&db, capture_id).await.len(), 1);
    let mut renamed = page("https://example.com/", "a page");
    renamed.document.title = Some("New".to_owned());
    save(&db, &renamed).await;
    assert_eq!(listed(&db, capture_id).await, []);
    assert_eq!(reusable(&db, &old).await.len(), 1);
}

async fn incomplete_vectors_do_not_replace_complete_ones(db: Database) {
    let new = page("https://example.com/", "a page");
    save(&db, &new).await;
    let first = async || reusable(&db, &new).await[0].passages[0].codes[0];
    for (value, progress, expected) in
        [(1, PARTIAL, 1), (2, PARTIAL, 2), (3, COMPLETE, 3), (4, PARTIAL, 3), (5, COMPLETE, 5)]
    {
        store(&db, MODEL, vectors(&new, value, progress)).await;
        assert_eq!(first().await, expected);
    }
}

async fn vectors_of_a_capture_that_was_replaced_meanwhile_serve_the_new_one(db: Database) {
    let old = page("https://example.com/", "a page");
    let new = page("https://example.com/", "a changed page");
    db.use_model(Some(MODEL.to_owned())).await.unwrap();
    save(&db, &old).await;
    enqueue(&db, IndexName::Web, vec![old.document.doc_id]).await;
    let entries = db.count_outbox(IndexName::Web).await.unwrap();
    let claimed = db.claim_embedding_jobs("worker".to_owned(), None, NOW, at(9), 10).await.unwrap();
    assert_eq!(claimed.len(), 1);
    save(&db, &new).await;
    store(&db, MODEL, vectors(&old, 1, COMPLETE)).await;
    assert_eq!(listed(&db, new.capture.capture_id).await, []);
    assert_eq!(reusable(&db, &new).await.len(), 1);
    // The job goes on with the new capture.
    assert_eq!(db.claim_embedding_jobs("worker".to_owned(), None, NOW, at(9), 10).await.unwrap().len(), 1);
    assert_eq!(db.count_outbox(IndexName::Web).await.unwrap(), entries + 1, "that of the change");
    store(&db, MODEL, vectors(&new, 2, COMPLETE)).await;
    assert_eq!(listed(&db, new.capture.capture_id).await.len(), 1);
    assert_eq!(db.count_embedding_jobs().await.unwrap(), 0);
    assert_eq!(db.count_outbox(IndexName::Web).await.unwrap(), entries + 2);
}

async fn vectors_with_a_title_that_changed_meanwhile_are_incomplete(db: Database) {
    let old = page("https://example.com/", "a page");
    db.use_model(Some(MODEL.to_owned())).await.unwrap();
    save(&db, &old).await;
    enqueue(&db, IndexName::Web, vec![old.document.doc_id]).await;
    let claim = async || db.claim_embedding_jobs("worker".to_owned(), None, NOW, at(9), 10).await.unwrap();
    assert_eq!(claim().await.len(), 1);
    let mut renamed = old.clone();
    renamed.document.title = Some("New".to_owned());
    save(&db, &renamed).await;
    store(&db, MODEL, vectors(&old, 1, EmbeddingProgress::Partial { attempts: 2, not_before: at(50) })).await;
    let left = claim().await;
    assert_eq!(left.iter().map(|job| job.attempts).collect::<Vec<_>>(), [0], "a text of the new title may be accepted");
    store(&db, MODEL, vectors(&old, 1, COMPLETE)).await;
    assert_eq!(listed(&db, old.capture.capture_id).await, []);
    assert_eq!(claim().await.len(), 1);
    let mut renamed = vectors(&renamed, 2, COMPLETE);
    renamed.capture_id = old.capture.capture_id;
    store(&db, MODEL, renamed).await;
    assert_eq!(listed(&db, old.capture.capture_id).await.len(), 1);
    assert_eq!(db.count_embedding_jobs().await.unwrap(), 0);
}

/// Overwrites all stored vectors.
async fn damage(db: &Database, hex: &str) {
    let literal = if db.is_sqlite() { format!("x'{hex}'") } else { format!("'\\x{hex}'::bytea") };
    db.execute(&format!("UPDATE capture_vectors SET passages = {literal}")).await;
}

async fn damaged_vectors_are_skipped(db: Database) {
    let new = embedded(&db, page("https://example.com/", "a page")).await;
    for hex in ["", "01", "02030000", "010300", "01ffff00000000", "0100000000000000"] {
        damage(&db, hex).await;
        let is_empty = hex == "010300";
        let expected = usize::from(is_empty);
        assert_eq!(listed(&db, new.capture.capture_id).await.len(), expected, "{hex}");
        assert_eq!(reusable(&db, &new).await.len(), expected, "{hex}");
    }
    store(&db, MODEL, vectors(&new, 1, COMPLETE)).await;
    assert_eq!(listed(&db, new.capture.capture_id).await.len(), 1);
}

async fn damaged_vectors_are_replaced_by_incomplete_ones(db: Database) {
    let new = embedded(&db, page("https://example.com/", "a page")).await;
    damage(&db, "00").await;
    for value in [2, 3] {
        store(&db, MODEL, vectors(&new, value, PARTIAL)).await;
        let found = reusable(&db, &new).await;
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].complete, found[0].passages[0].codes[0]), (false, value));
    }
    assert_eq!(db.count("capture_vectors").await, 1);
}

async fn capture_sees_its_own_vectors_first(db: Database) {
    let organization_id = new_organization(&db).await;
    // Captures of a clock that was ahead, kept as evidence: more than are looked at.
    for n in 0..5 {
        let mut ahead = page("https://example.com/", &format!("content {n}"));
        ahead.capture.captured_at = at(1_000 + n);
        let ahead = embedded(&db, ahead).await;
        let (doc_id, capture_id) = (ahead.document.doc_id, Some(ahead.capture.capture_id));
        db.grant_document(Grant { organization_id, doc_id, granted_at: NOW, capture_id }).await.unwrap();
    }
    let own = page("https://example.com/", "the latest content");
    save(&db, &own).await;
    assert_eq!(db.count("capture_vectors").await, 5);
    store(&db, MODEL, vectors(&own, 7, PARTIAL)).await;
    let found: Vec<CaptureId> = reusable(&db, &own).await.iter().map(|vectors| vectors.capture_id).collect();
    assert_eq!((found.len(), found[0]), (4, own.capture.capture_id));
}

async fn only_the_owner_reuses_vectors(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let content = "the same content";
    let own = embedded(&db, workspace_document(ours, "a.md", content)).await;
    let copies = [
        workspace_document(ours, "b.md", content),
        workspace_document(theirs, "a.md", content),
        page("https://example.com/", content),
    ];
    let mut found = Vec::new();
    for copy in &copies {
        save(&db, copy).await;
        found.push(reusable(&db, copy).await.iter().map(|vectors| vectors.capture_id).collect::<Vec<_>>());
    }
    assert_eq!(found, [vec![own.capture.capture_id], vec![], vec![]]);
}

async fn vectors_that_cannot_be_stored_are_an_error(db: Database) {
    let new = page("https://example.com/", "a page");
    save(&db, &new).await;
    let [mut long, mut mixed] = [(); 2].map(|()| vectors(&new, 1, COMPLETE));
    long.passages.iter_mut().for_each(|passage| passage.codes = vec![1; 70_000].into_boxed_slice());
    mixed.passages[1].codes = vec![1; 4].into_boxed_slice();
    for unstorable in [long, mixed] {
        let outcome = db.store_vectors(MODEL.to_owned(), vec![unstorable], "worker".to_owned(), NOW).await;
        assert!(matches!(outcome, Err(StoreError::Query(_))), "{outcome:?}");
    }
    assert_eq!(listed(&db, new.capture.capture_id).await, []);
}

async fn vectors_of_other_models_are_pruned(db: Database) {
    for n in 0..5 {
        let new = embedded(&db, page(&format!("https://example.com/{n}"), "a page")).await;
        store(&db, "old", vectors(&new, 1, COMPLETE)).await;
    }
    assert_eq!(db.count_vectors().await.unwrap(), [(MODEL.to_owned(), 5), ("old".to_owned(), 5)]);
    let (mut after, mut pruned) = (None, 0);
    loop {
        let (deleted, last) = db.prune_vectors(vec![MODEL.to_owned()], after, 3).await.unwrap();
        pruned += deleted;
        after = last;
        if last.is_none() {
            break;
        }
    }
    assert_eq!((pruned, db.count_vectors().await.unwrap()), (5, vec![(MODEL.to_owned(), 5)]));
}
