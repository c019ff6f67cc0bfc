//! Files registered for upload.

use docstore::{File, IndexRun, Registration, StorageQuotas, StoreError, Strings, Withdrawal};
use model::{FileOutcome, IndexName, OrganizationId, RunMode};
use uuid::Uuid;

use crate::support::{Database, NOW, at, documents_in, new_organization, workspace_document};

on_both_backends!(
    registering_again_renews_upload_and_keeps_state,
    files_are_listed_in_key_order,
    files_are_listed_in_order_of_names,
    labels_are_kept_replaced_and_cleared,
    changed_labels_reach_the_document,
    another_name_of_the_same_file_is_reported,
    files_are_isolated_by_organization,
    deleted_files_are_gone,
    file_that_was_registered_again_is_not_deleted,
    large_deletion_of_files_succeeds,
    withdrawn_file_is_restored_by_new_upload,
    upload_in_the_second_of_a_deletion_is_known_by_its_etag,
    uploads_are_known,
);

fn file(organization_id: OrganizationId, object_key: &str) -> File {
    File {
        content_type: Some("text/markdown".to_owned()),
        ..File::registered(
            object_key.to_owned(),
            organization_id,
            format!("{object_key}.md"),
            Uuid::new_v4().into(),
            NOW,
        )
    }
}

async fn keys_in_pages(db: &Database, organization_id: OrganizationId, limit: i64) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    loop {
        let page = db.list_files(organization_id, keys.last().cloned(), limit).await.unwrap();
        if page.is_empty() {
            return keys;
        }
        keys.extend(page.into_iter().map(|file| file.object_key));
    }
}

async fn registering_again_renews_upload_and_keeps_state(db: Database) {
    let ours = new_organization(&db).await;
    let mut first = file(ours, "a");
    first.processed_etag = Some("etag".to_owned());
    first.outcome = Some(FileOutcome::Indexed);
    db.register_file(first.clone(), StorageQuotas::NONE).await.unwrap();
    let mut again = file(ours, "a");
    again.created_at = at(1);
    again.content_type = None;
    db.register_file(again, StorageQuotas::NONE).await.unwrap();
    let found = db.find_file(ours, "a".to_owned()).await.unwrap().unwrap();
    assert_eq!((found.created_at, found.content_type), (at(1), None));
    assert_eq!(
        (found.processed_etag, found.outcome, found.doc_id),
        (first.processed_etag, first.outcome, first.doc_id)
    );
    assert_eq!(db.find_storage_totals(ours).await.unwrap().files, 1);
}

async fn files_are_listed_in_key_order(db: Database) {
    let ours = new_organization(&db).await;
    // Byte order, regardless of the database's locale: upper before lower case, accents and other scripts last.
    let keys =
        ["", " a", "-", "B", "Z", "_", "a", "a/b", "a b", "ab", "b", "é", "ß", "Ωmega", "日本", "\u{FFFD}", "🦀"];
    let mut expected: Vec<String> = keys.iter().map(|key| format!("{ours}/{key}")).collect();
    for key in &expected {
        db.register_file(file(ours, key), StorageQuotas::NONE).await.unwrap();
    }
    expected.sort_unstable();
    assert_eq!(keys_in_pages(&db, ours, 100).await, expected);
    assert_eq!(keys_in_pages(&db, ours, 4).await, expected);
    assert_eq!(keys_in_pages(&db, ours, 1).await, expected);
    // The `after` key need not exist.
    let after = db.list_files(ours, Some(format!("{ours}/aa")), 1).await.unwrap();
    assert_eq!(after[0].object_key, format!("{ours}/ab"));
}

async fn files_are_isolated_by_organization(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    db.register_file(file(ours, "a"), StorageQuotas::NONE).await.unwrap();
    assert!(db.find_file(theirs, "a".to_owned()).await.unwrap().is_none());
    assert!(db.list_files(theirs, None, 10).await.unwrap().is_empty());
    assert_eq!(db.find_storage_totals(theirs).await.unwrap().files, 0);
    db.delete_files(theirs, vec!["a".to_owned()], at(1)).await.unwrap();
    let mut taken = file(theirs, "a");
    taken.content_type = Some("text/html".to_owned());
    assert!(matches!(db.register_file(taken, StorageQuotas::NONE).await, Err(StoreError::Conflict)));
    let found = db.find_file(ours, "a".to_owned()).await.unwrap().unwrap();
    assert_eq!(found.content_type.as_deref(), Some("text/markdown"));
}

