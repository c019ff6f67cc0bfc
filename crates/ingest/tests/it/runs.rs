//! Indexing runs: outcomes, deletions, outages, leases.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use blobs::{BlobErrorKind, BlobStore};
use docstore::{MeasuredObject, MeasuredUpload, Withdrawal};
use extract::{ExtractError, ExtractErrorKind};
use extract_worker::WorkError;
use model::{Clock, FileOutcome, RunMode, RunState, RunStats};

use crate::faulty::Gate;
use crate::world::World;

const LEASE: Duration = Duration::from_secs(10);
const RETRY_TIMEOUT: Duration = Duration::from_secs(20);

fn stats(enumerated: u64, fetched: u64, indexed: u64, bytes: u64) -> RunStats {
    RunStats { enumerated, fetched, indexed, bytes, ..RunStats::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn incremental_run_reads_only_new_files() {
    let world = World::new().await;
    world.upload("a.txt", "alpha walrus").await;
    world.upload("b.md", "# Beta\n\nwalrus").await;
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    let first = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!(first.state, RunState::Completed);
    assert_eq!(first.stats(), stats(2, 2, 2, 12 + 14));
    assert_eq!(world.found("walrus").await.len(), 2);
    let second = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!(second.stats(), stats(2, 0, 0, 0));
    let full = world.wait(world.request_run(RunMode::Full).await).await;
    assert_eq!(full.stats(), stats(2, 2, 2, 12 + 14));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn file_missing_from_storage_is_removed_and_counted() {
    let world = World::new().await;
    world.upload("a.txt", "alpha").await;
    world.upload("b.txt", "beta").await;
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    world.wait(world.request_run(RunMode::Incremental).await).await;
    world.blobs.inner.delete(&world.key("a.txt")).await.unwrap();
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!(run.stats(), RunStats { enumerated: 1, deleted: 1, ..RunStats::default() });
    assert!(world.found("alpha").await.is_empty());
    assert_eq!(world.found("beta").await, [world.doc_id("b.txt")]);
    // The same file comes back.
    world.upload("a.txt", "alpha").await;
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!(run.stats(), stats(2, 1, 1, 5));
    assert_eq!(world.found("alpha").await, [world.doc_id("a.txt")]);
    worker.stop().await;
}

/// The file is not stored again, and its next upload is read although it has the same bytes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn file_deleted_while_its_first_run_reads_it_stays_deleted() {
    let (world, extractor) = World::slow().await;
    let gate = Gate::closed();
    *extractor.gate.lock().unwrap() = Some(Arc::clone(&gate));
    world.upload("a.txt", "alpha walrus").await;
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    let reading = world.request_run(RunMode::Incremental).await;
    gate.wait_for(1).await;
    world.clock.advance(Duration::from_millis(1));
    let (queued, _) = world.withdraw("a.txt", RunMode::Incremental).await;
    world.blobs.inner.delete(&world.key("a.txt")).await.unwrap();
    gate.open.add_permits(1);
    let run = world.wait(reading).await;
    assert_eq!((run.state, run.stats().indexed, run.stats().deleted), (RunState::Completed, 0, 1));
    assert!(world.found("walrus").await.is_empty());
    assert_eq!(world.wait(queued).await.state, RunState::Completed);

    world.clock.advance(Duration::from_millis(1));
    world.upload("a.txt", "alpha walrus").await;
    gate.open.add_permits(1);
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!(run.stats(), stats(1, 1, 1, 12));
    assert_eq!(world.found("walrus").await, [world.doc_id("a.txt")]);
    worker.stop().await;
}

/// Its object stays for a while, and the run reads it after the deletion.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn file_deleted_before_a_run_reads_it_stays_deleted() {
    let (world, extractor) = World::slow().await;
    let gate = Gate::closed();
    *extractor.gate.lock().unwrap() = Some(Arc::clone(&gate));
    // A run reads a few files at a time, in the order of their keys. The last one waits for its turn.
    let mut names = ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"];
    names.sort_by_key(|name| world.key(name));
    for name in names {
        world.upload(name, "alpha walrus").await;
    }
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    let reading = world.request_run(RunMode::Incremental).await;
    gate.wait_for(1).await;
    world.clock.advance(Duration::from_millis(1));
    world.withdraw(names[4], RunMode::Incremental).await;
    world.clock.advance(Duration::from_millis(1));
    gate.open.add_permits(5);
    let run = world.wait(reading).await;
    assert_eq!((run.state, run.stats().indexed, run.stats().deleted), (RunState::Completed, 4, 1));
    let mut found = world.found("walrus").await;
    let mut expected: Vec<_> = names[..4].iter().map(|name| world.doc_id(name)).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    worker.stop().await;
}

/// The upload began before its URL expired, and ended after the file was measured without it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn late_upload_is_measured_again() {
    let world = World::new().await;
    world.upload("late.txt", "walrus").await;
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    let unmeasured = async || {
        world.wait(world.request_run(RunMode::Incremental).await).await;
        let organization = Some(world.organization_id);
        let files = world.store.list_expired_uploads(organization, world.clock.now(), 10).await.unwrap();
        files.into_iter().map(|file| file.object_key).collect::<Vec<_>>()
    };
    let key = world.key("late.txt");
    assert_eq!(unmeasured().await, std::slice::from_ref(&key));
    let object = MeasuredObject { bytes: 6, uploaded_at: world.clock.now(), etag: String::new() };
    let measured = MeasuredUpload { object_key: key, object: Some(object) };
    world.store.settle_uploads(world.organization_id, vec![measured], world.clock.now()).await.unwrap();
    assert_eq!(unmeasured().await, Vec::<String>::new());
    worker.stop().await;
}

