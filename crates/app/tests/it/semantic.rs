//! Semantic leg of searches.

use std::sync::Arc;

use app::search::{SearchHit, SearchRequest, SecondStage, SourcePolicy};
use app::web::WebPage;
use docstore::ModelCalibration;
use ingest::embed::EmbeddingWorker;
use model::{Clock, IndexName, RunMode};
use models::embedding::Embedder;
use models::testing::TestEmbedder;
use retrieval_core::fusion::CALIBRATION_VERSION;
use retrieval_core::site::Site;
use test_support::{Setup, Tenant, TestApp, TestProvider, TestReranker, found, page, search};

use crate::search::workspace_search;

struct World {
    app: TestApp,
    model: Arc<TestEmbedder>,
    worker: EmbeddingWorker,
}

impl World {
    async fn start() -> Self {
        Self::with(Setup::default()).await
    }

    async fn with(setup: Setup) -> Self {
        let model = Arc::new(TestEmbedder::default().with_synonyms("holiday", "vacation").without("xyzzy"));
        let app = TestApp::with(Setup { embedder: Some(model.clone()), ..setup }).await;
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

    /// Stores the quality of the model, as measured: the best sensitivity to meaning, and that in each language.
    async fn know(&self, meaning: f64, by_language: &str) {
        let (model, by_language) = (self.model.version().to_owned(), by_language.to_owned());
        let known = ModelCalibration { model, version: CALIBRATION_VERSION, meaning, repetition: 8.0, by_language };
        self.app.store.store_calibration(known).await.unwrap();
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

/// Texts of many pages, of which the last one is near to `vacation entitlement` and some others have one of the words.
fn harbour() -> Vec<String> {
    let page = |n: usize| match n {
        0..110 => format!("Gauge {n} measures the tide at pier {n}."),
        110..120 => format!("Boats have an entitlement to berth {n} at the pier."),
        _ => "Holiday.".to_owned(),
    };
    (0..=120).map(page).collect()
}

#[tokio::test]
async fn a_document_whose_meaning_stands_out_is_better_than_one_with_a_common_word() {
    let world = World::start().await;
    let tenant = world.app.tenant().await;
    world.import(&harbour().iter().map(String::as_str).collect::<Vec<_>>()).await;
    let urls = world.urls(&tenant, search("vacation entitlement")).await;
    assert_eq!((&*urls[0], urls.len() > 5), ("https://page-120.example/", true), "{urls:?}");
}

#[tokio::test]
async fn vectors_that_are_known_to_repeat_words_count_less() {
    let world = World::start().await;
    let tenant = world.app.tenant().await;
    world.know(0.5, "en=0.5").await;
    world.import(&harbour().iter().map(String::as_str).collect::<Vec<_>>()).await;
    let urls = world.urls(&tenant, search("vacation entitlement")).await;
    assert_eq!(urls.len(), 10, "{urls:?}");
    assert!(!urls.contains(&"https://page-120.example/".to_owned()), "it is behind the ten with a word: {urls:?}");
}

#[tokio::test]
async fn a_model_counts_less_in_a_language_that_it_does_not_know() {
    for (language, is_first) in [("en", true), ("de", false), ("it", false)] {
        let world = World::start().await;
        let tenant = world.app.tenant().await;
        world.know(8.0, "en=8 de=0.5 fr=0.1").await;
        let pages = harbour().into_iter().enumerate().map(|(n, text)| WebPage {
            language: Some(language.to_owned()),
            ..page(&format!("https://page-{n}.example/"), &text)
        });
        world.app.import(pages).await;
        world.embed().await;
        let urls = world.urls(&tenant, search("vacation entitlement")).await;
        assert_eq!((&*urls[0] == "https://page-120.example/", urls.len()), (is_first, 10), "{language}: {urls:?}");
    }
}

/// A page about something else, whose last section is about holidays.
fn handbook() -> String {
    let welcome = "The employees of the harbour meet at the pier on every first day of the month. ".repeat(30);
    format!("# Handbook\n\n{welcome}\n\n## Leave\n\nHoliday of thirty days.\n")
}

#[tokio::test]
async fn a_document_found_by_meaning_is_quoted_where_it_is_near() {
    let world = World::start().await;
    let tenant = world.app.tenant().await;
    // Another result has a word of the query, and shares words with the handbook.
    world.import(&[&handbook(), "The entitlement of employees of the harbour at the pier."]).await;
    let hits = world.hits(&tenant, search("vacation entitlement")).await;
    let handbook = hits.iter().find(|hit| hit.canonical_url == "https://page-0.example/").unwrap();
    assert!(handbook.passages[0].text.contains("Holiday"), "{:?}", handbook.passages);
    assert!(handbook.snippet.contains("Holiday"), "{}", handbook.snippet);
}

#[tokio::test]
async fn a_long_document_found_by_meaning_is_quoted_where_it_is_near() {
    let world = World::start().await;
    let tenant = world.app.tenant().await;
    // Longer than ranking reads.
    let filler = "The tide gauge at the pier measures the sea. ".repeat(20) + "\n\n";
    let text = format!("{}Holiday of thirty days.\n\n{}", filler.repeat(600), filler.repeat(2_000));
    world.import(&[&text]).await;
    let hits = world.hits(&tenant, search("vacation")).await;
    assert!(hits[0].passages[0].text.contains("Holiday"), "{:?}", hits[0].passages[0]);
}

#[tokio::test]
async fn long_documents_found_by_meaning_do_not_shorten_what_is_read_of_one_with_the_words() {
    let world = World::start().await;
    let tenant = world.app.tenant().await;
    // All together are longer than ranking reads.
    let filler = ("The tide gauge at the pier measures the sea. ".repeat(20) + "\n\n").repeat(750);
    let mut texts = vec![format!("{filler}The entitlement to a berth.\n")];
    texts.extend((0..3).map(|number| format!("Holiday {number} of thirty days.\n\n{filler}")));
    world.import(&texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let outcome = world.app.app.search(&tenant.viewer, search("vacation entitlement")).await.unwrap();
    let recorded = world.app.app.recorded_search(&tenant.viewer, &outcome.search_id.to_string()).await.unwrap();
    let with_words = outcome.hits.iter().position(|hit| hit.canonical_url == "https://page-0.example/").unwrap();
    let details = recorded.results[with_words].details.clone().unwrap();
    assert_eq!((outcome.hits.len(), details.lexical.unwrap().rank), (4, 1));
    assert!(details.lexical.unwrap().score > 0.0, "its words are read");
}

#[tokio::test]
async fn a_reranker_reads_the_nearest_passages() {
    let reranker = Arc::new(TestReranker::preferring("Holiday"));
    let second_stage = SecondStage::Model(Arc::clone(&reranker) as _);
    let world = World::with(Setup { second_stage, ..Setup::default() }).await;
    let tenant = world.app.tenant().await;
    world.import(&[&handbook(), "The entitlement of employees of the harbour at the pier."]).await;
    let hits = world.hits(&tenant, search("vacation entitlement")).await;
    assert_eq!(hits[0].canonical_url, "https://page-0.example/", "{:?}", reranker.texts());
    assert!(hits[0].passages[0].text.contains("Holiday"), "{:?}", hits[0].passages);
}

#[tokio::test]
async fn without_a_reranker_meaning_still_counts() {
    let second_stage = SecondStage::Model(Arc::new(TestReranker::unreachable()));
    let world = World::with(Setup { second_stage, ..Setup::default() }).await;
    let tenant = world.app.tenant().await;
    world.import(&["A vacation of two weeks.", "Holiday of thirty days.", "The pier has a tide gauge."]).await;
    let outcome = world.app.app.search(&tenant.viewer, search("vacation")).await.unwrap();
    assert!(outcome.rerank_unavailable);
    assert_eq!(outcome.ranker_version, "first_stage_order_v1");
    assert!(outcome.hits[1].score > 0.0, "found by meaning alone");
}

#[tokio::test]
async fn copies_of_the_nearest_text_leave_room_for_others() {
    let world = World::start().await;
    let tenant = world.app.tenant().await;
    let copies = vec!["Holiday.".to_owned(); 60];
    let others = (0..10).map(|number| format!("A long holiday of harbour {number}."));
    let texts: Vec<String> = copies.into_iter().chain(others).collect();
    world.import(&texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let urls = world.urls(&tenant, search("vacation")).await;
    let copies: Vec<String> = (0..60).map(|number| format!("https://page-{number}.example/")).collect();
    assert_eq!((urls.len(), urls.iter().filter(|url| copies.contains(url)).count()), (10, 1), "{urls:?}");
    let limits: Vec<usize> = world.app.engine.requests().iter().map(|request| request.limit).collect();
    assert_eq!(limits, [40, 200]);
}

#[tokio::test]
async fn files_of_an_organization_are_found_by_meaning_by_itself_only() {
    let world = World::start().await;
    let (tenant, other) = (world.app.tenant().await, world.app.tenant().await);
    world.app.upload(&tenant, "handbook.txt", "Holiday is requested a week ahead.").await;
    world.app.index_files(&tenant, RunMode::Incremental).await;
    world.embed().await;
    let outcome = world.app.app.search(&tenant.viewer, workspace_search(&tenant, "vacation")).await.unwrap();
    assert_eq!((outcome.hits.len(), outcome.workspace_total), (1, Some(1)));
    assert_eq!(world.hits(&other, workspace_search(&other, "vacation")).await.len(), 0);
}

#[tokio::test]
async fn files_found_by_meaning_only_count_if_they_are_shown() {
    let world = World::start().await;
    let tenant = world.app.tenant().await;
    for number in 0..60 {
        world.app.upload(&tenant, &format!("{number}.txt"), &format!("A holiday {number}.")).await;
    }
    world.app.index_files(&tenant, RunMode::Incremental).await;
    world.embed().await;
    for (query, max_results, total) in [("vacation", 10, 10), ("vacation", 50, 50), ("holiday", 10, 60)] {
        let request = SearchRequest { max_results, ..workspace_search(&tenant, query) };
        let outcome = world.app.app.search(&tenant.viewer, request).await.unwrap();
        assert_eq!((outcome.hits.len(), outcome.workspace_total), (max_results, Some(total)), "{query}");
    }
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
    assert!(outcome.ranker_version.ends_with("+fusion_v9"), "{}", outcome.ranker_version);
}

#[tokio::test]
async fn search_with_another_model_than_that_of_the_index_is_lexical_with_a_warning() {
    let world = World::start().await;
    let tenant = world.app.tenant().await;
    world.import(&["A holiday of thirty days.", "A vacation of two weeks."]).await;
    let other = Arc::new(TestEmbedder::new("another"));
    let clock = Arc::clone(&world.app.clock) as Arc<dyn Clock>;
    let worker = EmbeddingWorker::new(world.app.store.clone(), other.clone(), clock);
    worker.adopt().await.unwrap();
    worker.drain().await.unwrap();
    world.app.feeder.drain_all().await.unwrap();
    let both = SearchRequest { indexes: IndexName::ALL.to_vec(), ..workspace_search(&tenant, "vacation") };
    for request in [search("vacation"), both, search("vacation")] {
        let outcome = world.app.app.search(&tenant.viewer, request).await.unwrap();
        assert!(outcome.semantic_unavailable && !outcome.degraded);
        assert_eq!((outcome.hits.len(), &*outcome.hits[0].canonical_url), (1, "https://page-1.example/"));
    }
    // A server with the model of the index needs no warning, even before the index has vectors.
    let setup = Setup { embedder: Some(other), ..Setup::default() };
    let instance = TestApp::on(Arc::clone(&world.app.database), setup);
    let outcome = instance.app.search(&tenant.viewer, search("vacation")).await.unwrap();
    assert!(!outcome.semantic_unavailable);
}

#[tokio::test]
async fn index_that_is_still_embedded_needs_no_warning() {
    let world = World::start().await;
    let tenant = world.app.tenant().await;
    world.app.import([page("https://page-0.example/", "A holiday, or vacation.")]).await;
    let outcome = world.app.app.search(&tenant.viewer, search("vacation")).await.unwrap();
    assert!(!outcome.semantic_unavailable);
    assert_eq!(outcome.hits.len(), 1);
}

#[tokio::test]
async fn query_that_the_model_does_not_know_is_answered_by_words_without_a_warning() {
    let world = World::start().await;
    let tenant = world.app.tenant().await;
    world.import(&["Xyzzy.", "A holiday of thirty days."]).await;
    let calls = world.model.calls();
    for _ in 0..2 {
        let outcome = world.app.app.search(&tenant.viewer, search("xyzzy")).await.unwrap();
        assert!(!outcome.semantic_unavailable && !outcome.degraded);
        assert_eq!((outcome.hits.len(), &*outcome.hits[0].canonical_url), (1, "https://page-0.example/"));
    }
    assert_eq!(world.model.calls() - calls, 1);
    assert_eq!(world.urls(&tenant, search("vacation")).await, ["https://page-1.example/"], "the other has no vector");
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

#[tokio::test]
async fn results_that_a_policy_removes_count_once() {
    let world = World::start().await;
    let tenant = world.app.tenant().await;
    let texts: Vec<String> = (0..30).map(|number| format!("Gauge {number} measures the holiday tide.")).collect();
    world.import(&texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let source_policy = SourcePolicy { require_domain_match: true, ..SourcePolicy::default() };
    let request = SearchRequest { source_policy, max_results: 10, ..search("tide") };
    let outcome = world.app.app.search(&tenant.viewer, request).await.unwrap();
    assert_eq!((outcome.hits.len(), outcome.filtered_results), (0, 10));
}

#[tokio::test]
async fn without_a_ranker_results_of_providers_precede_neighbours_without_words() {
    let found = (0..6).map(|number| found(&format!("https://found-{number}.example/"), "Vacation", "On vacation."));
    let web = TestProvider::with(found).with_index();
    let world = World::with(Setup { second_stage: SecondStage::None, web, ..Setup::default() }).await;
    let tenant = world.app.tenant().await;
    let neighbours = (0..20).map(|number| format!("Holiday {number} of the year."));
    let texts: Vec<String> = neighbours.chain(["A vacation.".to_owned()]).collect();
    world.import(&texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let urls = world.urls(&tenant, SearchRequest { max_results: 10, ..search("vacation") }).await;
    let of_provider = urls.iter().filter(|url| url.contains("found-")).count();
    assert_eq!((urls.len(), of_provider), (10, 6), "{urls:?}");
}