async fn deleted_files_are_gone(db: Database) {
    let ours = new_organization(&db).await;
    for key in ["a", "b", "c"] {
        db.register_file(file(ours, key), StorageQuotas::NONE).await.unwrap();
    }
    db.delete_files(ours, vec!["a".to_owned(), "c".to_owned(), "unknown".to_owned()], at(1)).await.unwrap();
    db.delete_files(ours, vec![], at(1)).await.unwrap();
    assert_eq!(keys_in_pages(&db, ours, 10).await, ["b"]);
    assert_eq!(db.find_storage_totals(ours).await.unwrap().files, 1);
}

async fn file_that_was_registered_again_is_not_deleted(db: Database) {
    let ours = new_organization(&db).await;
    for (key, registrations) in [("stale", 1), ("again", 2)] {
        for time in 0..registrations {
            db.register_file(File { created_at: at(time), ..file(ours, key) }, StorageQuotas::NONE).await.unwrap();
        }
    }
    db.delete_files(ours, vec!["stale".to_owned(), "again".to_owned()], at(1)).await.unwrap();
    assert_eq!(keys_in_pages(&db, ours, 10).await, ["again"]);
    assert_eq!(db.find_storage_totals(ours).await.unwrap().files, 1);
}

async fn large_deletion_of_files_succeeds(db: Database) {
    let ours = new_organization(&db).await;
    db.register_file(file(ours, "69999"), StorageQuotas::NONE).await.unwrap();
    db.register_file(file(ours, "kept"), StorageQuotas::NONE).await.unwrap();
    let stale = (0..70_000).map(|n| n.to_string()).collect();
    db.delete_files(ours, stale, at(1)).await.unwrap();
    assert_eq!(keys_in_pages(&db, ours, 10).await, ["kept"]);
}

async fn withdrawn_file_is_restored_by_new_upload(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    db.register_file(file(ours, "new"), StorageQuotas::NONE).await.unwrap();
    let mut indexed = file(ours, "indexed");
    indexed.outcome = Some(FileOutcome::Indexed);
    indexed.processed_etag = Some("etag".to_owned());
    indexed.last_run_id = Some(Uuid::new_v4().into());
    db.register_file(indexed, StorageQuotas::NONE).await.unwrap();
    let run =
        |organization: OrganizationId| IndexRun::queued(Uuid::new_v4().into(), organization, RunMode::Incremental, NOW);

    assert_eq!(db.withdraw_file(theirs, "indexed".to_owned(), run(theirs), NOW).await.unwrap(), None);
    assert_eq!(db.withdraw_file(ours, "unknown".to_owned(), run(ours), NOW).await.unwrap(), None);
    assert!(db.find_file(ours, "indexed".to_owned()).await.unwrap().unwrap().withdrawn_at.is_none());

    // A run may be reading the file that none has processed yet.
    let queued = run(ours);
    let outcome = db.withdraw_file(ours, "new".to_owned(), queued.clone(), NOW).await.unwrap();
    assert_eq!(outcome, Some(Withdrawal { hidden: false, queued: true, earlier: None }));
    assert!(db.find_run(ours, queued.sync_id).await.unwrap().is_some());
    let outcome = db.withdraw_file(ours, "indexed".to_owned(), run(ours), NOW).await.unwrap();
    assert_eq!(outcome, Some(Withdrawal { hidden: false, queued: true, earlier: None }));

    // A repeated deletion knows of the first one, whose run is still queued.
    for name in ["new", "indexed"] {
        let outcome = db.withdraw_file(ours, name.to_owned(), run(ours), NOW).await.unwrap();
        assert_eq!(outcome, Some(Withdrawal { hidden: false, queued: false, earlier: Some(NOW) }));
    }
    assert_eq!(
        (db.has_unfinished_run(ours).await.unwrap(), db.has_unfinished_run(theirs).await.unwrap()),
        (true, false)
    );
    assert_eq!(db.count("index_runs").await, 1);

    let found = db.find_file(ours, "indexed".to_owned()).await.unwrap().unwrap();
    assert_eq!((found.processed_etag.as_deref(), found.outcome), (None, None));
    assert!(found.is_withdrawn(NOW, "etag") && !found.is_withdrawn(at(1), "etag"));
    db.register_file(file(ours, "indexed"), StorageQuotas::NONE).await.unwrap();
    let found = db.find_file(ours, "indexed".to_owned()).await.unwrap().unwrap();
    assert!(!found.is_withdrawn(NOW, "etag"));
    assert_eq!(found.last_run_id, None, "no run has read the new upload");
}