/// A URL limits the start of its upload, which can take hours.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn name_without_an_object_is_forgotten_after_a_day() {
    let world = World::new().await;
    for name in ["slow.txt", "never.txt"] {
        world.register(name).await;
    }
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    let run = async || world.wait(world.request_run(RunMode::Incremental).await).await;
    let is_known =
        async |name: &str| world.store.find_file(world.organization_id, world.key(name)).await.unwrap().is_some();
    world.clock.advance(Duration::from_mins(61));
    assert_eq!(run().await.stats(), stats(0, 0, 0, 0));
    assert!(is_known("slow.txt").await && is_known("never.txt").await);
    world.put("slow.txt", "alpha walrus").await;
    assert_eq!(run().await.stats(), stats(1, 1, 1, 12));
    assert_eq!(world.found("walrus").await, [world.doc_id("slow.txt")]);
    world.clock.advance(Duration::from_hours(23));
    assert_eq!(run().await.stats(), stats(1, 0, 0, 0));
    assert!(is_known("slow.txt").await && !is_known("never.txt").await);
    worker.stop().await;
}

/// An instance that is started on another store sees none of its objects. The names are nowhere else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_file_outlives_the_absence_of_its_object() {
    let world = World::new().await;
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    let run = async || world.wait(world.request_run(RunMode::Incremental).await).await;
    let is_known =
        async |name: &str| world.store.find_file(world.organization_id, world.key(name)).await.unwrap().is_some();
    world.upload("a.txt", "alpha walrus").await;
    world.upload("binary.txt", "\u{0}\u{1}\u{2}\u{0}\u{0}\u{0}binary\u{0}\u{0}\u{0}\u{0}").await;
    assert_eq!((run().await.stats().indexed, run().await.stats().fetched), (1, 0));
    world.clock.advance(Duration::from_hours(25));
    for name in ["a.txt", "binary.txt"] {
        world.blobs.inner.delete(&world.key(name)).await.unwrap();
    }
    assert_eq!(run().await.stats(), RunStats { deleted: 1, ..RunStats::default() });
    assert!(world.found("walrus").await.is_empty());
    // The first run has forgotten the outcomes.
    assert_eq!(run().await.stats(), RunStats::default());
    assert!(is_known("a.txt").await && is_known("binary.txt").await);

    world.put("a.txt", "alpha walrus").await;
    assert_eq!(run().await.stats(), stats(1, 1, 1, 12));
    assert_eq!(world.found("walrus").await, [world.doc_id("a.txt")]);

    // Its owner can delete it nevertheless, and its name is then forgotten.
    world.withdraw("binary.txt", RunMode::Incremental).await;
    assert_eq!(run().await.state, RunState::Completed);
    assert!(is_known("a.txt").await && !is_known("binary.txt").await);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn interrupted_deletion_is_completed_by_the_next_run() {
    let world = World::new().await;
    world.upload("a.txt", "alpha").await;
    world.upload("b.txt", "beta").await;
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    world.wait(world.request_run(RunMode::Incremental).await).await;
    // The server crashed before it deleted the object.
    let (sync_id, withdrawn) = world.withdraw("a.txt", RunMode::Full).await;
    assert_eq!(withdrawn, Some(Withdrawal { hidden: true, queued: true, earlier: None }));
    let run = world.wait(sync_id).await;
    assert_eq!((run.stats().enumerated, run.stats().indexed, run.stats().deleted), (1, 1, 1));
    assert!(world.blobs.inner.head(&world.key("a.txt")).await.unwrap().is_none());
    assert!(world.found("alpha").await.is_empty());
    // The name can be uploaded again.
    world.upload("a.txt", "alpha once more").await;
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!(run.stats().indexed, 1);
    assert_eq!(world.found("alpha").await, [world.doc_id("a.txt")]);
    worker.stop().await;
}

