//! Deletion of organizations.

use app::{Error, accounts, removal};
use blobs::{BlobErrorKind, BlobStore};
use ingest::objects;
use model::{Clock, RunMode};
use test_support::{TestApp, page, search};

use crate::search::workspace_search;

#[tokio::test]
async fn a_deleted_organization_is_refused_and_its_data_is_removed() {
    let world = TestApp::start().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    for tenant in [&tenant, &other] {
        world.upload(tenant, "a.txt", "The secret tides.").await;
        world.index_files(tenant, RunMode::Incremental).await;
    }
    world.import_one(page("https://example.com/", "The tides.")).await;
    world.app.search(&tenant.viewer, search("tides")).await.unwrap();
    let (id, store) = (tenant.organization_id, &world.store);
    accounts::delete_organization(store, "test", world.clock.now(), id).await.unwrap();
    // Another instance has no cached key.
    let instance = TestApp::on(world.database.clone(), Default::default());
    assert!(instance.app.authenticate(&tenant.key).await.unwrap().is_none());
    assert!(instance.app.authenticate(&other.key).await.unwrap().is_some());
    let new_key = accounts::create_key(store, "test", world.clock.now(), id, Default::default()).await;
    assert!(matches!(new_key, Err(Error::Invalid { .. })), "{new_key:?}");

    // Interrupted by storage, and continued.
    world.blobs.fail(BlobErrorKind::Unavailable);
    let remove = async || removal::remove_organization(store, world.blobs.as_ref(), world.clock.as_ref(), id).await;
    assert!(remove().await.is_err());
    world.blobs.recover();
    for _ in 0..2 {
        remove().await.unwrap();
    }
    let deleted = store.find_organization(id).await.unwrap().unwrap();
    assert!(deleted.deleted_at.is_some() && deleted.removed_at.is_some());
    assert!(world.blobs.list(&objects::prefix(id), None).await.unwrap().objects.is_empty());
    assert!(store.list_files(id, None, 10).await.unwrap().is_empty());
    assert!(store.list_workspace_documents(id).await.unwrap().is_empty());
    world.feeder.drain_all().await.unwrap();
    let found = world.app.search(&other.viewer, workspace_search(&other, "tides")).await.unwrap();
    assert_eq!(found.hits.len(), 1, "the data of others stays");
    assert_eq!(world.app.list_files(&other.viewer).await.unwrap().len(), 1);
}
