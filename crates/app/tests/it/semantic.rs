//! Semantic leg of searches.

use std::sync::Arc;

use app::search::{SearchHit, SearchRequest};
use ingest::embed::EmbeddingWorker;
use model::{Clock, IndexName, RunMode};
use models::testing::TestEmbedder;
use retrieval_core::site::Site;
use test_support::{Setup, Tenant, TestApp, page, search};

use crate::search::workspace_search;

struct World {
    app: TestApp,
    model: Arc<TestEmbedder>,
    worker: EmbeddingWorker,
}

impl World {
    async fn start() -> Self {
        let model = Arc::new(TestEmbedder::default().with_synonyms("holiday", "vacation"));
        let app = TestApp::with(Setup { embedder: Some(model.clone()), ..Setup::default() }).await;
        let clock = Arc::clone(&app.clock) as Arc<dyn Clock>;
        let worker = EmbeddingWorker::new(app.store.clone(), model.clone(), clock);
        worker.adopt().await.unwrap();
        Self { app, model, worker }
    }

    /// Embeds what was indexed, and feeds the vectors to the indexes.
    async fn embed(&self) {
        self.worker.drain().await.unwrap();
        self.app.feeder.drain_all().await.unwrap();
    }

    async fn import(&self, texts: &[&str]) {
        let pages = texts.iter().zip(0..).map(|(text, n)| page(&format!("https://page-{n}.example/"), text));
        self.app.import(pages).await;
        self.embed().await;
    }

    async fn hits(&self, tenant: &Tenant, request: SearchRequest) -> Vec<SearchHit> {
        self.app.app.search(&tenant.viewer, request).await.unwrap().hits
    }

    async fn urls(&self, tenant: &Tenant, request: SearchRequest) -> Vec<String> {
        self.hits(tenant, request).await.into_iter().map(|hit| hit.canonical_url).collect()
    }
}

#[tokio::test]
async fn meaning_finds_what_words_do_not() {
    let world = World::start().await;
    let tenant = world.app.tenant().await;
    world.import(&["Every employee has a holiday of thirty days.", "The pier has a tide gauge."]).await;
    let hits = world.hits(&tenant, search("vacation")).await;
    assert_eq!(hits[0].canonical_url, "https://page-0.example/");
    assert!(hits[0].passages[0].text.contains("holiday"), "{:?}", hits[0].passages);
}

#[tokio::test]
async fn files_of_an_organization_are_found_by_meaning_by_itself_only() {
    let world = World::start().await;
    let (tenant, other) = (world.app.tenant().await, world.app.tenant().await);
    world.app.upload(&tenant, "handbook.txt", "Holiday is requested a week ahead.").await;
    world.app.index_files(&tenant, RunMode::Incremental).await;
    world.embed().await;
    assert_eq!(world.hits(&tenant, workspace_search(&tenant, "vacation")).await.len(), 1);
    assert_eq!(world.hits(&other, workspace_search(&other, "vacation")).await.len(), 0);
}

#[tokio::test]
async fn search_without_the_model_is_lexical_with_a_warning() {
    let world = World::start().await;
    let tenant = world.app.tenant().await;
    world.import(&["A holiday of thirty days.", "A vacation of two weeks."]).await;
    world.model.fail();
    let outcome = world.app.app.search(&tenant.viewer, search("vacation")).await.unwrap();
    assert!(outcome.semantic_unavailable);
    assert_eq!(outcome.hits.len(), 1);
    world.model.recover();
    let outcome = world.app.app.search(&tenant.viewer, search("vacation")).await.unwrap();
    assert!(!outcome.semantic_unavailable);
    assert_eq!(outcome.hits.len(), 2);
    assert_eq!(outcome.hits[0].canonical_url, "https://page-1.example/", "words and meaning beat meaning alone");
    assert!(outcome.ranker_version.ends_with("+fusion_v2"), "{}", outcome.ranker_version);
}

#[tokio::test]
async fn query_is_embedded_once() {
    let world = World::start().await;
    let tenant = world.app.tenant().await;
    world.import(&["A holiday of thirty days."]).await;
    let both = SearchRequest { indexes: IndexName::ALL.to_vec(), ..workspace_search(&tenant, "vacation") };
    let calls = world.model.calls();
    world.hits(&tenant, both.clone()).await;
    world.hits(&tenant, both).await;
    assert_eq!(world.model.calls() - calls, 1);
}

#[tokio::test]
async fn filters_and_exact_matches_apply_to_meaning() {
    let world = World::start().await;
    let tenant = world.app.tenant().await;
    world.import(&["A holiday of thirty days.", "The holiday of the others."]).await;
    let exact = SearchRequest { exact_match: true, ..search("vacation") };
    assert_eq!(world.urls(&tenant, exact).await, [""; 0]);
    let mut policy = search("vacation");
    policy.source_policy.exclude_domains = vec![Site::parse("page-0.example").unwrap()];
    assert_eq!(world.urls(&tenant, policy).await, ["https://page-1.example/"]);
    let mut nothing = search("vacation");
    nothing.source_policy.require_domain_match = true;
    assert_eq!(world.urls(&tenant, nothing).await, [""; 0]);
}

#[tokio::test]
async fn record_explains_the_semantic_place() {
    let world = World::start().await;
    let tenant = world.app.tenant().await;
    world.import(&["A holiday of thirty days.", "A vacation of two weeks.", "The pier."]).await;
    let outcome = world.app.app.search(&tenant.viewer, search("vacation")).await.unwrap();
    let recorded = world.app.app.recorded_search(&tenant.viewer, &outcome.search_id.to_string()).await.unwrap();
    let details = recorded.results[0].details.clone().unwrap();
    assert!(details.semantic.unwrap().score > 0.2);
    assert!(details.score > details.lexical.unwrap().score);
}
