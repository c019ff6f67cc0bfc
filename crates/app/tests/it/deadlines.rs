//! Searches that answer in time with what they have.

use std::sync::Arc;
use std::time::Duration;

use app::search::providers::WebSources;
use app::search::{SearchOutcome, SearchRequest, SecondStage};
use app::{Deadline, Error};
use async_trait::async_trait;
use diesel::connection::SimpleConnection;
use engine::EngineErrorKind;
use model::{IndexName, RunMode};
use models::ModelError;
use models::scoring::Reranker;
use models::testing::TestEmbedder;
use test_support::{EngineFault, Setup, Tenant, TestApp, TestProvider, found as result, page, read_id, search, until};

use crate::search::{urls, workspace_search};
use crate::sqlite::connect;

/// A model that never answers.
struct Silent;

#[async_trait]
impl Reranker for Silent {
    async fn score(&self, _: &str, _: &[String]) -> Result<Vec<f32>, ModelError> {
        std::future::pending().await
    }

    fn version(&self) -> &str {
        "silent"
    }

    fn is_healthy(&self) -> bool {
        true
    }
}

fn limited(request: SearchRequest, milliseconds: u64) -> SearchRequest {
    SearchRequest { deadline: Deadline::after(Duration::from_millis(milliseconds)), ..request }
}

async fn found(world: &TestApp, tenant: &Tenant, request: SearchRequest) -> SearchOutcome {
    world.app.search(&tenant.viewer, request).await.unwrap()
}

#[tokio::test]
async fn model_that_is_too_slow_is_skipped() {
    let setup = Setup { second_stage: SecondStage::Model(Arc::new(Silent)), ..Setup::default() };
    let world = TestApp::with(setup).await;
    let tenant = world.tenant().await;
    world
        .import([page("https://b.example/", "Boats and tides."), page("https://a.example/", "Tides and tides.")])
        .await;
    for milliseconds in [40, 0] {
        let outcome = found(&world, &tenant, limited(search("tides"), milliseconds)).await;
        assert_eq!((outcome.degraded, outcome.rerank_unavailable), (true, false));
        assert_eq!(outcome.ranker_version, "lexical_v6", "the lexical ranker needs no model");
        assert_eq!(urls(&outcome)[0], "https://a.example/");
    }
}

#[tokio::test]
async fn search_within_its_time_is_complete() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world.import([page("https://a.example/", "The tides.")]).await;
    let outcome = found(&world, &tenant, limited(search("tides"), 60_000)).await;
    assert_eq!((outcome.hits.len(), outcome.degraded), (1, false));
}

#[tokio::test]
async fn search_without_time_still_has_its_first_results() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let doc_id = world.import_one(page("https://a.example/", "The tides.")).await;
    let outcome = found(&world, &tenant, limited(search("tides"), 0)).await;
    assert_eq!(outcome.hits.len(), 1);
    world.app.read_document(&tenant.viewer, read_id(doc_id)).await.unwrap();
}

#[tokio::test]
async fn index_that_is_too_slow_is_left_out() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world.import([page("https://a.example/", "The tides.")]).await;
    world.upload(&tenant, "a.txt", "The tides of a file.").await;
    world.index_files(&tenant, RunMode::Incremental).await;
    world.engine.hold_index(IndexName::Web);
    let both = SearchRequest { indexes: IndexName::ALL.to_vec(), ..workspace_search(&tenant, "tides") };
    let outcome = found(&world, &tenant, limited(both.clone(), 40)).await;
    assert_eq!((outcome.hits.len(), outcome.degraded), (1, true));
    assert_eq!(outcome.hits[0].name.as_deref(), Some("a.txt"));
    assert_eq!(outcome.workspace_total, Some(1));
    world.engine.release();
    let outcome = found(&world, &tenant, limited(both, 60_000)).await;
    assert_eq!((outcome.hits.len(), outcome.degraded), (2, false));
}

#[tokio::test]
async fn documents_behind_copies_that_are_found_too_late_are_left_out() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let copies = (0..60).map(|number| page(&format!("https://copies.example/{number}"), "Tides, tides and tides."));
    let other = page("https://other.example/", "The harbour, its boats, its bread, and the tides of a long day.");
    world.import(copies.chain([other]).collect::<Vec<_>>()).await;
    world.engine.hold_after(1);
    let outcome = found(&world, &tenant, limited(search("tides"), 100)).await;
    assert_eq!((outcome.hits.len(), outcome.degraded), (1, true));
    world.engine.release();
    let outcome = found(&world, &tenant, limited(search("tides"), 60_000)).await;
    assert_eq!((outcome.hits.len(), outcome.degraded), (2, false));
}

