//! Searches with web search providers.

use std::sync::Arc;
use std::time::Duration;

use app::documents::{ReadWarning, Selection, Unread};
use app::readiness::DependencyState;
use app::search::providers::{ProviderSetup, WebSources};
use app::search::{SearchOutcome, SearchRequest, SecondStage, SourcePolicy, UnavailableProvider, UnknownValues};
use app::web::WebPage;
use app::{Deadline, Error, Viewer};
use async_trait::async_trait;
use engine::EngineErrorKind;
use ingest::prepare::Extent;
use model::{Clock, IndexName, Timestamp};
use retrieval_core::site::Site;
use test_support::site::{Page, Site as WebSite};
use test_support::{EngineFault, Setup, TestApp, TestProvider, found, page, read_id, read_url, search};
use tokio::sync::{mpsc, oneshot};
use web_providers::{Applied, ProviderError, WebProvider, WebQuery, WebResponse, WebResult};

use crate::search::{urls, workspace_search};

async fn world(web: WebSources) -> TestApp {
    TestApp::with(Setup { web, ..Setup::default() }).await
}

async fn searched(world: &TestApp, viewer: &Viewer, request: SearchRequest) -> SearchOutcome {
    world.app.search(viewer, request).await.unwrap()
}

fn unreachable() -> ProviderError {
    ProviderError::Unreachable(Arc::new(std::io::Error::other("the line is dead")))
}

fn tides() -> WebResult {
    found("https://tides.example/guide?utm_source=x", "Tide guide", "The spring tides follow the moon.")
}

