use std::time::Duration;

use app::Error;
use research::RunEvent;
use test_support::Setup;

use super::world::{QUESTION, World, check_sequence, standard};

/// Follows a run to its end, cut off after every batch.
async fn follow(world: &World, id: model::ResearchId, mut after: i64) -> Vec<RunEvent> {
    let mut events = Vec::new();
    loop {
        let mut follower = world.app.research.follow(&world.tenant.viewer, id, after).await.unwrap();
        let found = follower.next().await.unwrap();
        let Some(last) = found.last() else { return events };
        after = last.sequence;
        events.extend(found);
    }
}

#[tokio::test]
async fn stream_cut_at_each_event_resumes_without_loss() {
    let world = World::new().await;
    let id = world.create(standard(QUESTION)).await;
    let _working = world.app.work_on_research();
    let live = follow(&world, id, 0).await;
    check_sequence(&live);
    let stored = world.events(id).await;
    assert_eq!(live.len(), stored.len());
    for after in 0..=stored.len() {
        let rest = follow(&world, id, after as i64).await;
        let sequences: Vec<i64> = rest.iter().map(|event| event.sequence).collect();
        assert_eq!(sequences, (after as i64 + 1..=stored.len() as i64).collect::<Vec<_>>());
    }
    assert!(follow(&world, id, i64::MAX).await.is_empty());
}

#[tokio::test]
async fn stream_of_a_deleted_run_ends() {
    let world = World::new().await;
    let id = world.create(standard(QUESTION)).await;
    let mut follower = world.app.research.follow(&world.tenant.viewer, id, 1).await.unwrap();
    let waiting = tokio::spawn(async move { follower.next().await.unwrap() });
    world.app.research.delete(&world.tenant.viewer, id).await.unwrap();
    assert!(waiting.await.unwrap().is_empty());
}

#[tokio::test]
async fn readers_of_one_organization_are_limited() {
    let mut setup = Setup::default();
    setup.research.waiting_per_organization = 1;
    let world = World::with(setup).await;
    let id = world.create(standard(QUESTION)).await;
    let (research, viewer) = (&world.app.research, &world.tenant.viewer);
    let reader = research.follow(viewer, id, 0).await.unwrap();
    assert!(matches!(research.follow(viewer, id, 0).await, Err(Error::ResearchReaders { limit: 1 })));
    // A poll answers at once instead.
    research.wait_for_end(viewer, id, Duration::from_secs(30)).await.unwrap();
    drop(reader);
    research.follow(viewer, id, 0).await.unwrap();
}

#[tokio::test]
async fn waiting_poll_returns_at_the_end() {
    let world = World::new().await;
    let id = world.create(standard(QUESTION)).await;
    let _working = world.app.work_on_research();
    world.app.research.wait_for_end(&world.tenant.viewer, id, Duration::from_secs(30)).await.unwrap();
    assert!(world.get(id).await.status.is_terminal());
}
