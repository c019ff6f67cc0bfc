//! Runs while the disk is almost full.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use blobs::BlobStore;
use model::{RunMode, RunState};

use crate::world::World;

const LEASE: Duration = Duration::from_secs(10);
const RETRY_TIMEOUT: Duration = Duration::from_secs(20);

/// Waits until the disk was asked this often for room.
async fn asked(world: &World, times: u32) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while world.disk.asked.load(Ordering::SeqCst) < times {
        assert!(Instant::now() < deadline, "no run looks for room");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_deletes_and_begins_no_file_until_there_is_room() {
    let world = World::new().await;
    world.upload("old.txt", "alpha walrus").await;
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    world.wait(world.request_run(RunMode::Incremental).await).await;
    world.disk.is_full.store(true, Ordering::SeqCst);
    world.disk.asked.store(0, Ordering::SeqCst);
    world.blobs.inner.delete(&world.key("old.txt")).await.unwrap();
    world.upload("new.txt", "beta walrus").await;
    let sync_id = world.request_run(RunMode::Incremental).await;
    asked(&world, 3).await;
    let run = world.run(sync_id).await;
    assert_eq!((run.state, run.stats().deleted, run.stats().fetched), (RunState::Running, 1, 0));
    world.disk.is_full.store(false, Ordering::SeqCst);
    let run = world.wait(sync_id).await;
    assert_eq!((run.state, run.stats().deleted, run.stats().indexed), (RunState::Completed, 1, 1));
    assert_eq!(world.found("walrus").await, [world.doc_id("new.txt")]);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_run_is_released_by_a_stop() {
    let world = World::new().await;
    world.upload("a.txt", "alpha").await;
    world.disk.is_full.store(true, Ordering::SeqCst);
    // With a lease of an hour, the second worker can only resume a released run.
    let worker = world.worker(Duration::from_hours(1), RETRY_TIMEOUT);
    let sync_id = world.request_run(RunMode::Incremental).await;
    asked(&world, 1).await;
    worker.stop().await;
    world.disk.is_full.store(false, Ordering::SeqCst);
    let worker = world.worker(Duration::from_hours(1), RETRY_TIMEOUT);
    assert_eq!(world.wait(sync_id).await.state, RunState::Completed);
    worker.stop().await;
}

/// A store on the same disk fails, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outage_on_a_full_disk_fails_no_run() {
    let world = World::new().await;
    world.upload("a.txt", "alpha").await;
    world.disk.is_full.store(true, Ordering::SeqCst);
    world.blobs.outages.store(1_000, Ordering::SeqCst);
    let worker = world.worker(LEASE, Duration::from_millis(700));
    let sync_id = world.request_run(RunMode::Incremental).await;
    // On a disk with room the second failure ends the run.
    asked(&world, 2).await;
    world.blobs.outages.store(0, Ordering::SeqCst);
    world.disk.is_full.store(false, Ordering::SeqCst);
    assert_eq!(world.wait(sync_id).await.state, RunState::Completed);
    worker.stop().await;
}