#[tokio::test]
async fn results_join_the_list_of_the_index() {
    let provider = TestProvider::with([tides(), found("https://bread.example/", "Bread", "Flour and water.")]);
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    world
        .import([page("https://a.example/", "Boats leave with the tides."), page("https://b.example/", "Soup.")])
        .await;
    let outcome = searched(&world, &tenant.viewer, search("spring tides")).await;
    assert_eq!(urls(&outcome), ["https://tides.example/guide", "https://a.example/", "https://bread.example/"]);
    assert!(outcome.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    let hit = &outcome.hits[0];
    assert_eq!((hit.title.as_deref(), hit.snippet.as_str()), (Some("Tide guide"), "The spring tides follow the moon."));
    assert_eq!((hit.source_url.as_str(), hit.last_crawled_at), ("https://tides.example/guide?utm_source=x", None));
    assert_eq!(hit.passages[0].text, "The spring tides follow the moon.");
    assert!(outcome.unavailable_providers.is_empty() && !outcome.degraded);
    assert_eq!(outcome.ranker_version, "lexical_v6");
}

#[tokio::test]
async fn without_providers_and_index_nothing_changes() {
    let world = TestApp::with(Setup { retrieval: false, ..Setup::default() }).await;
    let tenant = world.tenant().await;
    assert!(matches!(world.app.search(&tenant.viewer, search("tides")).await, Err(Error::NoRetrieval)));
}

#[tokio::test]
async fn provider_serves_a_deployment_without_an_index() {
    let provider = TestProvider::with([tides()]);
    let world = TestApp::with(Setup { retrieval: false, web: provider.with_index(), ..Setup::default() }).await;
    let tenant = world.tenant().await;
    let outcome = searched(&world, &tenant.viewer, search("tides")).await;
    assert!(urls(&outcome) == ["https://tides.example/guide"] && outcome.empty_indexes.is_empty());
    let workspace = workspace_search(&tenant, "tides");
    assert!(matches!(world.app.check_search(&tenant.viewer, &workspace), Err(Error::NoRetrieval)));
    assert!(matches!(world.app.search(&tenant.viewer, workspace).await, Err(Error::NoRetrieval)));
    assert!(world.app.check_search(&tenant.viewer, &search("tides")).is_ok() && !world.app.has_index());
}

#[tokio::test]
async fn index_that_is_no_source_is_not_searched() {
    let provider = TestProvider::with([]);
    let world = world(provider.alone()).await;
    let tenant = world.tenant().await;
    world.import_one(page("https://a.example/", "The tides.")).await;
    let outcome = searched(&world, &tenant.viewer, search("tides")).await;
    assert!(outcome.hits.is_empty() && world.engine.requests().is_empty());
    assert_eq!(outcome.empty_indexes, [], "no index was searched");
}

#[tokio::test]
async fn page_of_the_index_keeps_its_content() {
    let provider = TestProvider::with([found("https://a.example/#top", "Other", "A short text on tides.")]);
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    let long = "The tides of the sea follow the moon. Ships wait for them in the harbour.";
    let doc_id = world.import_one(page("https://a.example/", long)).await;
    // Once it matches in the index, once only at the provider.
    for query in ["tides", "unheard"] {
        let outcome = searched(&world, &tenant.viewer, search(query)).await;
        assert_eq!((outcome.hits.len(), outcome.hits[0].doc_id), (1, doc_id), "{query}");
        assert_eq!(outcome.hits[0].passages[0].text, long);
    }
    assert_eq!(world.store.load_page_reads(tenant.organization_id, vec![doc_id]).await.unwrap().len(), 0);
}

#[tokio::test]
async fn fuller_content_replaces_a_snippet_of_the_index() {
    let provider =
        TestProvider::with([found("https://a.example/", "A", "A far longer text about the spring tides of the sea.")]);
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    let stub = WebPage { extent: Extent::Snippet, ..page("https://a.example/", "Short tides.") };
    world.import_one(stub).await;
    let outcome = searched(&world, &tenant.viewer, search("tides")).await;
    assert_eq!(outcome.hits.len(), 1);
    assert_eq!(outcome.hits[0].passages[0].text, "A far longer text about the spring tides of the sea.");
}

#[tokio::test]
async fn results_are_granted_and_can_be_read_in_full() {
    let site = WebSite::start();
    let url =
        site.put("/guide", Page::html("<h1>Guide</h1><p>Everything about the tides of the sea, on a whole page.</p>"));
    let provider = TestProvider::with([found(&url, "Guide", "A text on tides.")]);
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    let doc_id = searched(&world, &tenant.viewer, search("tides")).await.hits[0].doc_id;
    let passages = app::documents::ReadRequest { selection: Selection::TopPassages, ..read_id(doc_id) };
    let read = world.app.read_document(&tenant.viewer, passages.clone()).await.unwrap();
    assert_eq!(read.content.unwrap().text, "A text on tides.");
    assert_eq!((site.hits("/guide"), read.capture.unwrap().format), (0, app::documents::ContentFormat::Text));
    let read = world.app.read_document(&tenant.viewer, read_id(doc_id)).await.unwrap();
    assert!(read.content.unwrap().text.contains("on a whole page") && site.hits("/guide") == 1);
    // The whole page is what the organization knows from now on.
    let outcome = searched(&world, &tenant.viewer, search("whole page")).await;
    assert!(outcome.hits[0].passages[0].text.contains("on a whole page"));
}

#[tokio::test]
async fn passages_of_the_whole_page_are_not_those_of_a_snippet() {
    let site = WebSite::start();
    let guide = site.put("/guide", Page::html("<p>Spring tides follow the new moon.</p>"));
    let broken = site.put("/gone", Page::status(500));
    let provider = TestProvider::with([found(&guide, "Guide", "On tides."), found(&broken, "Gone", "Tides, gone.")]);
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    searched(&world, &tenant.viewer, search("tides")).await;
    let whole = |url: &str| {
        let query = Some("tides".to_owned());
        let selection = Selection::QueryRelevant;
        app::documents::ReadRequest { whole_page: true, query, selection, ..read_url(url) }
    };
    let stored = app::documents::ReadRequest { cache_only: true, ..whole(&guide) };
    let read = world.app.read_document(&tenant.viewer, stored).await.unwrap();
    assert_eq!((read.passages.unwrap()[0].text.as_str(), site.hits("/guide")), ("On tides.", 0), "nothing is fetched");
    let read = world.app.read_document(&tenant.viewer, whole(&guide)).await.unwrap();
    assert!(read.passages.unwrap()[0].text.contains("follow the new moon") && read.warnings.is_empty());
    let read = world.app.read_document(&tenant.viewer, whole(&broken)).await.unwrap();
    assert!(matches!(read.warnings[..], [ReadWarning::ContentUnavailable { reason: Some(_) }]), "{:?}", read.warnings);
    assert_eq!(read.passages.unwrap()[0].text, "Tides, gone.", "the passages of the snippet remain");
}

#[tokio::test]
async fn expired_snippet_is_fetched_again() {
    let provider = TestProvider::with([found("https://127.0.0.1:1/guide", "Guide", "A text on tides.")]);
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    let doc_id = searched(&world, &tenant.viewer, search("tides")).await.hits[0].doc_id;
    world.clock.advance(Duration::from_mins(16));
    let stored = app::documents::ReadRequest { selection: Selection::TopPassages, cache_only: true, ..read_id(doc_id) };
    let read = world.app.read_document(&tenant.viewer, stored).await.unwrap();
    assert!(format!("{:?}", read.warnings).contains(&format!("{:?}", Unread::NotStored)), "{:?}", read.warnings);
}

#[tokio::test]
async fn other_organizations_do_not_see_results() {
    let provider = TestProvider::with([tides()]);
    let world = world(provider.with_index()).await;
    let (one, other) = (world.tenant().await, world.tenant().await);
    let doc_id = searched(&world, &one.viewer, search("tides")).await.hits[0].doc_id;
    assert!(matches!(world.app.read_document(&other.viewer, read_id(doc_id)).await, Err(Error::DocumentNotFound)));
    let unread = app::documents::ReadRequest { cache_only: true, ..read_url("https://tides.example/guide") };
    let seen = world.app.read_document(&other.viewer, unread).await.unwrap();
    assert_eq!((seen.document.title, seen.capture.is_none()), (None, true));
    provider.answer([]);
    let outcome = searched(&world, &other.viewer, search("spring tides moon")).await;
    assert!(outcome.hits.is_empty(), "results are in no index");
}

#[tokio::test]
async fn cached_answers_belong_to_one_organization() {
    let provider = TestProvider::with([tides()]);
    let world = world(provider.with_index()).await;
    let (one, other) = (world.tenant().await, world.tenant().await);
    for _ in 0..3 {
        assert_eq!(searched(&world, &one.viewer, search("tides")).await.hits.len(), 1);
    }
    assert_eq!(provider.queries().len(), 1, "cached");
    searched(&world, &other.viewer, search("tides")).await;
    assert_eq!(provider.queries().len(), 2, "the time of an answer tells nothing about others");
    searched(&world, &one.viewer, search("moons")).await;
    assert_eq!(provider.queries().len(), 3);
    world.clock.advance(Duration::from_mins(16));
    searched(&world, &one.viewer, search("tides")).await;
    assert_eq!(provider.queries().len(), 4, "expired");
}

#[tokio::test]
async fn endless_ttl_is_accepted() {
    let provider = TestProvider::with([tides()]);
    let mut setup = Setup { web: provider.with_index(), ..Setup::default() };
    setup.options.capture_lifetimes.snippet = Duration::from_secs(u64::MAX);
    let world = TestApp::with(setup).await;
    let tenant = world.tenant().await;
    for _ in 0..2 {
        assert_eq!(urls(&searched(&world, &tenant.viewer, search("tides")).await), ["https://tides.example/guide"]);
        world.clock.advance(Duration::from_hours(24));
    }
    assert_eq!(provider.queries().len(), 1);
}

#[tokio::test]
async fn equal_queries_at_one_time_are_one_call() {
    let provider = TestProvider::with([tides()]);
    let world = world(provider.with_index()).await;
    let (one, other) = (world.tenant().await, world.tenant().await);
    provider.hold();
    let start = |viewer: &Viewer| {
        let (app, viewer) = (Arc::clone(&world.app), viewer.clone());
        tokio::spawn(async move { app.search(&viewer, search("tides")).await.unwrap().hits.len() })
    };
    let first = start(&one.viewer);
    provider.reached(1).await;
    let second = start(&other.viewer);
    world.engine.reached(2).await;
    // The call goes on for the other one.
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    provider.release();
    assert_eq!(second.await.unwrap(), 1);
    assert_eq!(provider.queries().len(), 1);
}

#[tokio::test]
async fn call_ends_when_nobody_waits_for_it() {
    let provider = TestProvider::with([tides()]);
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    provider.hold();
    let (app, viewer) = (Arc::clone(&world.app), tenant.viewer.clone());
    let searching = tokio::spawn(async move { app.search(&viewer, search("tides")).await.unwrap() });
    provider.reached(1).await;
    searching.abort();
    provider.abandoned(1).await;
}

#[tokio::test]
async fn failed_provider_loses_its_own_results_only() {
    let (one, other) = (TestProvider::named("searxng"), TestProvider::named("brave"));
    let world = world(WebSources { providers: vec![one.setup(), other.setup()], ..WebSources::default() }).await;
    let tenant = world.tenant().await;
    world.import_one(page("https://a.example/", "The tides.")).await;
    other.answer([tides()]);
    for (error, reason) in [
        (unreachable(), "unreachable"),
        (ProviderError::Status(500), "http_status"),
        (ProviderError::InvalidResponse("a page".to_owned()), "invalid_response"),
        (ProviderError::Refused { status: 403, hint: "" }, "refused"),
    ] {
        one.set(Err(error));
        let outcome = searched(&world, &tenant.viewer, search("tides")).await;
        assert_eq!(outcome.hits.len(), 2);
        assert_eq!(outcome.unavailable_providers, [UnavailableProvider { name: "searxng", reason }]);
    }
    one.answer([]);
    assert_eq!(searched(&world, &tenant.viewer, search("tides")).await.unavailable_providers, []);
}

#[tokio::test]
async fn search_without_another_source_fails_with_its_providers() {
    let provider = TestProvider::named("searxng");
    provider.set(Err(unreachable()));
    let world = world(provider.alone()).await;
    let tenant = world.billed_tenant(10).await;
    let failed = world.app.search(&tenant.viewer, search("tides")).await;
    assert!(matches!(failed, Err(Error::Unavailable { backend: "web search", .. })), "{failed:?}");
    assert_eq!(world.balance(&tenant).await, 10, "refunded");
    let both =
        SearchRequest { indexes: vec![IndexName::Web, IndexName::Workspace], ..workspace_search(&tenant, "tides") };
    let outcome = searched(&world, &tenant.viewer, both).await;
    assert_eq!(outcome.unavailable_providers.len(), 1, "the workspace was searched");
}

#[tokio::test]
async fn unavailable_index_loses_its_own_results_only() {
    let provider = TestProvider::with([tides()]);
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    world.import_one(page("https://a.example/", "The tides.")).await;
    world.engine.fail(EngineFault::Error(EngineErrorKind::Unavailable));
    let outcome = searched(&world, &tenant.viewer, search("tides")).await;
    assert_eq!(urls(&outcome), ["https://tides.example/guide"]);
    assert_eq!(outcome.unavailable_providers, [UnavailableProvider { name: "index", reason: "unreachable" }]);
    provider.set(Err(unreachable()));
    let failed = world.app.search(&tenant.viewer, search("seas")).await;
    assert!(matches!(failed, Err(Error::Unavailable { backend: "search", .. })), "{failed:?}");
}

#[tokio::test]
async fn slow_provider_is_left_out() {
    let provider = TestProvider::with([tides()]);
    let setup = ProviderSetup { timeout: Duration::from_millis(30), ..provider.setup() };
    let world = world(WebSources { providers: vec![setup], ..WebSources::default() }).await;
    let tenant = world.tenant().await;
    world.import_one(page("https://a.example/", "The tides.")).await;
    provider.hold();
    let late = [UnavailableProvider { name: "searxng", reason: "timeout" }];
    for _ in 0..3 {
        let outcome = searched(&world, &tenant.viewer, search("tides")).await;
        assert_eq!((outcome.hits.len(), outcome.unavailable_providers.as_slice()), (1, late.as_slice()));
    }
    assert_eq!(provider.queries().len(), 1, "the next searches do not wait for it");
    provider.release();
    world.clock.advance(Duration::from_secs(1));
    assert_eq!(searched(&world, &tenant.viewer, search("tides")).await.hits.len(), 2);
}

#[tokio::test]
async fn deadline_of_the_request_ends_the_wait() {
    let provider = TestProvider::with([tides()]);
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    world.import_one(page("https://a.example/", "The tides.")).await;
    provider.hold();
    let request = SearchRequest { deadline: Deadline::after(Duration::from_millis(40)), ..search("tides") };
    let outcome = searched(&world, &tenant.viewer, request).await;
    assert_eq!((outcome.hits.len(), outcome.degraded, outcome.unavailable_providers.len()), (1, true, 1));
}

#[tokio::test]
async fn rate_limit_pauses_the_provider() {
    let provider = TestProvider::named("brave");
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    provider.set(Err(ProviderError::RateLimited { retry_after: Some(Duration::from_secs(30)) }));
    let limited = [UnavailableProvider { name: "brave", reason: "rate_limited" }];
    for query in ["tides", "moons", "seas"] {
        assert_eq!(searched(&world, &tenant.viewer, search(query)).await.unavailable_providers, limited);
    }
    assert_eq!(provider.queries().len(), 1);
    provider.answer([tides()]);
    world.clock.advance(Duration::from_secs(30));
    assert_eq!(searched(&world, &tenant.viewer, search("tides")).await.unavailable_providers, []);
}

/// Provider whose calls wait for their outcomes.
struct Pending(mpsc::UnboundedSender<oneshot::Sender<Result<WebResponse, ProviderError>>>);

#[async_trait]
impl WebProvider for Pending {
    fn name(&self) -> &'static str {
        "brave"
    }

    async fn search(&self, _: &WebQuery, _: Timestamp) -> Result<WebResponse, ProviderError> {
        let (outcome, ended) = oneshot::channel();
        self.0.send(outcome).unwrap();
        ended.await.unwrap()
    }
}

