//! Quotas of files and bytes.

use std::time::Duration;

use app::files::PresignRequest;
use app::{Error, Quota};
use blobs::{BlobErrorKind, BlobStore};
use ingest::objects;
use model::RunMode;
use test_support::{Setup, Tenant, TestApp};

const LIMIT: u64 = 100;

fn setup() -> Setup {
    let mut setup = Setup::default();
    setup.options.max_bytes_per_organization = Some(LIMIT);
    setup
}

async fn presign(world: &TestApp, tenant: &Tenant, filename: &str, size: u64) -> Result<(), Error> {
    let request = PresignRequest { filename: filename.to_owned(), size, content_type: None, labels: None };
    world.app.presign_file(&tenant.viewer, request).await.map(|_| ())
}

async fn used(world: &TestApp, tenant: &Tenant) -> u64 {
    world.app.me(&tenant.viewer).await.unwrap().bytes.used
}

#[tokio::test]
async fn uploads_that_may_still_come_count() {
    let world = TestApp::with(setup()).await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    presign(&world, &tenant, "a.txt", 60).await.unwrap();
    let error = presign(&world, &tenant, "b.txt", 41).await.unwrap_err();
    let expected = Quota::Bytes { size: 41, used: 60, limit: LIMIT };
    assert!(matches!(error, Error::QuotaExceeded(quota) if quota == expected), "{error:?}");
    presign(&world, &tenant, "b.txt", 40).await.unwrap();
    presign(&world, &tenant, "b.txt", 1).await.unwrap();
    presign(&world, &other, "a.txt", LIMIT).await.unwrap();
    assert_eq!(used(&world, &tenant).await, 100);
}

#[tokio::test]
async fn expired_uploads_count_what_is_stored() {
    let world = TestApp::with(setup()).await;
    let tenant = world.tenant().await;
    world.upload(&tenant, "stored.txt", "Seven b").await;
    presign(&world, &tenant, "never.txt", 93).await.unwrap();
    assert!(presign(&world, &tenant, "b.txt", 1).await.is_err());
    world.clock.advance(Duration::from_mins(16));
    presign(&world, &tenant, "b.txt", 93).await.unwrap();
    assert_eq!(used(&world, &tenant).await, 100);
    assert!(presign(&world, &tenant, "c.txt", 1).await.is_err());
}

#[tokio::test]
async fn expired_uploads_behind_a_batch_make_room() {
    // Files that are measured at a time.
    const BATCH: u64 = 500;
    let mut setup = setup();
    setup.options.max_bytes_per_organization = Some(BATCH + 100);
    setup.options.max_files_per_organization = 1_000;
    let world = TestApp::with(setup).await;
    let tenant = world.tenant().await;
    for number in 0..BATCH {
        world.upload(&tenant, &format!("{number}.txt"), "x").await;
    }
    world.clock.advance(Duration::from_secs(1));
    presign(&world, &tenant, "never.txt", 100).await.unwrap();
    assert!(presign(&world, &tenant, "b.txt", 1).await.is_err());
    world.clock.advance(Duration::from_mins(16));
    presign(&world, &tenant, "b.txt", 100).await.unwrap();
    assert_eq!(used(&world, &tenant).await, BATCH + 100);
    let error = presign(&world, &tenant, "c.txt", 1).await.unwrap_err();
    assert!(matches!(error, Error::QuotaExceeded(_)), "{error:?}");
}

#[tokio::test]
async fn an_object_that_cannot_be_measured_does_not_keep_back_others() {
    for kind in [BlobErrorKind::Denied, BlobErrorKind::Failed, BlobErrorKind::Unavailable] {
        let world = TestApp::with(setup()).await;
        let tenant = world.tenant().await;
        // It expires first.
        world.upload(&tenant, "broken.txt", "Seven b").await;
        presign(&world, &tenant, "never.txt", 93).await.unwrap();
        world.blobs.fail_head(objects::key(tenant.organization_id, "broken.txt"), kind);
        world.clock.advance(Duration::from_mins(16));
        presign(&world, &tenant, "b.txt", 93).await.unwrap();
        let error = presign(&world, &tenant, "c.txt", 1).await.unwrap_err();
        assert!(matches!(error, Error::QuotaExceeded(_)), "storage is not asked again: {error:?}");
        assert_eq!(used(&world, &tenant).await, 100, "it counts as before");

        world.blobs.recover();
        world.blobs.inner.delete(&objects::key(tenant.organization_id, "broken.txt")).await.unwrap();
        // An hour would be long for storage that was busy for a moment.
        let is_busy = kind == BlobErrorKind::Unavailable;
        world.clock.advance(if is_busy { Duration::from_mins(2) } else { Duration::from_hours(1) });
        let replaced = if is_busy { "b.txt" } else { "c.txt" };
        presign(&world, &tenant, replaced, LIMIT).await.unwrap();
    }
}

