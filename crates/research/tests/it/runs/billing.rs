use std::sync::Arc;
use std::time::Duration;

use app::Error;
use model::{BalanceReason, ResearchId, ResearchStatus, ResearchStop};
use test_support::{EngineFault, Setup, runtime, until};
use tokio_util::sync::CancellationToken;

use super::world::{QUESTION, Worker, World, quick, standard};

async fn billed(cents: u64) -> World {
    billed_with(Setup::default(), cents).await
}

async fn billed_with(mut setup: Setup, cents: u64) -> World {
    setup.options.search_cents = 3;
    let mut world = World::with(setup).await;
    world.tenant = world.app.billed_tenant(cents).await;
    world
}

/// Charges a run for a search that it will never store. A killed process refunds nothing, unlike a dropped search.
async fn lose_search(world: &World, research_id: ResearchId) {
    let lost = docstore::BalanceEntry {
        search_id: Some(uuid::Uuid::new_v4().into()),
        identity: Some(world.tenant.viewer.identity.rate_key()),
        research_id: Some(research_id),
        ..docstore::BalanceEntry::new(
            uuid::Uuid::new_v4().into(),
            world.tenant.organization_id,
            -3,
            BalanceReason::Search,
            model::Clock::now(world.app.clock.as_ref()),
        )
    };
    world.app.store.post_balance_entry(lost).await.unwrap().unwrap();
}

#[tokio::test]
async fn searches_of_a_run_are_billed_and_name_it() {
    let world = billed(1_000).await;
    let run = world.run(standard(QUESTION)).await;
    assert!(run.searches >= 2);
    let entries = world.app.store.list_balance_entries(world.tenant.organization_id, None, 1_000).await.unwrap();
    let paid: Vec<_> = entries.iter().filter(|entry| entry.reason == BalanceReason::Search).collect();
    assert_eq!(paid.len(), run.searches as usize);
    assert!(paid.iter().all(|entry| entry.research_id == Some(run.research_id) && entry.cents == -3));
    assert_eq!(world.app.balance(&world.tenant).await, 1_000 - 3 * i64::from(run.searches));
}

#[tokio::test]
async fn failed_searches_are_refunded() {
    let world = billed(1_000).await;
    world.app.engine.fail(EngineFault::Error(engine::EngineErrorKind::Unavailable));
    let run = world.run(quick(QUESTION)).await;
    assert_eq!(run.status, ResearchStatus::Failed);
    assert_eq!(world.app.balance(&world.tenant).await, 1_000);
    let entries = world.app.store.list_balance_entries(world.tenant.organization_id, None, 1_000).await.unwrap();
    let refunds: Vec<_> = entries.iter().filter(|entry| entry.reason == BalanceReason::Refund).collect();
    assert!(!refunds.is_empty() && refunds.iter().all(|entry| entry.research_id == Some(run.research_id)));
}

#[tokio::test]
async fn cancelled_search_is_refunded() {
    let world = billed(1_000).await;
    world.app.engine.hold();
    let stop = CancellationToken::new();
    let worker = runtime().spawn(Arc::clone(&world.app.research).work(stop.clone()));
    let id = world.create(quick(QUESTION)).await;
    world.app.engine.reached(1).await;
    assert_eq!(world.app.balance(&world.tenant).await, 997);
    // Both the cancellation and the worker refund the search.
    world.app.clock.set_back(Duration::from_hours(1));
    world.app.research.cancel(&world.tenant.viewer, id).await.unwrap();
    until("the refund", async || (world.app.balance(&world.tenant).await == 1_000).then_some(())).await;
    stop.cancel();
    worker.await.unwrap();
    world.app.engine.release();
    // By its end the refund of the worker would be stored, too.
    let next = world.run(quick(QUESTION)).await;
    assert_eq!(world.app.balance(&world.tenant).await, 1_000 - 3 * i64::from(next.searches));
    let entries = world.app.store.list_balance_entries(world.tenant.organization_id, None, 1_000).await.unwrap();
    assert_eq!(entries.iter().filter(|entry| entry.reason == BalanceReason::Refund).count(), 1);
}

#[tokio::test]
async fn search_of_a_killed_worker_is_refunded_by_the_cancellation() {
    let world = billed(1_000).await;
    let id = world.create(quick(QUESTION)).await;
    let now = model::Clock::now(world.app.clock.as_ref());
    assert!(world.app.store.claim_research("dead".to_owned(), Vec::new(), now, now).await.unwrap().is_some());
    lose_search(&world, id).await;
    assert_eq!(world.app.balance(&world.tenant).await, 997);
    for _ in 0..2 {
        world.app.research.cancel(&world.tenant.viewer, id).await.unwrap();
        assert_eq!(world.app.balance(&world.tenant).await, 1_000);
    }
}

#[tokio::test]
async fn search_of_a_killed_worker_is_paid_once() {
    let world = billed(1_000).await;
    world.app.engine.hold();
    let id = world.create(quick(QUESTION)).await;
    let now = model::Clock::now(world.app.clock.as_ref());
    assert!(world.app.store.claim_research("dead".to_owned(), Vec::new(), now, now).await.unwrap().is_some());
    lose_search(&world, id).await;
    world.app.engine.release();
    let worker = Worker::start(&world.another());
    let run = world.ended(id).await;
    worker.kill().await;
    assert_eq!(world.app.balance(&world.tenant).await, 1_000 - 3 * i64::from(run.searches));
}