#[tokio::test]
async fn pause_outlasts_calls_that_began_before_it() {
    let limited = |seconds| Err(ProviderError::RateLimited { retry_after: Some(Duration::from_secs(seconds)) });
    for (outcome, seconds) in [
        (Ok(WebResponse::default()), 30),
        (Err(ProviderError::Status(500)), 30),
        (Err(ProviderError::Timeout), 30),
        (limited(5), 30),
        (limited(60), 60),
    ] {
        let (begin, mut begun) = mpsc::unbounded_channel();
        let setup =
            ProviderSetup { provider: Arc::new(Pending(begin)), timeout: Duration::from_secs(20), limit_rps: None };
        let world = world(WebSources { providers: vec![setup], ..WebSources::default() }).await;
        let tenant = world.tenant().await;
        let start = |query: &'static str| {
            let (app, viewer) = (Arc::clone(&world.app), tenant.viewer.clone());
            tokio::spawn(async move { app.search(&viewer, search(query)).await.unwrap() })
        };
        let first = start("tides");
        let first_call = begun.recv().await.unwrap();
        let second = start("moons");
        let second_call = begun.recv().await.unwrap();
        first_call.send(limited(30)).unwrap();
        first.await.unwrap();
        second_call.send(outcome).unwrap();
        second.await.unwrap();

        let paused = [UnavailableProvider { name: "brave", reason: "rate_limited" }];
        assert_eq!(searched(&world, &tenant.viewer, search("seas")).await.unavailable_providers, paused);
        world.clock.advance(Duration::from_secs(seconds - 1));
        assert_eq!(searched(&world, &tenant.viewer, search("seas")).await.unavailable_providers, paused);
        world.clock.advance(Duration::from_secs(1));
        let last = start("seas");
        begun.recv().await.unwrap().send(Ok(WebResponse::default())).unwrap();
        assert_eq!(last.await.unwrap().unavailable_providers, []);
    }
}

