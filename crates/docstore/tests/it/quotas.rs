//! Quotas of files and bytes, and the totals that they are checked against.

use docstore::{Docstore, File, IndexRun, MeasuredObject, MeasuredUpload, Registration, StorageQuotas, StorageTotals};
use model::{OrganizationId, RunMode};
use uuid::Uuid;

use crate::support::{Database, NOW, at, new_organization};

on_both_backends!(
    upload_beyond_a_quota_is_refused,
    replacement_counts_the_larger_object,
    concurrent_uploads_do_not_exceed_the_quota,
    expired_upload_counts_its_object,
    upload_that_ended_after_its_measurement_is_measured_again,
    upload_that_cannot_be_measured_is_listed_later,
    deleted_file_counts_while_its_url_is_valid,
    deleted_file_that_is_uploaded_again_is_a_file,
    upload_in_the_second_of_a_deletion_is_a_file,
    totals_equal_the_files,
);

/// End of the upload URLs of these tests.
const EXPIRY: i64 = 900_000;

const REGISTERED: Registration = Registration::Registered { replaced: None };

const QUOTAS: StorageQuotas = StorageQuotas { files: 3, bytes: Some(100) };

fn upload(organization_id: OrganizationId, name: &str, bytes: i64) -> File {
    File {
        bytes,
        upload_expires_at: Some(at(EXPIRY)),
        ..File::registered(
            format!("{organization_id}/{name}"),
            organization_id,
            name.to_owned(),
            Uuid::new_v4().into(),
            NOW,
        )
    }
}

async fn register(db: &Docstore, organization_id: OrganizationId, name: &str, bytes: i64) -> Registration {
    db.register_file(upload(organization_id, name, bytes), QUOTAS).await.unwrap()
}

async fn totals(db: &Docstore, organization_id: OrganizationId) -> (i64, i64) {
    let StorageTotals { files, bytes } = db.find_storage_totals(organization_id).await.unwrap();
    (files, bytes)
}

fn measured(object_key: String, bytes: i64) -> MeasuredUpload {
    let object = MeasuredObject { bytes, uploaded_at: at(EXPIRY), etag: "etag".to_owned() };
    MeasuredUpload { object_key, object: Some(object) }
}

fn run(organization_id: OrganizationId) -> IndexRun {
    IndexRun::queued(Uuid::new_v4().into(), organization_id, RunMode::Incremental, NOW)
}

async fn upload_beyond_a_quota_is_refused(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    assert_eq!(register(&db, ours, "a", 60).await, REGISTERED);
    let full = StorageTotals { files: 1, bytes: 60 };
    assert_eq!(register(&db, ours, "b", 41).await, Registration::TooManyBytes(full));
    assert_eq!(register(&db, ours, "b", 40).await, REGISTERED);
    assert_eq!(register(&db, ours, "c", 0).await, REGISTERED);
    assert_eq!(register(&db, ours, "d", 0).await, Registration::TooManyFiles(StorageTotals { files: 3, bytes: 100 }));
    assert_eq!(totals(&db, ours).await, (3, 100));
    assert_eq!(db.count("files").await, 3, "nothing was stored");
    assert_eq!(register(&db, theirs, "a", 100).await, REGISTERED);
}

async fn replacement_counts_the_larger_object(db: Database) {
    let ours = new_organization(&db).await;
    for (bytes, counted) in [(60, 60), (20, 60), (90, 90)] {
        assert_eq!(register(&db, ours, "a", bytes).await, REGISTERED);
        assert_eq!(totals(&db, ours).await, (1, counted));
    }
    assert!(matches!(register(&db, ours, "a", 101).await, Registration::TooManyBytes(_)));
}

async fn concurrent_uploads_do_not_exceed_the_quota(db: Database) {
    let ours = new_organization(&db).await;
    let stores = [db.store.clone(), db.another_store()];
    let quotas = StorageQuotas { files: 100, bytes: Some(100) };
    let uploads = (0..20).map(|number| {
        let store = stores[number % 2].clone();
        let file = upload(ours, &number.to_string(), 30);
        tokio::spawn(async move { store.register_file(file, quotas).await.unwrap() })
    });
    let mut registered = 0;
    for upload in uploads.collect::<Vec<_>>() {
        registered += usize::from(upload.await.unwrap() == REGISTERED);
    }
    assert_eq!((registered, totals(&db, ours).await), (3, (3, 90)));
}