/// The deletion hides what the run reads, and the same content may come back before the run records it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn file_deleted_and_uploaded_again_while_a_run_reads_it_is_found() {
    let (world, extractor) = World::slow().await;
    world.upload("a.txt", "alpha walrus").await;
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    world.wait(world.request_run(RunMode::Incremental).await).await;
    let gate = Gate::closed();
    *extractor.gate.lock().unwrap() = Some(Arc::clone(&gate));
    let reading = world.request_run(RunMode::Full).await;
    gate.wait_for(1).await;
    world.clock.advance(Duration::from_millis(1));
    let (queued, _) = world.withdraw("a.txt", RunMode::Incremental).await;
    world.blobs.inner.delete(&world.key("a.txt")).await.unwrap();
    world.clock.advance(Duration::from_millis(1));
    world.upload("a.txt", "alpha walrus").await;
    extractor.gate.lock().unwrap().take();
    gate.open.add_permits(1);
    assert_eq!(world.wait(reading).await.state, RunState::Completed);
    assert_eq!(world.wait(queued).await.state, RunState::Completed);
    assert_eq!(world.found("walrus").await, [world.doc_id("a.txt")]);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upload_after_the_plan_of_a_deletion_stays() {
    let world = World::new().await;
    world.upload("a.txt", "alpha").await;
    world.withdraw("a.txt", RunMode::Full).await;
    world.blobs.replaced.lock().unwrap().insert(world.key("a.txt"));
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    world.wait(world.request_run(RunMode::Full).await).await;
    let kept = world.blobs.inner.head(&world.key("a.txt")).await.unwrap();
    assert_eq!(kept.map(|object| object.size), Some(14));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upload_between_two_attempts_to_delete_stays() {
    let world = World::new().await;
    world.upload("a.txt", "alpha").await;
    world.withdraw("a.txt", RunMode::Full).await;
    world.blobs.replaced_at_deletion.lock().unwrap().insert(world.key("a.txt"));
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    let run = world.wait(world.request_run(RunMode::Full).await).await;
    assert_eq!(run.state, RunState::Completed);
    assert!(world.blobs.replaced_at_deletion.lock().unwrap().is_empty(), "an attempt failed");
    let kept = world.blobs.inner.head(&world.key("a.txt")).await.unwrap();
    assert_eq!(kept.map(|object| object.size), Some(14));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unreadable_file_fails_with_a_reason_and_loses_its_old_content() {
    let world = World::new().await;
    world.upload("good.txt", "walrus").await;
    world.upload("turns.txt", "seal").await;
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!(world.found("seal").await.len(), 1);
    world.upload("turns.txt", "\u{0}\u{1}\u{2}\u{0}\u{0}\u{0}binary\u{0}\u{0}\u{0}\u{0}").await;
    world.upload("picture.pdf", "\u{89}PNG not a pdf").await;
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!(run.state, RunState::Completed);
    assert_eq!((run.stats().failed, run.stats().indexed, run.stats().enumerated), (2, 0, 3));
    assert!(world.found("seal").await.is_empty());
    let file = world.store.find_file(world.organization_id, world.key("picture.pdf")).await.unwrap().unwrap();
    assert_eq!(file.outcome, Some(FileOutcome::Failed));
    assert!(file.reason.unwrap().starts_with("wrong_type"), "the reason is stored");
    // An unchanged file that failed is not retried.
    let again = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!(again.stats(), stats(3, 0, 0, 0));
    worker.stop().await;
}

/// PostgreSQL would refuse it, and with it the results of all files that are recorded together.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reason_of_a_failure_has_no_nul() {
    let (world, extractor) = World::slow().await;
    let error = ExtractError { kind: ExtractErrorKind::WrongType, message: "but `x\0y`".to_owned() };
    extractor.refusals.lock().unwrap().push_back(WorkError::Document(error));
    world.upload("a.odt", "walrus").await;
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!((run.state, run.stats().failed), (RunState::Completed, 1));
    let file = world.store.find_file(world.organization_id, world.key("a.odt")).await.unwrap().unwrap();
    assert_eq!((file.outcome, file.reason.as_deref()), (Some(FileOutcome::Failed), Some("wrong_type: but `xy`")));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn file_vanishing_during_a_run_counts_as_deleted() {
    let world = World::new().await;
    world.upload("a.txt", "alpha").await;
    world.upload("b.txt", "beta").await;
    world.blobs.vanishing.lock().unwrap().insert(world.key("a.txt"));
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!(run.state, RunState::Completed);
    assert_eq!((run.stats().deleted, run.stats().failed, run.stats().indexed), (1, 0, 1));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_survives_a_storage_outage() {
    let world = World::new().await;
    world.upload("a.txt", "alpha").await;
    world.blobs.outages.store(3, Ordering::SeqCst);
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!(run.state, RunState::Completed);
    assert_eq!(run.stats(), stats(1, 1, 1, 5));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_fails_with_the_cause_of_a_lasting_outage() {
    let world = World::new().await;
    world.upload("a.txt", "alpha").await;
    world.blobs.outages.store(1_000, Ordering::SeqCst);
    let worker = world.worker(LEASE, Duration::from_millis(700));
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!(run.state, RunState::Failed);
    assert!(run.error.unwrap().contains("storage"), "the error names the backend");
    // The next run finds all files unprocessed.
    world.blobs.outages.store(0, Ordering::SeqCst);
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!(run.stats(), stats(1, 1, 1, 5));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_resumes_after_killed_workers_with_exact_counts() {
    let world = World::new().await;
    for n in 0..300 {
        world.upload(&format!("{n}.txt"), &format!("walrus number {n}")).await;
    }
    let sync_id = world.request_run(RunMode::Full).await;
    for _ in 0..3 {
        let worker = world.worker(LEASE, RETRY_TIMEOUT);
        let before = world.run(sync_id).await.indexed;
        while world.run(sync_id).await.indexed == before && !world.run(sync_id).await.state.is_terminal() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        worker.kill();
        world.clock.advance(LEASE);
    }
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    let run = world.wait(sync_id).await;
    assert_eq!(run.state, RunState::Completed);
    assert_eq!((run.stats().enumerated, run.stats().indexed, run.stats().failed), (300, 300, 0));
    let mut found = world.found("walrus").await;
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), 300);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_worker_releases_the_run_at_once() {
    let world = World::new().await;
    for n in 0..200 {
        world.upload(&format!("{n}.txt"), "walrus").await;
    }
    let sync_id = world.request_run(RunMode::Incremental).await;
    // With a lease of an hour, the second worker can only resume a released run.
    let worker = world.worker(Duration::from_secs(3_600), RETRY_TIMEOUT);
    while world.run(sync_id).await.indexed == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    worker.stop().await;
    let worker = world.worker(Duration::from_secs(3_600), RETRY_TIMEOUT);
    let run = world.wait(sync_id).await;
    assert_eq!((run.stats().indexed, run.stats().failed), (200, 0));
    worker.stop().await;
}

/// Damage in storage says nothing about the file: its text stays, and every run tries again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn damaged_object_keeps_its_text_and_is_retried() {
    let world = World::new().await;
    world.upload("a.txt", "alpha walrus").await;
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    world.wait(world.request_run(RunMode::Incremental).await).await;
    world.blobs.corrupt.lock().unwrap().insert(world.key("a.txt"));
    for mode in [RunMode::Full, RunMode::Incremental] {
        let run = world.wait(world.request_run(mode).await).await;
        let failed = RunStats { enumerated: 1, failed: 1, ..RunStats::default() };
        assert_eq!((run.state, run.stats()), (RunState::Completed, failed));
        let file = world.store.find_file(world.organization_id, world.key("a.txt")).await.unwrap().unwrap();
        assert_eq!(file.outcome, Some(FileOutcome::Failed));
        assert!(file.reason.as_deref().unwrap().starts_with("corrupt_object: "), "{file:?}");
        assert_eq!(world.found("walrus").await, [world.doc_id("a.txt")]);
    }
    world.blobs.corrupt.lock().unwrap().clear();
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!(run.stats(), stats(1, 1, 1, 12));
    worker.stop().await;
}

/// Storage may refuse one object, such as an archived one, while it serves all others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn object_that_storage_does_not_return_fails_alone() {
    for kind in [BlobErrorKind::Unavailable, BlobErrorKind::Denied] {
        let world = World::new().await;
        for name in ["a.txt", "b.txt", "c.txt"] {
            world.upload(name, "alpha walrus").await;
        }
        world.blobs.refused.lock().unwrap().insert(world.key("a.txt"), kind);
        let worker = world.worker(LEASE, Duration::from_secs(10));
        let run = world.wait(world.request_run(RunMode::Incremental).await).await;
        assert_eq!((run.state, run.error.clone()), (RunState::Completed, None), "{kind:?}");
        assert_eq!(run.stats(), RunStats { failed: 1, ..stats(3, 2, 2, 24) }, "{kind:?}");
        assert_eq!(world.found("walrus").await.len(), 2);
        world.blobs.refused.lock().unwrap().clear();
        let run = world.wait(world.request_run(RunMode::Incremental).await).await;
        assert_eq!(run.stats(), stats(3, 1, 1, 12), "the next run tries again");
        worker.stop().await;
    }
}

/// The failure says nothing about the file, here one that is downloaded to the disk.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn object_that_storage_does_not_return_keeps_its_text() {
    let world = World::new().await;
    let text = "The walrus and the carpenter.\n\n".repeat(40_000);
    world.upload("large.txt", &text).await;
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    world.wait(world.request_run(RunMode::Incremental).await).await;
    world.blobs.refused.lock().unwrap().insert(world.key("large.txt"), BlobErrorKind::Failed);
    for mode in [RunMode::Full, RunMode::Incremental] {
        let run = world.wait(world.request_run(mode).await).await;
        let failed = RunStats { enumerated: 1, failed: 1, ..RunStats::default() };
        assert_eq!((run.state, run.stats()), (RunState::Completed, failed));
        let file = world.store.find_file(world.organization_id, world.key("large.txt")).await.unwrap().unwrap();
        assert_eq!((file.outcome, file.processed_etag), (Some(FileOutcome::Failed), None));
        assert!(file.reason.unwrap().starts_with("unreadable_object: "));
        assert_eq!(world.found("walrus").await, [world.doc_id("large.txt")]);
    }
    worker.stop().await;
}

/// The files are not to blame for a wrong key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn denied_access_to_all_of_storage_fails_the_run() {
    let world = World::new().await;
    world.upload("a.txt", "alpha").await;
    world.blobs.refused.lock().unwrap().insert(world.key("a.txt"), BlobErrorKind::Denied);
    world.blobs.is_away.store(true, Ordering::SeqCst);
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!((run.state, run.stats().failed), (RunState::Failed, 0));
    assert!(run.error.unwrap().contains("injected refusal"));
    worker.stop().await;
}