#[tokio::test]
async fn clock_that_is_set_back_does_not_prolong_a_pause() {
    let provider = TestProvider::named("brave");
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    provider.set(Err(ProviderError::Timeout));
    searched(&world, &tenant.viewer, search("tides")).await;
    provider.answer([tides()]);
    world.clock.set_back(Duration::from_hours(1));
    assert_eq!(searched(&world, &tenant.viewer, search("tides")).await.unavailable_providers, []);
    assert_eq!(provider.queries().len(), 2);
}

#[tokio::test]
async fn queries_follow_the_rules_of_the_interface() {
    let provider = TestProvider::with([]);
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    let sites = |names: &[&str]| names.iter().map(|name| Site::parse(name).unwrap()).collect::<Vec<_>>();
    let policy = |names: &[&str], require_domain_match| SourcePolicy {
        include_domains: sites(names),
        require_domain_match,
        ..SourcePolicy::default()
    };
    let text = |text: &str| WebQuery { text: text.to_owned(), ..WebQuery::default() };
    let with = |source_policy| SearchRequest { source_policy, ..search("tides") };
    let cases = [
        (search("tides"), Some(text("tides"))),
        (
            SearchRequest {
                search_queries: vec![" ".to_owned(), "ebb".to_owned(), "flow".to_owned()],
                ..search("tides")
            },
            Some(text("ebb")),
        ),
        (
            SearchRequest { exact_match: true, ..search("spring tides") },
            Some(WebQuery { exact_match: true, ..text("spring tides") }),
        ),
        (
            with(policy(&["www.a.example/docs"], true)),
            Some(WebQuery { site: Some("a.example/docs".to_owned()), ..text("tides") }),
        ),
        (with(policy(&["a.example"], false)), None),
        (with(policy(&["a.example", "b.example"], true)), None),
        (with(policy(&[], true)), None),
        (
            SearchRequest { language: Some("de".to_owned()), country: Some("ch".to_owned()), ..search("tides") },
            Some(WebQuery { language: Some("de".to_owned()), country: Some("ch".to_owned()), ..text("tides") }),
        ),
        (SearchRequest { labels: vec!["x".to_owned()], ..search("labelled") }, None),
    ];
    for (request, expected) in cases {
        let before = provider.queries();
        searched(&world, &tenant.viewer, request.clone()).await;
        // A query that was sent before is cached, and one without an operator is the first one.
        assert_eq!(provider.queries().get(before.len()).cloned(), expected, "{request:?}");
    }
}