async fn files_are_listed_in_order_of_names(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    // The order of keys is another one.
    let mut names = ["b", "B", "a b", "é", "日本", "🦀", "_", "\u{FFFD}"].map(str::to_owned);
    for (key, name) in names.iter().enumerate() {
        let named = File { name: name.clone(), ..file(ours, &format!("{ours}/{key}")) };
        db.register_file(named, StorageQuotas::NONE).await.unwrap();
    }
    db.register_file(file(theirs, "theirs"), StorageQuotas::NONE).await.unwrap();
    names.sort_unstable();
    for limit in [1, 3, 100] {
        let mut listed: Vec<String> = Vec::new();
        loop {
            let page = db.list_files_by_name(ours, listed.last().cloned(), limit).await.unwrap();
            if page.is_empty() {
                break;
            }
            listed.extend(page.into_iter().map(|file| file.name));
        }
        assert_eq!(listed, names);
    }
}

fn labels(labels: &[&str]) -> Option<Strings> {
    Some(Strings(labels.iter().map(|label| (*label).to_owned()).collect()))
}

async fn labels_are_kept_replaced_and_cleared(db: Database) {
    let ours = new_organization(&db).await;
    let stored = async || db.find_file(ours, "a".to_owned()).await.unwrap().unwrap().labels().to_vec();
    for (given, expected) in
        [(labels(&["x", "y"]), &["x", "y"][..]), (None, &["x", "y"]), (labels(&["z"]), &["z"]), (labels(&[]), &[])]
    {
        db.register_file(File { labels: given, ..file(ours, "a") }, StorageQuotas::NONE).await.unwrap();
        assert_eq!(stored().await, expected);
    }
    // A later file of this name starts without the labels of the deleted one.
    db.register_file(File { labels: labels(&["x"]), ..file(ours, "a") }, StorageQuotas::NONE).await.unwrap();
    let run = IndexRun::queued(Uuid::new_v4().into(), ours, RunMode::Incremental, NOW);
    db.withdraw_file(ours, "a".to_owned(), run, at(1)).await.unwrap();
    db.register_file(file(ours, "a"), StorageQuotas::NONE).await.unwrap();
    assert!(stored().await.is_empty());
}

async fn changed_labels_reach_the_document(db: Database) {
    let ours = new_organization(&db).await;
    let new = workspace_document(ours, "a", "some text");
    let doc_id = new.document.doc_id;
    let of_content = new.document.labels.0.clone();
    db.save_documents(vec![new], NOW).await.unwrap();
    let pending = async || db.pending_outbox(IndexName::Workspace, 100).await.unwrap().entries;
    db.complete_outbox(pending().await.iter().map(|entry| entry.id).collect()).await.unwrap();
    for (given, expected, queued) in [
        (labels(&["x", "y"]), &["x", "y"][..], 0),
        // The first registration of the file knows nothing of its document.
        (labels(&["y"]), &["y"], 1),
        (labels(&["y"]), &["y"], 0),
        (None, &["y"], 0),
        (labels(&[]), &[], 1),
    ] {
        db.register_file(File { doc_id, labels: given, ..file(ours, "a") }, StorageQuotas::NONE).await.unwrap();
        let entries = pending().await;
        assert_eq!(documents_in(&entries), vec![doc_id; queued]);
        db.complete_outbox(entries.iter().map(|entry| entry.id).collect()).await.unwrap();
        if queued > 0 {
            let document = db.load_for_indexing(vec![doc_id]).await.unwrap().remove(0).0;
            let all: Vec<&str> = of_content.iter().map(String::as_str).chain(expected.iter().copied()).collect();
            assert_eq!(document.labels.0, all);
        }
    }
}