/// The system may refuse to start a process for a while, also during the second attempt of a postponed file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_waits_for_an_extraction_worker() {
    let (world, extractor) = World::slow().await;
    world.upload("a.txt", "alpha walrus").await;
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    let missing = || WorkError::Unavailable("Resource temporarily unavailable (os error 11)".to_owned());
    extractor.refusals.lock().unwrap().extend([missing(), WorkError::Postponed, missing()]);
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!((run.state, run.stats()), (RunState::Completed, stats(1, 1, 1, 12)));
    assert_eq!(world.found("walrus").await, [world.doc_id("a.txt")]);
    worker.stop().await;
}

/// Large files are downloaded to the disk, which may be full for a while.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_waits_for_room_on_the_disk() {
    let world = World::new().await;
    let text = "The walrus and the carpenter.\n\n".repeat(40_000);
    world.upload("large.txt", &text).await;
    world.blobs.full_disk.store(2, Ordering::SeqCst);
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!((run.state, run.error), (RunState::Completed, None));
    assert_eq!(world.blobs.full_disk.load(Ordering::SeqCst), 0);
    assert_eq!(world.found("walrus").await, [world.doc_id("large.txt")]);
    worker.stop().await;
}

/// A lack of cores says nothing about the file: its text stays, and the next run tries again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn starved_file_keeps_its_text_and_is_retried() {
    let (world, extractor) = World::slow().await;
    world.upload("a.txt", "alpha walrus").await;
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    world.wait(world.request_run(RunMode::Incremental).await).await;
    let starved = || WorkError::Overloaded { retry_after: Duration::from_secs(8) };
    extractor.refusals.lock().unwrap().extend([starved(), starved()]);
    let run = world.wait(world.request_run(RunMode::Full).await).await;
    let failed = RunStats { enumerated: 1, fetched: 1, failed: 1, bytes: 12, ..RunStats::default() };
    assert_eq!((run.state, run.stats()), (RunState::Completed, failed));
    let file = world.store.find_file(world.organization_id, world.key("a.txt")).await.unwrap().unwrap();
    assert_eq!((file.outcome, file.processed_etag), (Some(FileOutcome::Failed), None));
    assert!(file.reason.unwrap().starts_with("timed_out: "));
    assert_eq!(world.found("walrus").await, [world.doc_id("a.txt")]);
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!(run.stats(), stats(1, 1, 1, 12));
    worker.stop().await;
}
