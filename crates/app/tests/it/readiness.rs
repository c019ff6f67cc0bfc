use std::sync::Arc;
use std::time::Duration;

use app::readiness::HostCheck;
use app::search::SecondStage;
use app::supervisor::Phase;
use async_trait::async_trait;
use blobs::BlobErrorKind;
use diesel::connection::SimpleConnection;
use engine::EngineErrorKind;
use rate_limit::{Decision, RateLimitError, RateLimiter, SharedCounter};
use test_support::{EngineFault, Setup, TestApp, TestClock, TestReranker};
use time::OffsetDateTime;

use crate::sqlite::connect;

/// Name, state and weight of each dependency.
async fn states(world: &TestApp) -> Vec<(&'static str, bool, bool)> {
    let states = world.app.readiness().await;
    for state in &states {
        assert_eq!(state.detail.is_none(), state.up, "a dependency that is down has a reason: {state:?}");
    }
    states.into_iter().map(|state| (state.name, state.up, state.required)).collect()
}

#[tokio::test]
async fn each_dependency_is_reported_by_itself() {
    let world = TestApp::start().await;
    assert_eq!(states(&world).await, [("database", true, true), ("storage", true, false), ("index", true, true)]);
    world.engine.fail(EngineFault::Error(EngineErrorKind::Unavailable));
    assert_eq!(states(&world).await[2], ("index", false, true));
    world.blobs.fail(BlobErrorKind::Unavailable);
    assert_eq!(states(&world).await[1], ("storage", false, false));
    world.break_database().await;
    assert!(states(&world).await.iter().all(|(_, up, _)| !up));
}

#[tokio::test]
async fn a_deployment_without_an_index_does_not_report_one() {
    let world = TestApp::with(Setup { retrieval: false, ..Setup::default() }).await;
    assert_eq!(states(&world).await, [("database", true, true), ("storage", true, false)]);
}

#[tokio::test]
async fn a_reranker_is_reported_and_not_required() {
    for (model, up) in [(TestReranker::preferring("walrus"), true), (TestReranker::unreachable(), false)] {
        let second_stage = SecondStage::Model(Arc::new(model));
        let world = TestApp::with(Setup { second_stage, ..Setup::default() }).await;
        assert_eq!(states(&world).await[3], ("reranker", up, false));
    }
}

/// Limiter whose shared counter has a fixed state.
struct StuckLimiter(SharedCounter);

#[async_trait]
impl RateLimiter for StuckLimiter {
    async fn take(&self, _: &str, _: u32, _: OffsetDateTime) -> Result<Decision, RateLimitError> {
        Err(RateLimitError("the counter is away".into()))
    }

    fn shared_counter(&self) -> Option<SharedCounter> {
        Some(self.0.clone())
    }
}

#[tokio::test]
async fn shared_counter_is_reported_with_its_failure() {
    for (state, up, detail) in [
        (SharedCounter::Up, true, None),
        (SharedCounter::Connecting, false, Some("connecting to the shared counter")),
        (SharedCounter::Down("no route".to_owned()), false, Some("the shared counter is unreachable: no route")),
    ] {
        let world = TestApp::with(Setup { limiter: Arc::new(StuckLimiter(state)), ..Setup::default() }).await;
        let shown = world.app.readiness().await.swap_remove(3);
        assert_eq!((shown.name, shown.up, shown.required), ("rate_limit", up, false));
        assert_eq!(shown.detail.as_deref(), detail);
    }
}

fn full_disk(required: bool) -> HostCheck {
    HostCheck { name: "disk", required, check: Arc::new(|| Err("7 bytes are free".to_owned())) }
}

#[tokio::test]
async fn checks_of_the_machine_are_reported() {
    let remark = HostCheck { name: "sandbox", required: false, check: Arc::new(|| Ok(Some("in part".to_owned()))) };
    let world = TestApp::with(Setup { host_checks: vec![full_disk(true), remark], ..Setup::default() }).await;
    let states = world.app.readiness().await;
    let shown: Vec<_> = states[3..].iter().map(|state| (state.name, state.up, state.detail.as_deref())).collect();
    assert_eq!(shown, [("disk", false, Some("7 bytes are free")), ("sandbox", true, Some("in part"))]);
}

/// The database still reads, but refuses to write.
#[tokio::test]
async fn database_that_cannot_write_is_down() {
    let clock = Arc::new(TestClock::default());
    let world = TestApp::with(Setup { clock: Arc::clone(&clock), ..Setup::default() }).await;
    assert!(states(&world).await[0].1);
    let mut connection = connect(&world);
    let refuse = "CREATE TRIGGER full BEFORE UPDATE ON leases BEGIN SELECT RAISE(ABORT, 'disk is full'); END";
    connection.batch_execute(refuse).unwrap();
    assert!(states(&world).await[0].1, "the last test write is less than a second old");
    clock.advance(Duration::from_secs(1));
    let database = world.app.readiness().await.swap_remove(0);
    assert!(!database.up && database.detail.as_deref().unwrap().contains("disk is full"), "{database:?}");
}

/// Another process writes for long, as an import does, and then for too long.
#[tokio::test]
async fn busy_database_is_up_until_no_write_ends() {
    let clock = Arc::new(TestClock::default());
    let world = TestApp::with(Setup { clock: Arc::clone(&clock), ..Setup::default() }).await;
    let mut connection = connect(&world);
    connection.batch_execute("BEGIN IMMEDIATE").unwrap();
    assert!(states(&world).await[0].1);
    clock.advance(Duration::from_secs(15));
    let database = world.app.readiness().await.swap_remove(0);
    assert!(!database.up && database.detail.as_deref().unwrap().contains("no write has ended"), "{database:?}");
}

#[tokio::test]
async fn background_tasks_are_reported() {
    let world = TestApp::start().await;
    let tasks = world.app.background_tasks();
    let names: Vec<_> = tasks.iter().map(|task| task.name).collect();
    assert_eq!(names, [OWN_TASKS, &["usage_pruner", "refunds", "retention", "file_sizes", "removal"]].concat());
    assert!(tasks.iter().all(|task| task.phase == Phase::Running && task.panics == 0), "{tasks:?}");
}

/// Tasks of every instance, which write what it recorded.
const OWN_TASKS: &[&str] = &["usage_writer", "recorder", "ledger", "term_writer", "backlog"];

#[tokio::test]
async fn instance_without_upkeep_only_writes_what_it_recorded() {
    let world = TestApp::with(Setup { upkeep: false, ..Setup::default() }).await;
    let names: Vec<_> = world.app.background_tasks().iter().map(|task| task.name).collect();
    assert_eq!(names, OWN_TASKS);
}