#[tokio::test]
async fn documents_behind_copies_are_left_out_if_the_index_fails_meanwhile() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world
        .import((0..60).map(|number| page(&format!("https://copies.example/{number}"), "Tides, tides and tides.")))
        .await;
    world.engine.hold_after(1);
    let failing = async {
        world.engine.reached(2).await;
        world.engine.fail(EngineFault::Error(EngineErrorKind::Unavailable));
        world.engine.release();
    };
    let (outcome, ()) = tokio::join!(found(&world, &tenant, search("tides")), failing);
    assert_eq!((outcome.hits.len(), outcome.degraded), (1, true));
}

#[tokio::test]
async fn replacements_of_removed_documents_that_are_found_too_late_are_left_out() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let texts = ["Tides and tides.", "The tides of the sea.", "The harbour, its boats, and the tides of a long day."];
    world.import(texts.iter().zip(0..).map(|(text, n)| page(&format!("https://{n}.example/"), text))).await;
    let request = || SearchRequest { max_results: 2, ..search("tides") };
    // From now on their terms are cached.
    for _ in 0..2 {
        assert_eq!(found(&world, &tenant, request()).await.hits.len(), 2);
    }
    let remove = "UPDATE documents SET removed_at = 1 WHERE canonical_url = 'https://0.example/'";
    connect(&world).batch_execute(remove).unwrap();
    world.engine.hold_after(1);
    let outcome = found(&world, &tenant, limited(request(), 200)).await;
    assert_eq!((urls(&outcome), outcome.degraded), (vec!["https://1.example/"], true));
    world.engine.release();
    let outcome = found(&world, &tenant, limited(request(), 60_000)).await;
    assert_eq!((outcome.hits.len(), outcome.degraded), (2, false));
}

#[tokio::test]
async fn record_is_marked_like_the_answer() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    // Stored in parts, which a search without time does not read.
    let content: String = (0..2_000).map(|number| format!("The tides of day {number} follow the moon.\n\n")).collect();
    world.import([page("https://long.example/", &content)]).await;
    for (milliseconds, degraded) in [(0, true), (60_000, false)] {
        let outcome = found(&world, &tenant, limited(search("tides"), milliseconds)).await;
        let search_id = outcome.search_id.to_string();
        let recorded =
            until("the search is recorded", async || world.app.recorded_search(&tenant.viewer, &search_id).await.ok());
        assert_eq!((outcome.degraded, recorded.await.degraded), (degraded, degraded), "{milliseconds} ms");
    }
}

#[tokio::test]
async fn search_by_meaning_that_is_too_slow_is_left_out() {
    let setup = Setup { embedder: Some(Arc::new(TestEmbedder::default())), ..Setup::default() };
    let world = TestApp::with(setup).await;
    let tenant = world.tenant().await;
    world.import([page("https://a.example/", "The tides.")]).await;
    world.upload(&tenant, "a.txt", "The tides of a file.").await;
    world.index_files(&tenant, RunMode::Incremental).await;
    world.engine.hold_semantic();
    let both = SearchRequest { indexes: IndexName::ALL.to_vec(), ..workspace_search(&tenant, "tides") };
    // The documents are loaded after the wait, and are in no cache.
    for request in [search("tides"), both] {
        let outcome = found(&world, &tenant, limited(request, 700)).await;
        // On a slow machine the other collection may be late.
        assert_eq!((outcome.hits.is_empty(), outcome.degraded), (false, true));
    }
}

#[tokio::test]
async fn model_of_queries_that_is_too_slow_is_left_out() {
    let model = Arc::new(TestEmbedder::default());
    let world = TestApp::with(Setup { embedder: Some(model.clone()), ..Setup::default() }).await;
    let tenant = world.tenant().await;
    world.import([page("https://a.example/", "The tides.")]).await;
    model.hold();
    let outcome = found(&world, &tenant, limited(search("tides"), 700)).await;
    assert_eq!((outcome.hits.len(), outcome.degraded), (1, true));
}

#[tokio::test]
async fn provider_that_is_too_slow_is_left_out() {
    for (index, milliseconds) in [(true, 700), (false, 700), (false, 100), (false, 0)] {
        let slow = TestProvider::named("brave");
        slow.hold();
        let quick = TestProvider::with([result("https://b.example/", "Tides", "The tides of the sea.")]);
        let web = WebSources { index, providers: vec![slow.setup(), quick.setup()], ..WebSources::default() };
        let world = TestApp::with(Setup { web, ..Setup::default() }).await;
        let tenant = world.tenant().await;
        world.import([page("https://a.example/", "The tides.")]).await;
        let outcome = found(&world, &tenant, limited(search("tides"), milliseconds)).await;
        let case = format!("index: {index}, {milliseconds} ms");
        assert_eq!((outcome.hits.len(), outcome.degraded), (1 + usize::from(index), true), "{case}");
        assert_eq!(outcome.unavailable_providers.len(), 1, "{case}");
    }
}

#[tokio::test]
async fn search_without_any_results_in_time_fails() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world.engine.hold();
    let error = world.app.search(&tenant.viewer, limited(search("tides"), 1)).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { backend: "search", .. }), "{error:?}");
}
