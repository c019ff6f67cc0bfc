//! The feeder: rebuilds, rejected documents, outages.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use blobs::BlobStore;
use docstore::{Docstore, Location};
use engine::{Change, EngineErrorKind, IndexDocument, SearchEngine};
use ingest::feeder::FeedError;
use ingest::{Feeder, Ownership};
use model::{Clock, Collection, DocId, Generation, IndexName, RunMode, RunState};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::faulty::Gate;
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
    assert_eq!(world.store.enqueue_rebuild(IndexName::Workspace, world.clock.now()).await.unwrap(), 20);
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
    world.store.enqueue_rebuild(IndexName::Workspace, world.clock.now()).await.unwrap();
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
async fn document_that_panics_the_engine_does_not_block_others() {
    let world = World::new().await;
    for bad in ["3.txt", "4.txt"] {
        world.engine.panicking.lock().unwrap().insert(world.doc_id(bad));
    }
    for n in 0..20 {
        world.upload(&format!("{n}.txt"), "walrus").await;
    }
    let worker = world.worker(Duration::from_secs(10), Duration::from_secs(20));
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!((run.state, run.stats().indexed), (RunState::Completed, 20));
    assert_eq!(world.found("walrus").await.len(), 18);
    assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 0);
    worker.stop().await;
}

/// An engine that panics on everything says nothing about the documents.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_engine_loses_no_changes() {
    let world = World::new().await;
    world.engine.broken.store(true, Ordering::SeqCst);
    world.upload("a.txt", "walrus").await;
    let worker = world.worker(Duration::from_secs(10), Duration::from_secs(20));
    let sync_id = world.request_run(RunMode::Incremental).await;
    while world.engine.batches.load(Ordering::SeqCst) < 3 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 1);
    world.engine.broken.store(false, Ordering::SeqCst);
    world.wait(sync_id).await;
    assert_eq!(world.found("walrus").await, [world.doc_id("a.txt")]);
    worker.stop().await;
}

/// Such as one that has reached a limit of documents.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn engine_that_rejects_every_document_loses_no_changes() {
    let world = World::new().await;
    world.engine.full.store(true, Ordering::SeqCst);
    for name in ["a.txt", "b.txt", "c.txt"] {
        world.upload(name, "walrus").await;
    }
    let worker = world.worker(Duration::from_secs(10), Duration::from_secs(20));
    let sync_id = world.request_run(RunMode::Incremental).await;
    while world.engine.batches.load(Ordering::SeqCst) < 8 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 3);
    world.engine.full.store(false, Ordering::SeqCst);
    world.wait(sync_id).await;
    assert_eq!(world.found("walrus").await.len(), 3);
    assert_eq!(world.engine.document_count(IndexName::Workspace).await.unwrap(), 3);
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_attempts_to_restore_an_index_queue_it_once() {
    let world = indexed_world(5).await;
    world.engine.clear(IndexName::Workspace).await.unwrap();
    world.engine.lost.store(true, Ordering::SeqCst);
    world.engine.unmarkable.store(3, Ordering::SeqCst);
    for _ in 0..3 {
        world.feeder.restore().await.unwrap_err();
        assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 1 + 5);
    }
    world.feeder.restore().await.unwrap();
    assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 1 + 5);
    world.feeder.drain_all().await.unwrap();
    assert_eq!(world.found("walrus").await.len(), 5);
}

/// By `index rebuild` before the index is looked at.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rebuild_that_is_queued_is_enough_for_a_lost_index() {
    let world = indexed_world(3).await;
    for is_of_another_time in [false, true] {
        queue_everything(&world).await;
        if is_of_another_time {
            let unknown = Generation(Uuid::new_v4());
            world.engine.set_generation(IndexName::Workspace, unknown).await.unwrap();
        } else {
            world.engine.lost.store(true, Ordering::SeqCst);
        }
        world.feeder.restore().await.unwrap();
        assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 1 + 3, "nothing was added");
        world.feeder.drain_all().await.unwrap();
        assert_eq!(world.found("walrus").await.len(), 3);
    }
}