async fn another_name_of_the_same_file_is_reported(db: Database) {
    let ours = new_organization(&db).await;
    let register = async |original: &str, expires| {
        let named =
            File { original_name: Some(original.to_owned()), upload_expires_at: Some(at(expires)), ..file(ours, "a") };
        match db.register_file(named, StorageQuotas::NONE).await.unwrap() {
            Registration::Registered { replaced } => {
                replaced.map(|replaced| (replaced.original_name, replaced.upload_expires_at))
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(register("/a", 1).await, None);
    assert_eq!(register("/a", 2).await, None);
    assert_eq!(register("a", 3).await, Some(("/a".to_owned(), Some(at(2)))));
    let run = IndexRun::queued(Uuid::new_v4().into(), ours, RunMode::Incremental, NOW);
    db.withdraw_file(ours, "a".to_owned(), run, at(4)).await.unwrap();
    assert_eq!(register("/a", 5).await, None, "a deleted file is not replaced");
}

/// Storage states the times of objects in whole seconds.
async fn upload_in_the_second_of_a_deletion_is_known_by_its_etag(db: Database) {
    let ours = new_organization(&db).await;
    db.register_file(file(ours, "a"), StorageQuotas::NONE).await.unwrap();
    let withdraw = async |now| {
        let run = IndexRun::queued(Uuid::new_v4().into(), ours, RunMode::Incremental, now);
        db.withdraw_file(ours, "a".to_owned(), run, now).await.unwrap().unwrap();
        db.find_file(ours, "a".to_owned()).await.unwrap().unwrap()
    };
    assert!(withdraw(at(700)).await.is_withdrawn(NOW, "new"), "no ETag is known");
    let record = async |now, etag: Option<&str>| {
        db.record_deleted_object(ours, "a".to_owned(), now, etag.map(str::to_owned)).await.unwrap();
        db.find_file(ours, "a".to_owned()).await.unwrap().unwrap()
    };
    let found = record(at(700), Some("old")).await;
    assert!(found.is_withdrawn(NOW, "old") && !found.is_withdrawn(NOW, "new"));
    assert!(found.is_withdrawn(at(-1_000), "new"), "an earlier second");
    assert!(withdraw(at(800)).await.is_withdrawn(NOW, "new"), "the ETag is that of another deletion");
    assert!(record(at(700), Some("old")).await.is_withdrawn(NOW, "new"), "another deletion followed");
    let found = record(at(800), None).await;
    assert!(!found.is_withdrawn(NOW, "old") && !found.is_withdrawn(NOW, "new"), "there was no object");
    assert!(found.is_withdrawn(at(-1_000), "old"), "an earlier second");
    db.register_file(file(ours, "a"), StorageQuotas::NONE).await.unwrap();
    assert!(record(at(800), Some("new")).await.withdrawn_at.is_none());
    let theirs = new_organization(&db).await;
    let found = withdraw(at(900)).await;
    db.record_deleted_object(theirs, "a".to_owned(), at(900), None).await.unwrap();
    let unchanged = db.find_file(ours, "a".to_owned()).await.unwrap().unwrap();
    assert_eq!((found.withdrawn_etag, unchanged.withdrawn_etag), (None, None));
}

async fn uploads_are_known(db: Database) {
    let ours = new_organization(&db).await;
    db.register_file(file(ours, "announced"), StorageQuotas::NONE).await.unwrap();
    assert!(!db.has_uploads().await.unwrap());
    let read = File { last_run_id: Some(Uuid::new_v4().into()), ..file(ours, "read") };
    db.register_file(read, StorageQuotas::NONE).await.unwrap();
    assert!(db.has_uploads().await.unwrap());
    let run = IndexRun::queued(Uuid::new_v4().into(), ours, RunMode::Incremental, NOW);
    db.withdraw_file(ours, "read".to_owned(), run, NOW).await.unwrap();
    assert!(!db.has_uploads().await.unwrap());
    db.register_file(File { bytes: 1, ..file(ours, "unread") }, StorageQuotas::NONE).await.unwrap();
    assert!(db.has_uploads().await.unwrap());
}
