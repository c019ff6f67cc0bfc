//! The feeder: rebuilds, rejected documents, outages.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::{Change, IndexDocument, SearchEngine};
use ingest::{Feeder, Ownership, rebuild};
use model::{Clock, Collection, DocId, IndexName, RunMode};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::world::World;

async fn indexed_world(files: usize) -> World {
    let world = World::new().await;
    for n in 0..files {
        world.upload(&format!("{n}.txt"), &format!("walrus number {n}")).await;
    }
    let worker = world.worker(Duration::from_secs(10), Duration::from_secs(20));
    world.wait(world.request_run(RunMode::Incremental).await).await;
    worker.stop().await;
    world
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn index_is_rebuilt_from_the_docstore() {
    let world = indexed_world(20).await;
    let before = world.found("walrus number 7").await;
    world.engine.clear(IndexName::Workspace).await.unwrap();
    assert!(world.found("walrus").await.is_empty());
    assert_eq!(rebuild::queue_all(&world.store, IndexName::Workspace, &*world.clock, |_| {}).await.unwrap(), 20);
    world.feeder.drain(IndexName::Workspace).await.unwrap();
    assert_eq!(world.found("walrus number 7").await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rebuild_removes_documents_that_the_docstore_lacks() {
    let world = indexed_world(2).await;
    let stray = IndexDocument {
        body: "walrus".into(),
        ..IndexDocument::new(DocId(Uuid::from_u128(7)), Collection::Workspace(world.organization_id))
    };
    world.engine.apply(IndexName::Workspace, vec![Change::Put(Box::new(stray))]).await.unwrap();
    assert_eq!(world.found("walrus").await.len(), 3);
    rebuild::queue_all(&world.store, IndexName::Workspace, &*world.clock, |_| {}).await.unwrap();
    world.feeder.drain(IndexName::Workspace).await.unwrap();
    assert_eq!(world.found("walrus").await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rejected_document_does_not_block_others() {
    let world = World::new().await;
    world.engine.rejected.lock().unwrap().insert(world.doc_id("3.txt"));
    for n in 0..20 {
        world.upload(&format!("{n}.txt"), "walrus").await;
    }
    let worker = world.worker(Duration::from_secs(10), Duration::from_secs(20));
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!(run.stats().indexed, 20);
    assert_eq!(world.found("walrus").await.len(), 19);
    assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 0);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn engine_outage_loses_no_changes() {
    let world = World::new().await;
    world.upload("a.txt", "walrus").await;
    world.engine.outages.store(3, Ordering::SeqCst);
    let worker = world.worker(Duration::from_secs(10), Duration::from_secs(20));
    world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!(world.found("walrus").await, [world.doc_id("a.txt")]);
    assert!(world.engine.batches.load(Ordering::SeqCst) >= 4);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_index_is_rebuilt_automatically() {
    let world = indexed_world(5).await;
    let before = world.found("walrus number 3").await;
    world.engine.clear(IndexName::Workspace).await.unwrap();
    world.engine.lost.store(true, Ordering::SeqCst);
    let worker = world.worker(Duration::from_secs(10), Duration::from_secs(20));
    // Applying a change reveals the loss, and the rebuild restores the other documents.
    world.upload("new.txt", "walrus and carpenter").await;
    world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!(world.found("walrus number 3").await.first(), before.first());
    assert_eq!(world.found("walrus").await.len(), 6);
    assert!(!world.engine.lost.load(Ordering::SeqCst));
    worker.stop().await;
}

/// Returns a feeder of the world's index that shares it with others.
fn leased(world: &World) -> Arc<Feeder> {
    let engine = Arc::clone(&world.engine) as Arc<dyn SearchEngine>;
    let clock = Arc::clone(&world.clock) as Arc<dyn Clock>;
    Arc::new(Feeder::new(world.store.clone(), engine, Ownership::Leased, clock))
}

async fn queue_everything(world: &World) -> i64 {
    rebuild::queue_all(&world.store, IndexName::Workspace, &*world.clock, |_| {}).await.unwrap();
    world.store.outbox_bounds(IndexName::Workspace).await.unwrap().unwrap().1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_feeder_releases_its_leases() {
    let world = indexed_world(3).await;
    let newest = queue_everything(&world).await;
    let stop = CancellationToken::new();
    let server = leased(&world);
    let working = tokio::spawn({
        let (server, stop) = (Arc::clone(&server), stop.clone());
        async move { server.work(stop).await }
    });
    server.wait_until_indexed(IndexName::Workspace, newest, Duration::from_secs(20)).await.unwrap();
    let command = leased(&world);
    queue_everything(&world).await;
    assert_eq!(command.drain(IndexName::Workspace).await.unwrap(), 0, "the server holds the lease");
    stop.cancel();
    working.await.unwrap();
    queue_everything(&world).await;
    assert!(command.drain(IndexName::Workspace).await.unwrap() > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn catching_up_takes_over_the_lease_of_a_dead_process() {
    let world = indexed_world(3).await;
    let newest = queue_everything(&world).await;
    let now = world.clock.now();
    let lease = "feeder:workspace".to_owned();
    assert!(world.store.acquire_lease(lease, "dead".to_owned(), now, now + Duration::from_secs(15)).await.unwrap());

    let command = leased(&world);
    let refused = command.catch_up(IndexName::Workspace, newest, Duration::ZERO, |_| {}).await;
    assert!(matches!(refused, Err(ingest::feeder::FeedError::Timeout(_))), "{refused:?}");
    let catching_up = tokio::spawn({
        let command = Arc::clone(&command);
        async move { command.catch_up(IndexName::Workspace, newest, Duration::from_secs(600), |_| {}).await }
    });
    world.clock.set(now + Duration::from_secs(16));
    catching_up.await.unwrap().unwrap();
    assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 0);
    assert_eq!(world.found("walrus").await.len(), 3);
}