/// Queues more pages than the 20,000 of a batch.
async fn queue_web_backlog(world: &World) {
    let removed = (1..=20_001).map(|number| DocId(Uuid::from_u128(number))).collect();
    world.store.enqueue_documents(IndexName::Web, removed, world.clock.now()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failure_of_one_index_does_not_stop_the_other() {
    let world = indexed_world(1).await;
    queue_web_backlog(&world).await;
    for is_unreadable in [false, true] {
        let file = vec![world.doc_id("0.txt")];
        world.store.enqueue_documents(IndexName::Workspace, file, world.clock.now()).await.unwrap();
        if is_unreadable {
            world.engine.refusing.lock().unwrap().clear();
            world.execute("UPDATE outbox SET doc_id = x'01' WHERE index_name = 'web'");
        } else {
            world.engine.refusing.lock().unwrap().insert(IndexName::Web, EngineErrorKind::Unavailable);
        }
        let failed = world.feeder.drain_all().await.unwrap_err();
        assert_eq!(matches!(failed, FeedError::Store(_)), is_unreadable, "{failed}");
        assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 0);
        assert_eq!(world.store.count_outbox(IndexName::Web).await.unwrap(), 20_001);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batch_behind_a_failed_one_is_not_applied() {
    let world = World::new().await;
    queue_web_backlog(&world).await;
    world.engine.outages.store(1, Ordering::SeqCst);
    world.feeder.drain(IndexName::Web).await.unwrap_err();
    assert_eq!(world.engine.batches.load(Ordering::SeqCst), 1);
    assert_eq!(world.store.count_outbox(IndexName::Web).await.unwrap(), 20_001);
    assert_eq!(world.feeder.drain(IndexName::Web).await.unwrap(), 20_001);
}

/// Only its clearing repairs it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_index_is_cleared_before_an_older_backlog() {
    let world = World::new().await;
    queue_web_backlog(&world).await;
    world.engine.refusing.lock().unwrap().insert(IndexName::Web, EngineErrorKind::Corrupt);
    let failed = world.feeder.drain_all().await.unwrap_err();
    assert!(matches!(&failed, FeedError::Engine(error) if error.kind == EngineErrorKind::Corrupt), "{failed}");
    world.engine.lost.store(true, Ordering::SeqCst);
    world.feeder.restore().await.unwrap();
    world.feeder.drain_all().await.unwrap();
    assert_eq!(world.store.count_outbox(IndexName::Web).await.unwrap(), 0);
}

/// Returns a feeder of the world's index that shares it with others.
fn leased(world: &World) -> Arc<Feeder> {
    let engine = Arc::clone(&world.engine) as Arc<dyn SearchEngine>;
    let clock = Arc::clone(&world.clock) as Arc<dyn Clock>;
    Arc::new(Feeder::new(world.store.clone(), engine, Ownership::Leased, clock))
}

async fn queue_everything(world: &World) -> i64 {
    world.store.enqueue_rebuild(IndexName::Workspace, world.clock.now()).await.unwrap();
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
    server.wait_until_indexed_for(world.organization_id, newest, Duration::from_secs(20)).await.unwrap();
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
    let stop = CancellationToken::new();
    let refused = command.catch_up(IndexName::Workspace, newest, Duration::ZERO, &stop, |_| {}).await;
    assert!(matches!(refused, Err(ingest::feeder::FeedError::Timeout(_))), "{refused:?}");
    let catching_up = tokio::spawn({
        let command = Arc::clone(&command);
        async move { command.catch_up(IndexName::Workspace, newest, Duration::from_secs(600), &stop, |_| {}).await }
    });
    world.clock.set(now + Duration::from_secs(16));
    assert!(catching_up.await.unwrap().unwrap());
    assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 0);
    assert_eq!(world.found("walrus").await.len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_without_the_lease_does_not_read_the_backlog() {
    let world = indexed_world(3).await;
    queue_everything(&world).await;
    let now = world.clock.now();
    let lease = || "feeder:workspace".to_owned();
    assert!(world.store.acquire_lease(lease(), "other".to_owned(), now, now + Duration::from_secs(15)).await.unwrap());
    // Whoever lists the entries fails.
    world.execute("ALTER TABLE outbox RENAME COLUMN doc_id TO unreadable");
    let standby = leased(&world);
    assert_eq!(standby.drain(IndexName::Workspace).await.unwrap(), 0);
    world.store.release_lease(lease(), "other".to_owned()).await.unwrap();
    assert!(standby.drain(IndexName::Workspace).await.is_err());
    world.execute("ALTER TABLE outbox RENAME COLUMN unreadable TO doc_id");
    assert!(standby.drain(IndexName::Workspace).await.unwrap() > 0);
}

/// The process that asked for the stop feeds the rest.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn catching_up_can_be_left_to_another_process() {
    let world = indexed_world(3).await;
    let newest = queue_everything(&world).await;
    let stop = CancellationToken::new();
    stop.cancel();
    let patience = Duration::from_secs(600);
    assert!(!world.feeder.catch_up(IndexName::Workspace, newest, patience, &stop, |_| {}).await.unwrap());
    assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 4);
    let goes_on = CancellationToken::new();
    assert!(world.feeder.catch_up(IndexName::Workspace, newest, patience, &goes_on, |_| {}).await.unwrap());
    assert!(world.feeder.catch_up(IndexName::Workspace, newest, patience, &stop, |_| {}).await.unwrap(), "it is done");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn next_batch_is_read_while_one_is_applied() {
    let world = indexed_world(20).await;
    queue_everything(&world).await;
    // More than the 20,000 entries of a batch.
    let removed = (0..22_000).map(|number| DocId(Uuid::from_u128(number))).collect();
    world.store.enqueue_documents(IndexName::Workspace, removed, world.clock.now()).await.unwrap();
    let batches = world.engine.batches.load(Ordering::SeqCst);
    let (applying, generations) = (Gate::closed(), Gate::closed());
    *world.engine.applying.lock().unwrap() = Some(Arc::clone(&applying));
    *world.engine.generations.lock().unwrap() = Some(Arc::clone(&generations));
    generations.open.add_permits(1_000);
    let feeder = Arc::clone(&world.feeder);
    let draining = tokio::spawn(async move { feeder.drain(IndexName::Workspace).await });
    applying.wait_for(1).await;
    // Each batch asks when it is read and when it is applied; the first also when it clears the index.
    generations.wait_for(4).await;
    applying.open.add_permits(1_000);
    assert_eq!(draining.await.unwrap().unwrap(), 1 + 20 + 22_000);
    assert!(world.engine.batches.load(Ordering::SeqCst) > batches + 1);
    assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 0);
    assert_eq!(world.found("walrus").await.len(), 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batch_is_dropped_if_another_process_has_fed_the_index_since() {
    let world = indexed_world(3).await;
    queue_everything(&world).await;
    let generations = Gate::closed();
    *world.engine.generations.lock().unwrap() = Some(Arc::clone(&generations));
    let paused = leased(&world);
    let draining = tokio::spawn(async move { paused.drain(IndexName::Workspace).await });
    generations.wait_for(1).await;
    generations.open.add_permits(1);
    generations.wait_for(1).await;
    // The batch is read and about to be applied. The process pauses until its lease has expired.
    *world.engine.generations.lock().unwrap() = None;
    world.clock.set(world.clock.now() + Duration::from_secs(16));
    let other = leased(&world);
    assert!(other.drain(IndexName::Workspace).await.unwrap() > 0);
    other.release_leases().await.unwrap();
    let applied = world.engine.batches.load(Ordering::SeqCst);
    generations.open.add_permits(1);
    let outcome = draining.await.unwrap();
    assert!(matches!(outcome, Err(FeedError::LeaseLost(IndexName::Workspace))), "{outcome:?}");
    assert_eq!(world.engine.batches.load(Ordering::SeqCst), applied);
}

/// A batch that was read for too long, while another process reads one of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batch_without_its_lease_does_not_start() {
    let world = indexed_world(3).await;
    queue_two(&world).await;
    let before = world.engine.generation(IndexName::Workspace).await.unwrap();
    let generations = Gate::closed();
    *world.engine.generations.lock().unwrap() = Some(Arc::clone(&generations));
    let slow = leased(&world);
    let draining = tokio::spawn(async move { slow.drain(IndexName::Workspace).await });
    generations.wait_for(1).await;
    generations.open.add_permits(1);
    generations.wait_for(1).await;
    *world.engine.generations.lock().unwrap() = None;
    let now = world.clock.now() + Duration::from_secs(16);
    world.clock.set(now);
    let lease = "feeder:workspace".to_owned();
    assert!(world.store.acquire_lease(lease, "other".to_owned(), now, now + Duration::from_secs(15)).await.unwrap());
    generations.open.add_permits(1);
    let outcome = draining.await.unwrap();
    assert!(matches!(outcome, Err(FeedError::LeaseLost(IndexName::Workspace))), "{outcome:?}");
    assert_eq!(world.engine.generation(IndexName::Workspace).await.unwrap(), before);
    assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 2, "nothing was added");
}

/// Queues two of the documents and returns them.
async fn queue_two(world: &World) -> Vec<DocId> {
    let doc_ids: Vec<DocId> = ["0.txt", "1.txt"].map(|name| world.doc_id(name)).to_vec();
    world.store.enqueue_documents(IndexName::Workspace, doc_ids.clone(), world.clock.now()).await.unwrap();
    doc_ids
}

/// The engine may receive the batch after newer contents of the other process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_of_an_overtaken_batch_are_indexed_again() {
    let world = indexed_world(3).await;
    let doc_ids = queue_two(&world).await;
    let applying = Gate::closed();
    *world.engine.applying.lock().unwrap() = Some(Arc::clone(&applying));
    let paused = leased(&world);
    let draining = tokio::spawn(async move { paused.drain(IndexName::Workspace).await });
    applying.wait_for(1).await;
    *world.engine.applying.lock().unwrap() = None;
    world.clock.set(world.clock.now() + Duration::from_secs(16));
    let other = leased(&world);
    assert_eq!(other.drain(IndexName::Workspace).await.unwrap(), 2);
    assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 0);
    world.engine.applied.lock().unwrap().clear();
    applying.open.add_permits(1);
    let _ = draining.await.unwrap();
    assert_eq!(*world.engine.applied.lock().unwrap(), std::slice::from_ref(&doc_ids), "the batch arrives late");
    assert_eq!(other.drain(IndexName::Workspace).await.unwrap(), 2);
    assert_eq!(world.engine.applied.lock().unwrap().last(), Some(&doc_ids));
}

