//! Runs of many organizations at a time.

use std::time::Duration;

use docstore::Docstore;
use ingest::prepare::{self, Content, Source};
use model::{Clock, Collection, DocId, FileOutcome, IndexName, OrganizationId, RunMode, RunState};

use crate::world::World;

const LEASE: Duration = Duration::from_secs(10);
const RETRY_TIMEOUT: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_run_ends_beside_slow_ones() {
    let (world, extractor) = World::slow().await;
    let mut slow = Vec::new();
    for _ in 0..4 {
        let neighbour = world.neighbour().await;
        for n in 0..12 {
            neighbour.upload(&format!("slow {n}.txt"), "one line").await;
        }
        neighbour.upload("quick.txt", "one line").await;
        let sync_id = neighbour.request_run(RunMode::Incremental).await;
        slow.push((neighbour, sync_id));
    }
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    world.upload("a.txt", "one line").await;
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!((run.state, run.stats().indexed), (RunState::Completed, 1));
    for (neighbour, sync_id) in &slow {
        // Their own quick files do not wait for the slow ones either.
        while neighbour.run(*sync_id).await.indexed == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(neighbour.run(*sync_id).await.state, RunState::Running);
    }
    extractor.release.add_permits(1_000);
    for (neighbour, sync_id) in slow {
        let run = neighbour.wait(sync_id).await;
        assert_eq!((run.state, run.stats().failed, run.stats().indexed), (RunState::Completed, 12, 1));
        let key = neighbour.key("slow 3.txt");
        let file = neighbour.store.find_file(neighbour.organization_id, key).await.unwrap().unwrap();
        assert_eq!(file.outcome, Some(FileOutcome::Failed));
        assert!(file.reason.unwrap().starts_with("timed_out"));
    }
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_files_than_a_page_are_listed_once_each() {
    let world = World::new().await;
    for n in 0..1_100 {
        world.upload(&format!("{n}.txt"), &format!("number {n}")).await;
    }
    let worker = world.worker(LEASE, RETRY_TIMEOUT);
    let run = world.wait(world.request_run(RunMode::Incremental).await).await;
    let stats = run.stats();
    assert_eq!((run.state, stats.enumerated, stats.indexed), (RunState::Completed, 1_100, 1_100));
    let again = world.wait(world.request_run(RunMode::Incremental).await).await;
    assert_eq!((again.stats().enumerated, again.stats().fetched), (1_100, 0));
    worker.stop().await;
}

async fn save(store: &Docstore, owner: OrganizationId, name: &str, text: String, clock: &dyn Clock) -> DocId {
    let source = Source {
        collection: Collection::Workspace(owner),
        canonical_url: retrieval_core::url::workspace_url(owner, name),
        source_url: String::new(),
        source_uri: None,
        mime: None,
        country: None,
        listed: true,
    };
    let content = Content { markdown: text, ..Content::default() };
    let document = prepare::document(source, content, clock.now());
    let doc_id = document.document.doc_id;
    store.save_documents(vec![document], clock.now()).await.unwrap();
    doc_id
}

/// The backlog of one organization is more than a batch of the index takes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batch_of_the_index_has_documents_of_all_organizations() {
    let world = World::new().await;
    let neighbour = world.neighbour().await;
    for n in 0..100 {
        let text = format!("{n} {}", "words ".repeat(40_000));
        save(&world.store, neighbour.organization_id, &format!("{n}.txt"), text, world.clock.as_ref()).await;
    }
    let small = save(&world.store, world.organization_id, "a.txt", "one line".into(), world.clock.as_ref()).await;
    let before = world.store.outbox_bounds_of(IndexName::Workspace, world.organization_id).await.unwrap();
    assert!(before.is_some());
    world.feeder.drain(IndexName::Workspace).await.unwrap();
    let batches = world.engine.applied.lock().unwrap().clone();
    assert!(batches.len() > 1, "one batch does not take all");
    assert!(batches[0].contains(&small), "the latest document is in the first batch");
    assert_eq!(batches.concat().len(), 101);
    assert_eq!(world.store.count_outbox(IndexName::Workspace).await.unwrap(), 0);
}
