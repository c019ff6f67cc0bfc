use std::sync::Arc;

use app::search::{SearchOutcome, SearchRequest, SecondStage, SourcePolicy};
use app::web::WebPage;
use retrieval_core::site::Site;
use test_support::{Setup, TestApp, TestReranker, page, search};

use crate::search::urls;

/// The outcome of one search of two pages; the first one matches better.
async fn searched(second_stage: SecondStage) -> SearchOutcome {
    let world = TestApp::with(Setup { second_stage, ..Setup::default() }).await;
    let tenant = world.tenant().await;
    let better = WebPage { title: Some("Tides".to_owned()), ..page("https://a.example/", "Tides and more tides.") };
    world.import([page("https://b.example/", "A walrus swims in the tides of the sea."), better]).await;
    world.app.search(&tenant.viewer, search("tides")).await.unwrap()
}

#[tokio::test]
async fn the_model_has_the_last_word() {
    let model = Arc::new(TestReranker::preferring("walrus"));
    let outcome = searched(SecondStage::Model(Arc::clone(&model) as _)).await;
    assert_eq!(urls(&outcome), ["https://b.example/", "https://a.example/"]);
    assert_eq!((outcome.ranker_version.as_str(), outcome.rerank_unavailable), ("test_model", false));
    let texts = model.texts();
    assert_eq!(texts.len(), 2, "all candidates are scored in one call");
    assert!(texts.iter().any(|text| text.starts_with("Tides\nTides and more tides.")), "{texts:?}");
}

#[tokio::test]
async fn without_an_answer_of_the_model_the_first_stage_order_stands() {
    let outcome = searched(SecondStage::Model(Arc::new(TestReranker::unreachable()))).await;
    assert_eq!(urls(&outcome), ["https://a.example/", "https://b.example/"]);
    assert_eq!((outcome.ranker_version.as_str(), outcome.rerank_unavailable), ("first_stage_order_v1", true));
    assert!(outcome.hits[0].score >= outcome.hits[1].score);
}

#[tokio::test]
async fn a_deployment_without_a_second_stage_says_so() {
    let outcome = searched(SecondStage::None).await;
    assert_eq!(urls(&outcome), ["https://a.example/", "https://b.example/"]);
    assert_eq!((outcome.ranker_version.as_str(), outcome.rerank_unavailable), ("first_stage_order_v1", true));
}

#[tokio::test]
async fn the_model_scores_copies_once() {
    let model = Arc::new(TestReranker::preferring("walrus"));
    let setup = Setup { second_stage: SecondStage::Model(Arc::clone(&model) as _), ..Setup::default() };
    let world = TestApp::with(setup).await;
    let tenant = world.tenant().await;
    let copies = (0..60).map(|number| page(&format!("https://copies.example/{number}"), "Tides, tides and tides."));
    let other = page("https://other.example/", "A walrus swims in the tides of the sea.");
    world.import(copies.chain([other]).collect::<Vec<_>>()).await;
    let outcome = world.app.search(&tenant.viewer, search("tides")).await.unwrap();
    assert_eq!((outcome.hits.len(), urls(&outcome)[0]), (2, "https://other.example/"));
    assert_eq!(model.texts().len(), 2);
    // The copy of a preferred domain is the one that stays.
    let source_policy =
        SourcePolicy { include_domains: vec![Site::parse("copies.example/41").unwrap()], ..SourcePolicy::default() };
    let outcome = world.app.search(&tenant.viewer, SearchRequest { source_policy, ..search("tides") }).await.unwrap();
    assert_eq!(urls(&outcome)[1], "https://copies.example/41");
}

/// A world with a model, and with pages of which the first 60 have one text and the others have texts of their own.
async fn with_long_list() -> (TestApp, Arc<TestReranker>) {
    let model = Arc::new(TestReranker::preferring("walrus"));
    let setup = Setup { second_stage: SecondStage::Model(Arc::clone(&model) as _), ..Setup::default() };
    let world = TestApp::with(setup).await;
    let copies = (0..60).map(|number| page(&format!("https://copies.example/{number}"), "Tides, tides and tides."));
    let others = (0..100).map(|number| {
        page(&format!("https://page-{number}.example/"), &format!("Gauge {number} measures the tides of the sea."))
    });
    let longer = "Gauge 100 measures the tides of the sea, as always.";
    world.import(copies.chain(others).chain([page("https://longer.example/", longer)]).collect::<Vec<_>>()).await;
    (world, model)
}

#[tokio::test]
async fn the_model_scores_the_best_of_a_long_list() {
    let (world, model) = with_long_list().await;
    let tenant = world.tenant().await;
    for (max_results, scored) in [(10, 40), (30, 60)] {
        let request = SearchRequest { max_results, ..search("tides") };
        let outcome = world.app.search(&tenant.viewer, request).await.unwrap();
        assert_eq!(outcome.hits.len(), max_results);
        let texts = model.calls().pop().unwrap();
        assert_eq!(texts.len(), scored);
        assert!(texts.iter().any(|text| text.contains("tides and tides")), "the best one: {texts:?}");
        assert!(!texts.iter().any(|text| text.contains("Gauge 100 ")), "the last one: {texts:?}");
    }
}

#[tokio::test]
async fn the_model_scores_a_preferred_domain_of_a_long_list() {
    let (world, model) = with_long_list().await;
    let tenant = world.tenant().await;
    let include_domains = vec![Site::parse("longer.example").unwrap()];
    let source_policy = SourcePolicy { include_domains, ..SourcePolicy::default() };
    world.app.search(&tenant.viewer, SearchRequest { source_policy, ..search("tides") }).await.unwrap();
    let texts = model.calls().pop().unwrap();
    assert_eq!(texts.len(), 41, "the page of the preferred domain comes with the others");
    assert!(texts.iter().any(|text| text.contains("Gauge 100 ")), "{texts:?}");
}