/// The engine may have received the batch in spite of its error.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_of_an_overtaken_batch_that_fails_are_indexed_again() {
    let world = indexed_world(3).await;
    for is_database_down in [false, true] {
        queue_two(&world).await;
        let applying = Gate::closed();
        *world.engine.applying.lock().unwrap() = Some(Arc::clone(&applying));
        let paused = leased(&world);
        let draining = tokio::spawn({
            let paused = Arc::clone(&paused);
            async move { paused.drain(IndexName::Workspace).await }
        });
        applying.wait_for(1).await;
        *world.engine.applying.lock().unwrap() = None;
        world.clock.set(world.clock.now() + Duration::from_secs(16));
        let other = leased(&world);
        assert_eq!(other.drain(IndexName::Workspace).await.unwrap(), 2);
        if is_database_down {
            world.execute("ALTER TABLE leases RENAME TO unavailable");
        }
        world.engine.outages.store(1, Ordering::SeqCst);
        applying.open.add_permits(1);
        let outcome = draining.await.unwrap();
        assert!(matches!(outcome, Err(FeedError::Engine(_))), "{outcome:?}");
        if is_database_down {
            assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 0);
            world.execute("ALTER TABLE unavailable RENAME TO leases");
            assert_eq!(paused.drain(IndexName::Workspace).await.unwrap(), 0, "the other process holds the lease");
        }
        assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 2);
        assert_eq!(other.drain(IndexName::Workspace).await.unwrap(), 2);
        other.release_leases().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_batch_that_was_not_overtaken_is_not_queued_again() {
    let world = indexed_world(3).await;
    queue_two(&world).await;
    let feeder = leased(&world);
    for _ in 0..3 {
        world.engine.outages.store(1, Ordering::SeqCst);
        feeder.drain(IndexName::Workspace).await.unwrap_err();
        feeder.restore().await.unwrap();
        assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 2);
    }
    assert_eq!(feeder.drain(IndexName::Workspace).await.unwrap(), 2);
    feeder.restore().await.unwrap();
    assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 0);
}