#[tokio::test]
async fn an_outage_of_storage_postpones_no_measurement() {
    let world = TestApp::with(setup()).await;
    let tenant = world.tenant().await;
    presign(&world, &tenant, "never.txt", LIMIT).await.unwrap();
    world.clock.advance(Duration::from_mins(16));
    world.blobs.fail(BlobErrorKind::Unavailable);
    let error = presign(&world, &tenant, "b.txt", 1).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    world.blobs.recover();
    presign(&world, &tenant, "b.txt", 1).await.unwrap();
}

#[tokio::test]
async fn a_deleted_file_makes_room() {
    let world = TestApp::with(setup()).await;
    let tenant = world.tenant().await;
    world.upload(&tenant, "a.txt", &"x".repeat(90)).await;
    world.index_files(&tenant, RunMode::Incremental).await;
    assert!(presign(&world, &tenant, "b.txt", 20).await.is_err());
    assert!(world.app.delete_file(&tenant.viewer, "a.txt").await.unwrap());
    assert_eq!(used(&world, &tenant).await, 0);
    presign(&world, &tenant, "b.txt", 20).await.unwrap();
}

/// Otherwise presigning, deleting and uploading in turns would store any number of bytes.
#[tokio::test]
async fn deleting_a_file_does_not_forget_its_upload() {
    let world = TestApp::with(setup()).await;
    let tenant = world.tenant().await;
    presign(&world, &tenant, "a.txt", 90).await.unwrap();
    world.app.delete_file(&tenant.viewer, "a.txt").await.unwrap();
    assert_eq!(used(&world, &tenant).await, 90);
    assert!(presign(&world, &tenant, "b.txt", 20).await.is_err());
    world.clock.advance(Duration::from_mins(16));
    presign(&world, &tenant, "b.txt", 20).await.unwrap();
}

/// Otherwise presigning, deleting and uploading in turns would store any number of files.
#[tokio::test]
async fn a_deleted_file_counts_if_its_upload_comes() {
    for size in [6, 0] {
        let mut setup = Setup::default();
        setup.options.max_files_per_organization = 1;
        let world = TestApp::with(setup).await;
        let tenant = world.tenant().await;
        presign(&world, &tenant, "a.txt", size).await.unwrap();
        world.app.delete_file(&tenant.viewer, "a.txt").await.unwrap();
        let error = presign(&world, &tenant, "b.txt", 1).await.unwrap_err();
        assert!(matches!(error, Error::QuotaExceeded(Quota::Files { used: 1, limit: 1 })), "{error:?}");
        // The object is later than the deletion.
        tokio::time::sleep(Duration::from_millis(5)).await;
        world.put_object(&tenant, "a.txt", &"x".repeat(size as usize)).await;
        world.clock.advance(Duration::from_mins(16));
        assert!(presign(&world, &tenant, "b.txt", 1).await.is_err());
        assert_eq!(world.list_files(&tenant.viewer).await.unwrap().len(), 1);
        assert!(world.app.delete_file(&tenant.viewer, "a.txt").await.unwrap());
        assert_eq!(world.app.me(&tenant.viewer).await.unwrap().files.used, 0);

        presign(&world, &tenant, "b.txt", 1).await.unwrap();
        world.app.delete_file(&tenant.viewer, "b.txt").await.unwrap();
        world.clock.advance(Duration::from_mins(16));
        presign(&world, &tenant, "c.txt", 1).await.unwrap();
    }
}