#[tokio::test]
async fn freshness_is_sent_in_whole_hours() {
    let provider = TestProvider::with([]);
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    let hour = 3_600_000;
    let request = SearchRequest {
        published_after: Some(Timestamp::from_millis(10 * hour + 1)),
        published_before: Some(Timestamp::from_millis(20 * hour + 1)),
        ..search("tides")
    };
    searched(&world, &tenant.viewer, request).await;
    let query = provider.queries().remove(0);
    assert_eq!(query.published_after, Some(Timestamp::from_millis(10 * hour)));
    assert_eq!(query.published_before, Some(Timestamp::from_millis(21 * hour)));
}

#[tokio::test]
async fn only_known_publication_times_meet_their_filter() {
    let provider = TestProvider::with([]);
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    let at = |day: i64| Some(Timestamp::from_millis(day * 86_400_000));
    let dated = |url, day| WebResult { published_at: at(day), ..found(url, "Tides", "About the tides.") };
    let undated = found("https://undated.example/", "Tides", "About the tides.");
    let results = [dated("https://old.example/", 5), dated("https://new.example/", 15), undated];
    provider.answer(results);
    let request = SearchRequest { published_after: at(10), ..search("tides") };
    let outcome = searched(&world, &tenant.viewer, request).await;
    assert_eq!(urls(&outcome), ["https://new.example/"]);
    assert_eq!(outcome.unknown_values, UnknownValues { published_at: 1, ..UnknownValues::default() });
}