/// The engine may clear the index after the other process has filled it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn index_that_is_cleared_late_is_filled_again() {
    let world = indexed_world(3).await;
    queue_everything(&world).await;
    let clearing = Gate::closed();
    *world.engine.clearing.lock().unwrap() = Some(Arc::clone(&clearing));
    let paused = leased(&world);
    let draining = tokio::spawn(async move { paused.drain(IndexName::Workspace).await });
    clearing.wait_for(1).await;
    *world.engine.clearing.lock().unwrap() = None;
    world.clock.set(world.clock.now() + Duration::from_secs(16));
    let other = leased(&world);
    assert_eq!(other.drain(IndexName::Workspace).await.unwrap(), 4);
    assert_eq!(world.found("walrus").await.len(), 3);
    clearing.open.add_permits(1);
    let outcome = draining.await.unwrap();
    assert!(matches!(outcome, Err(FeedError::LeaseLost(IndexName::Workspace))), "{outcome:?}");
    assert!(world.found("walrus").await.is_empty(), "the index is cleared late");
    assert_eq!(other.drain(IndexName::Workspace).await.unwrap(), 4);
    assert_eq!(world.found("walrus").await.len(), 3);
    assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 0);
}

/// Copies the database, as a backup does.
fn back_up(world: &World) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["test.db", "test.db-wal"] {
        std::fs::copy(world.folder.path().join(name), folder.path().join(name)).unwrap();
    }
    folder
}

