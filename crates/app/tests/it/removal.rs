//! Deletion of organizations.

use std::time::Duration;

use app::{Error, accounts, removal};
use blobs::{BlobErrorKind, BlobStore};
use docstore::Search;
use ingest::objects;
use model::{Clock, RunMode, SearchId};
use test_support::{Setup, TestApp, page, search};
use uuid::Uuid;

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
    assert_eq!(world.list_files(&other.viewer).await.unwrap().len(), 1);
}

#[tokio::test]
async fn data_stored_after_a_removal_is_removed_by_one_that_starts_after_the_hour() {
    let world = TestApp::with(Setup { upkeep: false, ..Setup::default() }).await;
    let (tenant, store, hour) = (world.tenant().await, &world.store, Duration::from_hours(1));
    let id = tenant.organization_id;
    accounts::delete_organization(store, "test", world.clock.now(), id).await.unwrap();
    let remove = async || {
        removal::remove_organization(store, world.blobs.as_ref(), world.clock.as_ref(), id).await.unwrap();
        removal::list_due(store, world.clock.now()).await.unwrap().len()
    };
    assert_eq!(remove().await, 1, "a request or an upload from before the deletion may follow");

    let search_id = SearchId(Uuid::new_v4());
    let late = Search {
        search_id,
        organization_id: id,
        identity: String::new(),
        session_id: Uuid::nil().into(),
        query: "tides".to_owned(),
        results: Vec::new(),
        created_at: world.clock.now(),
        request: None,
        details: None,
    };
    store.record_searches(vec![late], Vec::new()).await.unwrap();
    world.blobs.put(&objects::key(id, "late.txt"), "The tides.".to_owned().into()).await.unwrap();
    // Removals of other organizations took the hour.
    world.clock.advance(hour + Duration::from_secs(1));
    assert_eq!(removal::list_due(store, world.clock.now()).await.unwrap().len(), 1);
    assert_eq!(remove().await, 0);
    assert!(store.find_search(id, search_id).await.unwrap().is_none());
    assert!(world.blobs.list(&objects::prefix(id), None).await.unwrap().objects.is_empty());
}

#[tokio::test]
async fn upload_that_ends_hours_after_the_deletion_is_removed_after_a_day() {
    let world = TestApp::with(Setup { upkeep: false, ..Setup::default() }).await;
    let (tenant, store, blobs) = (world.tenant().await, &world.store, &*world.blobs);
    let id = tenant.organization_id;
    accounts::delete_organization(store, "test", world.clock.now(), id).await.unwrap();
    let mut hours = 0;
    for (hour, is_due) in [(0, true), (2, true), (3, false), (23, false), (25, true), (26, false)] {
        world.clock.advance(Duration::from_hours(hour - hours));
        hours = hour;
        if hour == 3 {
            blobs.put(&objects::key(id, "late.txt"), "The tides.".to_owned().into()).await.unwrap();
        }
        let due = removal::list_due(store, world.clock.now()).await.unwrap();
        assert_eq!(due.len(), usize::from(is_due), "{hour}");
        for organization in due {
            assert!(removal::remove_organization(store, blobs, world.clock.as_ref(), organization.id).await.unwrap());
        }
    }
    assert!(blobs.list(&objects::prefix(id), None).await.unwrap().objects.is_empty());
}