#[tokio::test]
async fn page_that_the_index_and_a_provider_know_lacks_a_value_once() {
    let provider = TestProvider::with([]);
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    world
        .import([page("https://a.example/", "Tides of the sea."), page("https://b.example/", "Tides of a bay.")])
        .await;
    let at = |day: i64| Some(Timestamp::from_millis(day * 86_400_000));
    // The page is in the answer if the provider knows its date. Answers to equal queries are cached.
    for (query, published_at, hits, unknown) in [("tides", None, 0, 2), ("sea tides", at(15), 1, 1)] {
        provider.answer([WebResult { published_at, ..found("https://a.example/", "Tides", "About the tides.") }]);
        let request = SearchRequest { published_after: at(10), ..search(query) };
        let outcome = searched(&world, &tenant.viewer, request).await;
        assert_eq!((outcome.hits.len(), outcome.unknown_values.published_at), (hits, unknown), "{query}");
    }
}

#[tokio::test]
async fn page_of_an_index_that_is_not_searched_lacks_a_value() {
    let provider = TestProvider::with([found("https://a.example/", "Tides", "About the tides.")]);
    let world = world(provider.alone()).await;
    let tenant = world.tenant().await;
    world.import_one(page("https://a.example/", "Tides of the sea.")).await;
    let request = SearchRequest { published_after: Some(Timestamp::from_millis(1)), ..search("tides") };
    let outcome = searched(&world, &tenant.viewer, request).await;
    assert_eq!((outcome.hits.len(), outcome.unknown_values.published_at), (0, 1));
}

#[tokio::test]
async fn date_of_a_provider_is_not_remembered_for_others() {
    let mut scores = Vec::new();
    for is_found_before in [false, true] {
        let provider = TestProvider::with([]);
        let world = world(provider.with_index()).await;
        let (one, other) = (world.tenant().await, world.tenant().await);
        world.import_one(page("https://a.example/", "The tides of the sea.")).await;
        if is_found_before {
            let published_at = Some(world.clock.now());
            provider.answer([WebResult { published_at, ..found("https://a.example/", "Tides", "Unheard.") }]);
            let outcome = searched(&world, &one.viewer, search("unheard")).await;
            assert_eq!(outcome.hits[0].published_at, published_at);
        }
        provider.answer([]);
        let outcome = searched(&world, &other.viewer, search("latest tides")).await;
        assert_eq!(outcome.hits[0].published_at, None);
        scores.push(outcome.hits[0].score);
    }
    assert_eq!(scores[0].to_bits(), scores[1].to_bits(), "{scores:?}");
}