/// Opens the backup with the index of the world.
fn restored(world: &World, backup: &tempfile::TempDir) -> (Docstore, Feeder) {
    let store = Docstore::open(&Location::Sqlite(backup.path().join("test.db")), 4).unwrap();
    let engine = Arc::clone(&world.engine) as Arc<dyn SearchEngine>;
    let feeder = Feeder::new(store.clone(), engine, Ownership::Exclusive, Arc::clone(&world.clock) as Arc<dyn Clock>);
    (store, feeder)
}

/// After the backup one file is deleted, one replaced and one added.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn index_follows_a_database_that_was_restored_from_a_backup() {
    let world = indexed_world(3).await;
    let backup = back_up(&world);
    world.blobs.inner.delete(&world.key("0.txt")).await.unwrap();
    world.upload("1.txt", "carpenter").await;
    world.upload("new.txt", "walrus").await;
    let worker = world.worker(Duration::from_secs(10), Duration::from_secs(20));
    world.wait(world.request_run(RunMode::Incremental).await).await;
    worker.stop().await;
    assert_eq!((world.found("walrus").await.len(), world.found("carpenter").await.len()), (2, 1));

    let (store, feeder) = restored(&world, &backup);
    feeder.restore().await.unwrap();
    feeder.drain_all().await.unwrap();
    let mut found = world.found("walrus").await;
    found.sort();
    let mut expected = ["0.txt", "1.txt", "2.txt"].map(|name| world.doc_id(name));
    expected.sort();
    assert_eq!(found, expected);
    assert!(world.found("carpenter").await.is_empty());
    // Once is enough, and the other database does not match any more.
    feeder.restore().await.unwrap();
    assert_eq!(store.count_outbox(IndexName::Workspace).await.unwrap(), 0);
    world.feeder.restore().await.unwrap();
    assert!(world.store.count_outbox(IndexName::Workspace).await.unwrap() > 0);
}

/// Changes that a restored database makes before anybody looks at the index do not hide the difference.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restored_database_with_new_changes_is_noticed() {
    let world = indexed_world(2).await;
    let backup = back_up(&world);
    world.upload("0.txt", "carpenter").await;
    let worker = world.worker(Duration::from_secs(10), Duration::from_secs(20));
    world.wait(world.request_run(RunMode::Incremental).await).await;
    worker.stop().await;
    let (store, feeder) = restored(&world, &backup);
    store.enqueue_documents(IndexName::Workspace, vec![world.doc_id("1.txt"); 50], world.clock.now()).await.unwrap();
    let refused = feeder.drain_all().await.unwrap_err();
    assert!(matches!(refused, FeedError::UnknownGeneration(IndexName::Workspace)), "{refused}");
    feeder.restore().await.unwrap();
    feeder.drain_all().await.unwrap();
    assert_eq!((world.found("walrus").await.len(), world.found("carpenter").await.len()), (2, 0));
}

/// Restarts, outages and crashes between the steps of a batch are no reason to rebuild.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interrupted_batch_does_not_cause_a_rebuild() {
    let world = indexed_world(2).await;
    let doc_id = world.doc_id("0.txt");
    let enqueue = async || {
        world.store.enqueue_documents(IndexName::Workspace, vec![doc_id], world.clock.now()).await.unwrap();
    };
    for _ in 0..3 {
        enqueue().await;
        world.engine.outages.store(1, Ordering::SeqCst);
        world.feeder.drain_all().await.unwrap_err();
        world.feeder.restore().await.unwrap();
    }
    assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 3, "nothing was added");
    world.feeder.drain_all().await.unwrap();
    world.feeder.restore().await.unwrap();
    assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 0);
}