async fn expired_upload_counts_its_object(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    for (name, bytes) in [("came", 50), ("never", 40)] {
        assert_eq!(register(&db, ours, name, bytes).await, REGISTERED);
    }
    let key = |name: &str| format!("{ours}/{name}");
    let measured = || vec![measured(key("came"), 50), MeasuredUpload { object_key: key("never"), object: None }];
    assert!(db.list_expired_uploads(None, at(EXPIRY - 1), 10).await.unwrap().is_empty());
    db.settle_uploads(ours, measured(), at(EXPIRY - 1)).await.unwrap();
    assert_eq!(totals(&db, ours).await, (2, 90), "the upload may still come");
    assert!(db.list_expired_uploads(Some(theirs), at(EXPIRY), 10).await.unwrap().is_empty());
    assert_eq!(db.list_expired_uploads(Some(ours), at(EXPIRY), 10).await.unwrap().len(), 2);
    for _ in 0..2 {
        db.settle_uploads(theirs, measured(), at(EXPIRY)).await.unwrap();
        db.settle_uploads(ours, measured(), at(EXPIRY)).await.unwrap();
        assert_eq!(totals(&db, ours).await, (2, 50));
    }
    assert!(db.list_expired_uploads(None, at(EXPIRY), 10).await.unwrap().is_empty());
}

async fn upload_that_ended_after_its_measurement_is_measured_again(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let keys: Vec<String> = ["late", "valid"].iter().map(|name| format!("{ours}/{name}")).collect();
    register(&db, ours, "late", 50).await;
    db.settle_uploads(ours, vec![MeasuredUpload { object_key: keys[0].clone(), object: None }], at(EXPIRY))
        .await
        .unwrap();
    register(&db, ours, "valid", 40).await;
    assert_eq!(totals(&db, ours).await, (2, 40));
    db.remeasure_uploads(theirs, keys.clone(), at(EXPIRY - 1)).await.unwrap();
    assert!(db.list_expired_uploads(None, at(EXPIRY - 1), 10).await.unwrap().is_empty());
    db.remeasure_uploads(ours, keys.clone(), at(EXPIRY - 1)).await.unwrap();
    let expired = db.list_expired_uploads(None, at(EXPIRY - 1), 10).await.unwrap();
    assert_eq!(expired.iter().map(|file| &file.object_key).collect::<Vec<_>>(), [&keys[0]], "the other URL is valid");
    db.settle_uploads(ours, vec![measured(keys[0].clone(), 50)], at(EXPIRY - 1)).await.unwrap();
    assert_eq!(totals(&db, ours).await, (2, 90));
}

async fn upload_that_cannot_be_measured_is_listed_later(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let keys: Vec<String> = ["a", "b"].iter().map(|name| format!("{ours}/{name}")).collect();
    register(&db, ours, "a", 50).await;
    register(&db, ours, "b", 40).await;
    db.settle_uploads(ours, vec![measured(keys[1].clone(), 40)], at(EXPIRY)).await.unwrap();
    let postpone = async |organization_id, now| {
        db.postpone_uploads(organization_id, keys.clone(), at(now), at(EXPIRY + 5)).await.unwrap();
        db.list_expired_uploads(None, at(EXPIRY + 4), 10).await.unwrap().len()
    };
    assert_eq!(postpone(ours, EXPIRY - 1).await, 1, "a URL that is valid ends as it did");
    assert_eq!(postpone(theirs, EXPIRY).await, 1);
    assert_eq!(postpone(ours, EXPIRY).await, 0);
    assert_eq!(totals(&db, ours).await, (2, 90));
    let expired = db.list_expired_uploads(None, at(EXPIRY + 5), 10).await.unwrap();
    assert_eq!(expired.iter().map(|file| &file.object_key).collect::<Vec<_>>(), [&keys[0]], "the other is measured");
}