#[tokio::test]
async fn language_and_country_are_compared() {
    let provider = TestProvider::with([]);
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    let german = WebResult { language: Some("de".to_owned()), ..found("https://de.example/", "Tides", "Tides.") };
    let english = WebResult { language: Some("en".to_owned()), ..found("https://en.example/", "Tides", "Tides.") };
    let request = |country: Option<&str>| SearchRequest {
        language: Some("de".to_owned()),
        country: country.map(str::to_owned),
        ..search("tides")
    };
    provider.answer([german.clone(), english.clone()]);
    assert_eq!(urls(&searched(&world, &tenant.viewer, request(None)).await), ["https://de.example/"]);
    let outcome = searched(&world, &tenant.viewer, request(Some("ch"))).await;
    assert_eq!((outcome.hits.len(), outcome.unknown_values.country), (0, 1), "no country is known of results");
    provider.set(Ok(WebResponse::new([german, english], Applied { country: true, language: true })));
    assert_eq!(urls(&searched(&world, &tenant.viewer, request(Some("at"))).await), ["https://de.example/"]);
}

#[tokio::test]
async fn source_policy_applies_to_results() {
    let results = ["https://a.example/", "https://sub.b.example/", "https://c.example/"];
    let provider = TestProvider::with(results.map(|url| found(url, "Tides", "About the tides.")));
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    let site = |name: &str| vec![Site::parse(name).unwrap()];
    let with = |source_policy| SearchRequest { source_policy, ..search("tides") };
    let excluded = with(SourcePolicy { exclude_domains: site("b.example"), ..SourcePolicy::default() });
    let outcome = searched(&world, &tenant.viewer, excluded.clone()).await;
    assert_eq!((outcome.hits.len(), outcome.filtered_results), (2, 1));
    let outcome = searched(&world, &tenant.viewer, SearchRequest { max_results: 1, ..excluded }).await;
    assert_eq!((outcome.hits.len(), outcome.filtered_results), (1, 0), "the removed result is behind the kept one");
    let required =
        SourcePolicy { include_domains: site("b.example"), require_domain_match: true, ..SourcePolicy::default() };
    let outcome = searched(&world, &tenant.viewer, with(required)).await;
    assert_eq!((urls(&outcome), outcome.filtered_results), (vec!["https://sub.b.example/"], 2));
    let preferred = SourcePolicy { include_domains: site("c.example"), ..SourcePolicy::default() };
    assert_eq!(urls(&searched(&world, &tenant.viewer, with(preferred)).await)[0], "https://c.example/");
}

#[tokio::test]
async fn first_results_are_read_before_ranking() {
    let site = WebSite::start();
    let body = "<h1>Guide</h1><p>The neap tides come twice a month, after the quarters of the moon.</p>";
    let (read, unread) = (site.put("/read", Page::html(body)), site.put("/unread", Page::html(body)));
    let missing = site.url("/missing");
    let provider = TestProvider::with([&read, &missing, &unread].map(|url| found(url, "Guide", "A text on tides.")));
    let world = world(WebSources { read_top: 2, ..provider.with_index() }).await;
    let tenant = world.tenant().await;
    let outcome = searched(&world, &tenant.viewer, search("neap tides")).await;
    assert_eq!((site.hits("/read"), site.hits("/missing"), site.hits("/unread")), (1, 1, 0));
    let text = |url: &str| outcome.hits.iter().find(|hit| hit.canonical_url == url).unwrap().passages[0].text.clone();
    assert!(text(&read).contains("quarters of the moon"), "{}", text(&read));
    assert_eq!((text(&missing).as_str(), text(&unread).as_str()), ("A text on tides.", "A text on tides."));
    assert_eq!(outcome.hits[0].canonical_url, read);
    searched(&world, &tenant.viewer, search("neap tides moon")).await;
    assert_eq!((site.hits("/read"), site.hits("/missing")), (1, 1), "neither is read again");
}

#[tokio::test]
async fn slow_page_keeps_its_snippet() {
    let site = WebSite::start();
    let url = site.put("/slow", Page::html("<p>The whole page about the tides.</p>"));
    let provider = TestProvider::with([found(&url, "Guide", "A text on tides.")]);
    let web = WebSources { read_top: 1, read_timeout: Duration::from_millis(50), ..provider.with_index() };
    let world = world(web).await;
    let tenant = world.tenant().await;
    site.hold();
    let outcome = searched(&world, &tenant.viewer, search("tides")).await;
    assert_eq!(outcome.hits[0].passages[0].text, "A text on tides.");
    site.release();
}