/// Renewals of the leases find runs ended while their last refunds are being stored.
#[tokio::test]
async fn renewals_of_leases_do_not_cut_off_the_refunds_at_the_end() {
    const RUNS: u32 = 30;
    let mut setup = Setup::default();
    (setup.research.lease, setup.research.runs_per_organization) = (Duration::from_millis(5), RUNS);
    let world = billed_with(setup, 10_000).await;
    let mut ids = Vec::new();
    for _ in 0..RUNS {
        let id = world.create(quick(QUESTION)).await;
        lose_search(&world, id).await;
        ids.push(id);
    }
    let _working = world.app.work_on_research();
    let mut searches = 0;
    for id in ids {
        searches += i64::from(world.ended(id).await.searches);
    }
    let expected = 10_000 - 3 * searches;
    until("the refunds", async || (world.app.balance(&world.tenant).await == expected).then_some(())).await;
}

/// Both workers refund the first search: the one that takes the run over, and the one that finds out.
#[tokio::test]
async fn search_of_a_worker_that_lost_its_run_is_refunded_once() {
    let world = billed(1_000).await;
    world.app.engine.hold();
    let id = world.create(quick(QUESTION)).await;
    let slow = Worker::start(&world.another());
    world.app.engine.reached(1).await;
    world.app.clock.advance(Duration::from_secs(16));
    let other = Worker::start(&world.another());
    world.app.engine.reached(2).await;
    world.app.engine.release();
    let run = world.ended(id).await;
    other.kill().await;
    slow.kill().await;
    let paid = || async {
        let entries = world.app.store.list_balance_entries(world.tenant.organization_id, None, 1_000).await.unwrap();
        let of_run = entries.iter().filter(|entry| entry.research_id == Some(id));
        of_run.map(|entry| entry.cents).collect::<Vec<i64>>()
    };
    until("the first search is refunded", async || paid().await.contains(&3).then_some(())).await;
    let entries = paid().await;
    assert_eq!(entries.iter().filter(|cents| **cents > 0).count(), 1, "{entries:?}");
    assert_eq!(entries.iter().sum::<i64>(), -3 * i64::from(run.searches), "{entries:?}");
}

/// A change of the clock ends the lease of a run that goes on.
#[tokio::test]
async fn worker_does_not_take_its_own_run_over() {
    let world = billed(1_000).await;
    world.app.engine.hold();
    let id = world.create(quick(QUESTION)).await;
    let worker = Worker::start(&world.another());
    world.app.engine.reached(1).await;
    let (store, now) = (&world.app.store, model::Clock::now(world.app.clock.as_ref()) + Duration::from_secs(3_600));
    let claimed = store.claim_research("same process".to_owned(), vec![id], now, now).await.unwrap();
    assert!(claimed.is_none());
    assert!(store.claim_research("another".to_owned(), Vec::new(), now, now).await.unwrap().is_some());
    world.app.engine.release();
    worker.kill().await;
}

#[tokio::test]
async fn balance_that_runs_out_ends_the_run_with_a_partial_report() {
    let world = billed(3).await;
    let run = world.run(standard(QUESTION)).await;
    assert_eq!((run.status, run.stop_reason), (ResearchStatus::Completed, Some(ResearchStop::BudgetReached)));
    assert_eq!(run.searches, 1);
    assert!(!run.report.as_ref().unwrap().citations.is_empty());
    world.verify(&run).await;
    assert_eq!(world.app.balance(&world.tenant).await, 0);
    let refused = world.app.research.create(&world.tenant.viewer, quick(QUESTION)).await;
    assert!(matches!(refused, Err(Error::InsufficientBalance)));
}

#[tokio::test]
async fn balance_that_runs_out_after_a_search_without_hits_ends_the_run() {
    let world = billed(3).await;
    let run = world.run(standard("- zyxwv\n- qqqq")).await;
    assert_eq!((run.status, run.stop_reason), (ResearchStatus::Completed, Some(ResearchStop::BudgetReached)));
    assert_eq!((run.searches, run.error.is_none(), run.is_partial()), (1, true, true));
    assert_eq!(run.report.unwrap().citations, []);
    assert_eq!(world.app.balance(&world.tenant).await, 0);
}

#[tokio::test]
async fn balance_that_is_gone_before_the_first_search_fails_the_run() {
    let world = billed(3).await;
    let [first, second] = [world.create(quick("What is green tea?")).await, world.create(quick(QUESTION)).await];
    // The first takes the last cents.
    let _working = world.app.work_on_research();
    let ends = [world.ended(first).await, world.ended(second).await];
    let failed: Vec<_> = ends.iter().filter(|run| run.status == ResearchStatus::Failed).collect();
    assert!(failed.iter().all(|run| run.error.as_ref().unwrap().code == "insufficient_balance"));
    assert_eq!(failed.len(), 1);
}
