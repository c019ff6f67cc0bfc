use std::sync::Arc;
use std::time::Duration;

use model::{Clock, ResearchStatus, ResearchStop};
use test_support::{Setup, until};

use super::world::{QUESTION, Worker, World, check_sequence, kinds, quick, standard};

/// More than a lease, and less than the time of a quick run.
const LATER: Duration = Duration::from_secs(16);

fn setup() -> Setup {
    let mut setup = Setup::default();
    setup.research.runs_per_organization = 50;
    setup
}

#[tokio::test]
async fn run_killed_at_each_step_continues_elsewhere() {
    let world = World::with(setup()).await;
    let whole = world.run(standard(QUESTION)).await;
    let events = world.events(whole.research_id).await;
    for killed_after in 1..events.len() as i64 {
        let id = world.create(standard(QUESTION)).await;
        let first = Worker::start(&world.another());
        until("an event", async || {
            let status = world.app.store.find_research_status(world.tenant.organization_id, id).await.unwrap();
            status.is_some_and(|(_, last)| last >= killed_after).then_some(())
        })
        .await;
        first.kill().await;
        world.app.clock.advance(LATER);
        let second = Worker::start(&world.another());
        let run = world.ended(id).await;
        second.kill().await;
        assert_eq!(run.status, ResearchStatus::Completed, "killed after {killed_after}");
        assert_eq!(run.report.as_ref().unwrap().text, whole.report.as_ref().unwrap().text);
        assert_eq!(run.searches, whole.searches);
        let continued = world.events(id).await;
        check_sequence(&continued);
        assert_eq!(kinds(&continued), kinds(&events));
        world.verify(&run).await;
    }
}

#[tokio::test]
async fn run_killed_within_a_step_repeats_it() {
    let world = World::with(setup()).await;
    world.app.engine.hold();
    let id = world.create(quick(QUESTION)).await;
    let first = Worker::start(&world.another());
    world.app.engine.reached(1).await;
    first.kill().await;
    let second = Worker::start(&world.another());
    // Not before the lease has expired.
    let status = world.app.store.find_research_status(world.tenant.organization_id, id).await.unwrap().unwrap();
    assert_eq!(status.0, ResearchStatus::Running);
    world.app.clock.advance(LATER);
    world.app.engine.reached(2).await;
    world.app.engine.release();
    assert_eq!(world.ended(id).await.status, ResearchStatus::Completed);
    second.kill().await;
    check_sequence(&world.events(id).await);
}

#[tokio::test]
async fn worker_that_lost_its_lease_stores_nothing() {
    let world = World::with(setup()).await;
    world.app.engine.hold();
    let id = world.create(quick(QUESTION)).await;
    let slow = Worker::start(&world.another());
    world.app.engine.reached(1).await;
    world.app.clock.advance(LATER);
    let other = Worker::start(&world.another());
    world.app.engine.reached(2).await;
    world.app.engine.release();
    let run = world.ended(id).await;
    assert_eq!(run.status, ResearchStatus::Completed);
    let events = world.events(id).await;
    check_sequence(&events);
    assert_eq!(events.iter().filter(|event| event.kind == "search").count(), run.searches as usize);
    slow.kill().await;
    other.kill().await;
    assert_eq!(world.events(id).await.len(), events.len());
}

#[tokio::test]
async fn stopped_worker_releases_its_runs_at_once() {
    let world = World::with(setup()).await;
    world.app.engine.hold();
    let id = world.create(quick(QUESTION)).await;
    let working = world.app.work_on_research();
    world.app.engine.reached(1).await;
    drop(working);
    let other = Worker::start(&world.another());
    world.app.engine.reached(2).await;
    world.app.engine.release();
    assert_eq!(world.ended(id).await.status, ResearchStatus::Completed);
    other.kill().await;
}

#[tokio::test]
async fn run_that_kills_its_workers_ends_as_interrupted() {
    let world = World::with(setup()).await;
    let id = world.create(quick(QUESTION)).await;
    for attempt in 0..4 {
        let now = world.app.clock.now();
        let claimed = world.app.store.claim_research(format!("worker {attempt}"), Vec::new(), now, now).await.unwrap();
        assert_eq!(claimed.unwrap().run.attempts, attempt + 1);
        world.app.clock.advance(LATER);
    }
    let _working = world.app.work_on_research();
    let run = world.ended(id).await;
    assert_eq!((run.status, run.stop_reason), (ResearchStatus::Failed, Some(ResearchStop::Interrupted)));
    assert_eq!(run.error.unwrap().code, "interrupted");
    check_sequence(&world.events(id).await);
}

#[tokio::test]
async fn racing_workers_execute_each_run_once() {
    let world = World::with(setup()).await;
    let mut ids = Vec::new();
    for _ in 0..12 {
        ids.push(world.create(quick(QUESTION)).await);
    }
    let workers: Vec<Worker> = (0..3).map(|_| Worker::start(&world.another())).collect();
    for id in ids {
        let run = world.ended(id).await;
        assert_eq!(run.status, ResearchStatus::Completed);
        let events = world.events(id).await;
        check_sequence(&events);
        assert_eq!(events.iter().filter(|event| event.kind == "started").count(), 1);
        assert_eq!(events.iter().filter(|event| event.kind == "search").count(), run.searches as usize);
    }
    for worker in workers {
        worker.kill().await;
    }
}

#[tokio::test]
async fn organizations_take_turns() {
    let world = World::with(setup()).await;
    let other = world.app.tenant().await;
    for _ in 0..3 {
        world.create(quick(QUESTION)).await;
        world.app.clock.advance(Duration::from_millis(5));
    }
    world.app.research.create(&other.viewer, quick(QUESTION)).await.unwrap();
    let mut claimed = Vec::new();
    for n in 0..4 {
        let now = world.app.clock.now();
        let run = world
            .app
            .store
            .claim_research(format!("worker {n}"), Vec::new(), now, now + LATER)
            .await
            .unwrap()
            .unwrap()
            .run;
        claimed.push(run.organization_id);
    }
    let (ours, theirs) = (world.tenant.organization_id, other.organization_id);
    assert_eq!(claimed, [ours, theirs, ours, ours]);
}

#[tokio::test]
async fn deleted_organization_ends_its_runs() {
    let world = World::with(setup()).await;
    let id = world.create(quick(QUESTION)).await;
    let now = world.app.clock.now();
    let organization_id = world.tenant.organization_id;
    app::accounts::delete_organization(&world.app.store, "test", now, organization_id).await.unwrap();
    let (run, _) = world.app.store.find_research(organization_id, id).await.unwrap().unwrap();
    assert_eq!(run.status, ResearchStatus::Failed);
    let blobs = Arc::clone(&world.app.blobs);
    app::removal::remove_organization(&world.app.store, blobs.as_ref(), world.app.clock.as_ref(), organization_id)
        .await
        .unwrap();
    assert!(world.app.store.find_research(organization_id, id).await.unwrap().is_none());
}
