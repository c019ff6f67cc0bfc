//! Records of searches.

use std::sync::Arc;
use std::time::Duration;

use app::Error;
use app::search::{RecordedSearch, ResultDetails, SearchRequest, SecondStage, SourcePolicy};
use model::{IndexName, RunMode};
use retrieval_core::site::Site;
use test_support::{Setup, Tenant, TestApp, TestReranker, page, search};

use crate::search::workspace_search;

async fn start(second_stage: SecondStage) -> (TestApp, Tenant) {
    let world = TestApp::with(Setup { second_stage, ..Setup::default() }).await;
    let tenant = world.tenant().await;
    let pages =
        ["The tide gauge stands at the pier.", "The tide and the moon.", "A gauge for the tide, red as the tide."];
    world.import(pages.iter().zip(0..).map(|(text, n)| page(&format!("https://page-{n}.example/"), text))).await;
    world.upload(&tenant, "notes.txt", "The tide gauge is read daily.").await;
    world.index_files(&tenant, RunMode::Incremental).await;
    (world, tenant)
}

async fn recorded(world: &TestApp, tenant: &Tenant, request: SearchRequest) -> RecordedSearch {
    let outcome = world.app.search(&tenant.viewer, request).await.unwrap();
    let recorded = world.app.recorded_search(&tenant.viewer, &outcome.search_id.to_string()).await.unwrap();
    assert_eq!(recorded.ranker_version, outcome.ranker_version);
    assert_eq!(recorded.results.len(), outcome.hits.len());
    for (result, hit) in recorded.results.iter().zip(&outcome.hits) {
        let details = result.details.as_ref().unwrap();
        assert_eq!((result.doc_id, details.capture_id), (hit.doc_id, hit.capture_id));
        assert_eq!((details.score, details.index), (hit.score, hit.collection.index()));
    }
    recorded
}

#[tokio::test]
async fn record_explains_the_places_of_both_indexes_and_of_a_model() {
    let (world, tenant) = start(SecondStage::Model(Arc::new(TestReranker::preferring("moon")))).await;
    let request = SearchRequest {
        indexes: IndexName::ALL.to_vec(),
        original: Some(r#"{"query":"tide gauge"}"#.to_owned()),
        ..workspace_search(&tenant, "tide gauge")
    };
    let recorded = recorded(&world, &tenant, request).await;
    assert_eq!(
        (recorded.query.as_str(), recorded.request.as_deref()),
        ("tide gauge", Some(r#"{"query":"tide gauge"}"#))
    );
    let indexes: Vec<IndexName> = recorded.generations.iter().map(|(index, _)| *index).collect();
    assert_eq!(indexes, IndexName::ALL);
    let details: Vec<_> = recorded.results.iter().map(|result| result.details.clone().unwrap()).collect();
    assert_eq!(
        (details[0].model.unwrap().rank, details[0].lexical.unwrap().rank),
        (1, 3),
        "the model prefers the moon"
    );
    assert!((details[0].model.unwrap().score - 0.9).abs() < 1e-6);
    for index in IndexName::ALL {
        let stages: [fn(&ResultDetails) -> u32; 3] =
            [|one| one.first_stage.rank, |one| one.lexical.unwrap().rank, |one| one.model.unwrap().rank];
        for stage in stages {
            let mut ranks: Vec<u32> = details.iter().filter(|one| one.index == *index).map(stage).collect();
            ranks.sort_unstable();
            let expected: Vec<u32> = (1..=ranks.len() as u32).collect();
            assert_eq!(ranks, expected);
        }
    }
}

#[tokio::test]
async fn record_without_a_model_and_with_a_preferred_domain() {
    let (world, tenant) = start(SecondStage::Lexical).await;
    let preferred =
        SourcePolicy { include_domains: vec![Site::parse("page-1.example").unwrap()], ..Default::default() };
    let request =
        SearchRequest { source_policy: preferred, original: Some("x".repeat(1 << 20)), ..search("tide gauge") };
    let recorded = recorded(&world, &tenant, request).await;
    assert_eq!(recorded.request, None, "too long");
    let details: Vec<_> = recorded.results.iter().map(|result| result.details.clone().unwrap()).collect();
    assert!(details.iter().all(|one| one.model.is_none() && one.lexical.is_some()));
    assert_eq!(details.iter().filter(|one| one.preferred).count(), 1);
    let preferred = details.iter().find(|one| one.preferred).unwrap();
    assert!(preferred.score > preferred.lexical.unwrap().score);
}

#[tokio::test]
async fn record_is_that_of_the_answer_while_documents_change() {
    let (world, tenant) = start(SecondStage::Lexical).await;
    let both = SearchRequest { indexes: IndexName::ALL.to_vec(), ..workspace_search(&tenant, "tide gauge") };
    world.engine.hold_index(IndexName::Workspace);
    let changing = async {
        world.engine.reached(2).await;
        // The pages are looked up meanwhile. If that took longer, nothing would be tested.
        tokio::time::sleep(Duration::from_millis(200)).await;
        world.app.remove_web_page(&tenant.viewer, "https://page-0.example/").await.unwrap();
        world.import_one(page("https://page-1.example/", "The tide gauge and another moon.")).await;
        world.engine.release();
    };
    // Compares the documents and the captures of both.
    let (recorded, ()) = tokio::join!(recorded(&world, &tenant, both), changing);
    assert_eq!(recorded.results.len(), 3);
}

#[tokio::test]
async fn records_of_others_and_unknown_ones_are_not_found() {
    let (world, tenant) = start(SecondStage::None).await;
    let stranger = world.tenant().await;
    let search_id = world.app.search(&tenant.viewer, search("tide")).await.unwrap().search_id.to_string();
    assert!(world.app.recorded_search(&tenant.viewer, &search_id).await.is_ok());
    for (viewer, id) in [
        (&stranger.viewer, search_id.as_str()),
        (&tenant.viewer, "0190a6d2-6a60-7b11-9c2f-2a8d6e4f7b90"),
        (&tenant.viewer, "nonsense"),
    ] {
        let found = world.app.recorded_search(viewer, id).await;
        assert!(matches!(found, Err(Error::SearchNotFound)), "{found:?}");
    }
}

#[tokio::test]
async fn generations_are_asked_for_at_most_once_a_second() {
    let (world, tenant) = start(SecondStage::Lexical).await;
    let before = recorded(&world, &tenant, search("tide")).await.generations;
    world.import_one(page("https://page-9.example/", "Another tide.")).await;
    assert_eq!(recorded(&world, &tenant, search("tide")).await.generations, before);
    world.clock.advance(Duration::from_secs(1));
    assert_ne!(recorded(&world, &tenant, search("tide")).await.generations, before);
}