#[tokio::test]
async fn exact_match_drops_whole_pages_without_the_phrase() {
    let site = WebSite::start();
    let with = site.put("/with", Page::html("<p>They say that spring tides are high in the bay.</p>"));
    let without = site.put("/without", Page::html("<p>In spring the high tides flood the meadows.</p>"));
    let snippet = "https://snippet.example/";
    let provider = TestProvider::with([with.as_str(), &without, snippet].map(|url| found(url, "Sea", "About water.")));
    let world = world(WebSources { read_top: 2, ..provider.with_index() }).await;
    let tenant = world.tenant().await;
    let request = SearchRequest { exact_match: true, ..search("spring tides") };
    let outcome = searched(&world, &tenant.viewer, request).await;
    assert_eq!(urls(&outcome), [with.as_str(), snippet], "the provider knows the text beyond a snippet");
}

#[tokio::test]
async fn equal_snippets_are_different_pages() {
    let provider = TestProvider::with(
        ["https://a.example/", "https://b.example/"].map(|url| found(url, "Tides", "Enable scripts.")),
    );
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    assert_eq!(searched(&world, &tenant.viewer, search("tides")).await.hits.len(), 2);
}

#[tokio::test]
async fn results_without_texts_can_be_listed() {
    let provider = TestProvider::with([found("https://tides.example/", "", "")]);
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    let outcome = searched(&world, &tenant.viewer, search("tides")).await;
    assert_eq!((outcome.hits.len(), outcome.hits[0].title.as_deref()), (1, None));
}

#[tokio::test]
async fn providers_and_index_take_turns_in_first_stage_order() {
    let provider =
        TestProvider::with([1, 2].map(|n| found(&format!("https://p{n}.example/"), "Tides", "About the tides.")));
    let setup = Setup { web: provider.with_index(), second_stage: SecondStage::None, ..Setup::default() };
    let world = TestApp::with(setup).await;
    let tenant = world.tenant().await;
    world
        .import([page("https://i1.example/", "Tides tides tides."), page("https://i2.example/", "Tides and a boat.")])
        .await;
    let outcome = searched(&world, &tenant.viewer, search("tides")).await;
    let turns = ["https://i1.example/", "https://p1.example/", "https://i2.example/", "https://p2.example/"];
    assert_eq!(urls(&outcome), turns);
}

#[tokio::test]
async fn order_of_the_provider_counts_among_snippets() {
    let weak = found("https://weak.example/", "", "The sea rises twice a day, after the moon, with the tides.");
    let strong = found("https://strong.example/", "Spring tides", "Spring tides are the highest tides.");
    let provider = TestProvider::with([weak.clone(), strong.clone()]);
    let world = world(provider.alone()).await;
    let tenant = world.tenant().await;
    let outcome = searched(&world, &tenant.viewer, search("spring tides")).await;
    assert_eq!(urls(&outcome), ["https://weak.example/", "https://strong.example/"], "it knows the whole pages");
    provider.answer([found("https://bread.example/", "Bread", "Flour and water."), strong, weak]);
    let outcome = searched(&world, &tenant.viewer, search("the spring tides")).await;
    assert_eq!(urls(&outcome)[2], "https://weak.example/");
    assert!(outcome.hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
}

#[tokio::test]
async fn search_costs_the_same_with_providers() {
    let provider = TestProvider::with([tides()]);
    let world = world(provider.with_index()).await;
    let tenant = world.billed_tenant(10).await;
    searched(&world, &tenant.viewer, search("tides")).await.charge.unwrap().keep();
    assert_eq!(world.balance(&tenant).await, 9);
}

#[tokio::test]
async fn readiness_reports_the_last_call() {
    let provider = TestProvider::named("searxng");
    let world = world(provider.with_index()).await;
    let tenant = world.tenant().await;
    let state = async || -> DependencyState {
        let states = world.app.readiness().await;
        states.into_iter().find(|state| state.name == "web_searxng").unwrap()
    };
    assert!(state().await.up && provider.queries().is_empty(), "a probe uses no quota");
    provider.set(Err(ProviderError::Status(500)));
    searched(&world, &tenant.viewer, search("tides")).await;
    let down = state().await;
    assert_eq!((down.up, down.required), (false, false));
    assert_eq!(down.detail.as_deref(), Some("the provider answered with status 500"));
    provider.answer([]);
    searched(&world, &tenant.viewer, search("tides")).await;
    assert!(state().await.up);

    // Without another call a failure does not count for ever.
    provider.set(Err(ProviderError::Status(500)));
    searched(&world, &tenant.viewer, search("ebb")).await;
    world.clock.advance(Duration::from_secs(40));
    assert!(!state().await.up);
    world.clock.advance(Duration::from_secs(20));
    assert!(state().await.up);
}