async fn deleted_file_counts_while_its_url_is_valid(db: Database) {
    let ours = new_organization(&db).await;
    register(&db, ours, "a", 50).await;
    db.withdraw_file(ours, format!("{ours}/a"), run(ours), at(1)).await.unwrap().unwrap();
    assert_eq!(totals(&db, ours).await, (1, 50));
    let release = async |bytes, uploaded_at| {
        db.release_upload(ours, format!("{ours}/a"), bytes, uploaded_at).await.unwrap();
        totals(&db, ours).await
    };
    // Objects of earlier uploads: the URL may still be used.
    assert_eq!((release(49, at(1)).await, release(50, at(-1_001)).await), ((1, 50), (1, 50)));
    assert_eq!(release(50, at(1)).await, (0, 0));
    assert_eq!(db.list_expired_uploads(None, at(EXPIRY), 10).await.unwrap().len(), 1, "it is measured once more");
    register(&db, ours, "a", 50).await;
    assert_eq!(release(50, at(1)).await, (1, 50), "a file that was not deleted");
    db.withdraw_file(ours, format!("{ours}/a"), run(ours), at(EXPIRY)).await.unwrap().unwrap();
    assert_eq!(totals(&db, ours).await, (0, 0));
    register(&db, ours, "a", 70).await;
    assert_eq!(totals(&db, ours).await, (1, 70));
}

async fn deleted_file_that_is_uploaded_again_is_a_file(db: Database) {
    let ours = new_organization(&db).await;
    let key = |name: &str| format!("{ours}/{name}");
    for (name, bytes) in [("back", 40), ("empty", 0), ("gone", 30)] {
        register(&db, ours, name, bytes).await;
        db.withdraw_file(ours, key(name), run(ours), at(1)).await.unwrap().unwrap();
        db.withdraw_file(ours, key(name), run(ours), at(2)).await.unwrap().unwrap();
    }
    assert!(matches!(register(&db, ours, "other", 1).await, Registration::TooManyFiles(_)));
    let gone = MeasuredUpload { object_key: key("gone"), object: None };
    let uploads = vec![measured(key("back"), 40), measured(key("empty"), 0), gone];
    db.settle_uploads(ours, uploads, at(EXPIRY)).await.unwrap();
    assert_eq!(totals(&db, ours).await, (2, 40));
    let withdrawn_at = async |name| db.find_file(ours, key(name)).await.unwrap().unwrap().withdrawn_at;
    assert_eq!((withdrawn_at("back").await, withdrawn_at("empty").await), (None, None));
    assert_eq!(withdrawn_at("gone").await, Some(at(2)));
    for name in ["back", "empty", "gone"] {
        db.withdraw_file(ours, key(name), run(ours), at(EXPIRY)).await.unwrap().unwrap();
    }
    assert_eq!(totals(&db, ours).await, (0, 0));
}

async fn upload_in_the_second_of_a_deletion_is_a_file(db: Database) {
    let ours = new_organization(&db).await;
    for (name, etag, is_file) in [("left", "old", false), ("again", "new", true)] {
        let object_key = format!("{ours}/{name}");
        register(&db, ours, name, 50).await;
        db.withdraw_file(ours, object_key.clone(), run(ours), at(700)).await.unwrap().unwrap();
        db.record_deleted_object(ours, object_key.clone(), at(700), Some("old".to_owned())).await.unwrap();
        let object = MeasuredObject { bytes: 50, uploaded_at: NOW, etag: etag.to_owned() };
        let measured = MeasuredUpload { object_key: object_key.clone(), object: Some(object) };
        db.settle_uploads(ours, vec![measured], at(EXPIRY)).await.unwrap();
        let file = db.find_file(ours, object_key).await.unwrap().unwrap();
        assert_eq!(file.withdrawn_at.is_none(), is_file, "{name}");
    }
}

async fn totals_equal_the_files(db: Database) {
    let ours = new_organization(&db).await;
    for (name, bytes) in [("a", 10), ("b", 20), ("c", 30)] {
        register(&db, ours, name, bytes).await;
    }
    db.withdraw_file(ours, format!("{ours}/a"), run(ours), at(EXPIRY)).await.unwrap().unwrap();
    db.withdraw_file(ours, format!("{ours}/b"), run(ours), at(1)).await.unwrap().unwrap();
    db.delete_files(ours, vec![format!("{ours}/a"), format!("{ours}/b")], at(1)).await.unwrap();
    assert_eq!(totals(&db, ours).await, (1, 30));
    assert_eq!(db.number("sum(bytes)", "files").await, 30);
}
