use std::sync::Arc;

use app::search::SecondStage;
use blobs::BlobErrorKind;
use engine::EngineErrorKind;
use test_support::{EngineFault, Setup, TestApp, TestReranker};

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
    assert_eq!(states(&world).await, [("database", true, true), ("storage", true, true), ("index", true, true)]);
    world.engine.fail(EngineFault::Error(EngineErrorKind::Unavailable));
    assert_eq!(states(&world).await[2], ("index", false, true));
    world.blobs.fail(BlobErrorKind::Unavailable);
    assert_eq!(states(&world).await[1], ("storage", false, true));
    world.break_database().await;
    assert!(states(&world).await.iter().all(|(_, up, _)| !up));
}

#[tokio::test]
async fn a_deployment_without_an_index_does_not_report_one() {
    let world = TestApp::with(Setup { retrieval: false, ..Setup::default() }).await;
    assert_eq!(states(&world).await, [("database", true, true), ("storage", true, true)]);
}

#[tokio::test]
async fn a_reranker_is_reported_and_not_required() {
    for (model, up) in [(TestReranker::preferring("walrus"), true), (TestReranker::unreachable(), false)] {
        let second_stage = SecondStage::Model(Arc::new(model));
        let world = TestApp::with(Setup { second_stage, ..Setup::default() }).await;
        assert_eq!(states(&world).await[3], ("reranker", up, false));
    }
}
