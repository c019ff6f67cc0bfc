//! Searches rank by stored terms, and compute those that are missing, outdated or damaged.

use app::search::{SearchOutcome, SearchRequest};
use app::web::{WebPage, prepare_page, save_pages};
use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Binary};
use diesel::{QueryableByName, RunQueryDsl};
use model::{Clock, RunMode};
use test_support::{Setup, Tenant, TestApp, page, search, until};

use crate::search::workspace_search;
use crate::sqlite::connect;

/// Row of a stored vector.
#[derive(Debug, Eq, PartialEq, QueryableByName)]
struct Row {
    #[diesel(sql_type = Binary)]
    doc_id: Vec<u8>,
    #[diesel(sql_type = BigInt)]
    version: i64,
    #[diesel(sql_type = BigInt)]
    text_key: i64,
    #[diesel(sql_type = Binary)]
    terms: Vec<u8>,
}

fn execute(world: &TestApp, sql: &str) {
    connect(world).batch_execute(sql).unwrap();
}

fn rows(world: &TestApp) -> Vec<Row> {
    let sql = "SELECT doc_id, version, text_key, terms FROM term_vectors ORDER BY doc_id";
    diesel::sql_query(sql).load(&mut connect(world)).unwrap()
}

async fn until_stored(world: &TestApp, expected: &[Row]) {
    until("the terms are stored", async || (rows(world) == expected).then_some(())).await;
}

/// Returns the text of a page about the tides. Contents differ in length and in their number of matches.
fn text(number: usize) -> String {
    let section =
        format!("## Harbour {number}\n\n{}\n\n", "The boats of harbour leave in the morning. ".repeat(number * 3));
    format!("# Tides {number}\n\n{}\n\n{section}", "The tides of spring follow the moon. ".repeat(1 + number % 4))
}

fn pages() -> Vec<WebPage> {
    let mut pages: Vec<WebPage> =
        (1..=12).map(|number| page(&format!("https://{number}.example/"), &text(number))).collect();
    pages[2].title = Some("Spring tides".to_owned());
    pages[4].description = Some("Spring tides and neap tides".to_owned());
    let in_french =
        "# Marées\n\nLes marées de printemps suivent la lune. Spring tides: marées de vive-eau, très élevées.";
    pages.push(WebPage { language: Some("fr".to_owned()), ..page("https://fr.example/", in_french) });
    pages.push(page("https://ja.example/", "# 潮\n\n大潮は満月と新月のころに起こる潮です。Spring tides 大潮。"));
    pages
}

async fn started() -> (TestApp, Tenant) {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    world.import(pages()).await;
    (world, tenant)
}

/// Starts another instance on the database, with an index and without cached terms.
async fn restarted(world: &TestApp) -> TestApp {
    let instance = TestApp::on(world.database.clone(), Setup::default());
    instance.feeder.restore().await.unwrap();
    instance.feeder.drain_all().await.unwrap();
    instance
}

fn spring_tides() -> SearchRequest {
    SearchRequest { max_results: 2, ..search("spring tides of the moon") }
}

async fn found(world: &TestApp, tenant: &Tenant, request: SearchRequest) -> SearchOutcome {
    world.app.search(&tenant.viewer, request).await.unwrap()
}

/// Returns the bytes of the contents of the hits.
async fn displayed_bytes(world: &TestApp, outcome: &SearchOutcome) -> usize {
    let doc_ids = outcome.hits.iter().map(|hit| hit.doc_id).collect();
    let loaded = world.store.load_documents(outcome.hits[0].collection, doc_ids).await.unwrap();
    loaded.iter().map(|loaded| loaded.capture.content.len()).sum()
}

/// Returns what ranking decides.
fn ranking(outcome: &SearchOutcome) -> Vec<(String, f64, String, Vec<u32>)> {
    let hits = outcome.hits.iter().map(|hit| {
        let passages = hit.passages.iter().map(|passage| passage.ordinal).collect();
        (hit.canonical_url.clone(), hit.score, hit.snippet.clone(), passages)
    });
    hits.collect()
}

#[tokio::test]
async fn search_with_a_cold_cache_reads_displayed_documents_only() {
    let (world, tenant) = started().await;
    let cold = found(&world, &tenant, spring_tides()).await;
    assert_eq!((cold.hits.len(), cold.read_bytes), (2, displayed_bytes(&world, &cold).await));
    let warm = found(&world, &tenant, spring_tides()).await;
    assert_eq!((ranking(&warm), warm.read_bytes), (ranking(&cold), cold.read_bytes));

    world.upload(&tenant, "a.txt", "The spring tides of the harbour.").await;
    world.upload(&tenant, "b.txt", "The boats of the harbour.").await;
    world.index_files(&tenant, RunMode::Incremental).await;
    let request = SearchRequest { max_results: 1, ..workspace_search(&tenant, "spring tides harbour") };
    let own = found(&world, &tenant, request).await;
    assert_eq!((own.hits.len(), own.read_bytes), (1, displayed_bytes(&world, &own).await));
}

#[tokio::test]
async fn documents_that_are_removed_before_the_index_knows_are_replaced_by_others() {
    let (world, tenant) = started().await;
    let urls =
        |outcome: &SearchOutcome| outcome.hits.iter().map(|hit| hit.canonical_url.clone()).collect::<Vec<String>>();
    let three = urls(&found(&world, &tenant, SearchRequest { max_results: 3, ..spring_tides() }).await);
    // From now on their terms are cached.
    assert_eq!(urls(&found(&world, &tenant, spring_tides()).await), three[..2]);
    execute(&world, &format!("UPDATE documents SET removed_at = 1 WHERE canonical_url = '{}'", three[0]));
    for _ in 0..2 {
        let outcome = found(&world, &tenant, spring_tides()).await;
        assert_eq!(urls(&outcome), three[1..]);
        let recorded = world.recorded_search(&tenant, &outcome.search_id.to_string()).await;
        assert_eq!(recorded.results.len(), 2);
    }
    execute(&world, "UPDATE documents SET removed_at = NULL");
    assert_eq!(urls(&found(&world, &tenant, spring_tides()).await), three[..2]);
}

#[tokio::test]
async fn stored_terms_rank_like_the_texts() {
    let (world, tenant) = started().await;
    let all = SearchRequest { max_results: 20, ..spring_tides() };
    let by_stored_terms = found(&world, &tenant, all.clone()).await;
    assert_eq!(by_stored_terms.hits.len(), 14);
    let instance = restarted(&world).await;
    // Not written again either, so that every search analyses.
    execute(
        &world,
        "DELETE FROM term_vectors;
         CREATE TRIGGER full BEFORE INSERT ON term_vectors BEGIN SELECT RAISE(ABORT, 'disk is full'); END",
    );
    let by_texts = found(&instance, &tenant, all).await;
    assert_eq!(ranking(&by_stored_terms), ranking(&by_texts));
    let few = found(&restarted(&world).await, &tenant, spring_tides()).await;
    assert!(few.read_bytes > displayed_bytes(&world, &few).await, "texts were read");
}

#[tokio::test]
async fn long_documents_are_ranked_alike_by_stored_terms() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    // The candidates have more text than one search reads, so that it ranks by the beginning of each.
    let count = 70;
    let pages = (0..count).map(|number| {
        let sections = (0..160).map(|section| format!("## Part {section}\n\n{}\n\n", text(number % 7 + section % 5)));
        page(&format!("https://{number}.example/"), &sections.collect::<String>())
    });
    world.import(pages).await;
    let request = SearchRequest { max_results: 3, ..spring_tides() };
    let by_stored_terms = found(&world, &tenant, request.clone()).await;
    // Parts of 16 kB: the first, and those to quote from.
    assert!(by_stored_terms.read_bytes < 3 * 10 * 20_000, "{}", by_stored_terms.read_bytes);
    let instance = restarted(&world).await;
    let stored = rows(&world);
    execute(&world, "DELETE FROM term_vectors");
    let by_texts = found(&instance, &tenant, request).await;
    assert_eq!(ranking(&by_stored_terms), ranking(&by_texts));
    assert!(by_texts.read_bytes > 40 * 64_000, "{}", by_texts.read_bytes);
    // Those that were candidates are stored as the feeder does.
    until("terms are stored", async || (rows(&world).len() >= 40).then_some(())).await;
    assert!(rows(&world).iter().all(|row| stored.contains(row)));
}

#[tokio::test]
async fn terms_that_do_not_fit_are_computed_and_stored_again() {
    let (world, tenant) = started().await;
    let expected = ranking(&found(&world, &tenant, spring_tides()).await);
    let stored = rows(&world);
    assert_eq!(stored.len(), 14);
    for damage in [
        "DELETE FROM term_vectors",
        "UPDATE term_vectors SET version = version - 1",
        "UPDATE term_vectors SET text_key = text_key + 1",
        "UPDATE term_vectors SET capture_id = x'00000000000000000000000000000000'",
        "UPDATE term_vectors SET terms = x'ffffff'",
        "UPDATE term_vectors SET terms = substr(terms, 1, length(terms) / 2)",
        "UPDATE term_vectors SET terms = x''",
    ] {
        let instance = restarted(&world).await;
        execute(&world, damage);
        let outcome = found(&instance, &tenant, spring_tides()).await;
        assert_eq!(ranking(&outcome), expected, "{damage}");
        assert!(outcome.read_bytes > displayed_bytes(&world, &outcome).await, "{damage}");
        until_stored(&world, &stored).await;
    }
    let outcome = found(&restarted(&world).await, &tenant, spring_tides()).await;
    assert_eq!(outcome.read_bytes, displayed_bytes(&world, &outcome).await);
}

#[tokio::test]
async fn retitled_document_is_not_ranked_by_its_earlier_title() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let text = "The tides of spring follow the moon.";
    world.import([page("https://a.example/", text), page("https://b.example/", &text.replace("moon", "sun"))]).await;
    let instance = restarted(&world).await;
    let untitled = found(&instance, &tenant, search("spring tides")).await;
    assert!((untitled.hits[0].score - untitled.hits[1].score).abs() < 1e-9, "{untitled:?}");
    let before = rows(&world);
    let now = world.clock.now();
    let retitled = WebPage { title: Some("Spring tides".to_owned()), ..page("https://a.example/", text) };
    save_pages(&world.store, vec![prepare_page(retitled, now).unwrap()], now).await.unwrap();
    // The feeder is late.
    let outcome = found(&world, &tenant, search("spring tides")).await;
    assert_eq!(outcome.hits[0].canonical_url, "https://a.example/");
    assert!(outcome.hits[0].score > outcome.hits[1].score, "{outcome:?}");
    let changed = until("the terms are stored", async || {
        let changed = rows(&world).into_iter().zip(&before).filter(|(row, before)| row != *before).count();
        (changed > 0).then_some(changed)
    });
    assert_eq!(changed.await, 1);
    let by_search = rows(&world);
    instance.feeder.drain_all().await.unwrap();
    assert_eq!(rows(&world), by_search);
}

#[tokio::test]
async fn terms_that_cannot_be_stored_delay_nothing() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    execute(&world, "CREATE TRIGGER full BEFORE INSERT ON term_vectors BEGIN SELECT RAISE(ABORT, 'disk is full'); END");
    world.import(pages()).await;
    let outcome = found(&world, &tenant, spring_tides()).await;
    assert_eq!((outcome.hits.len(), rows(&world)), (2, vec![]));
    execute(&world, "DROP TRIGGER full");
    let again = found(&restarted(&world).await, &tenant, spring_tides()).await;
    assert_eq!((ranking(&again), rows(&world).len()), (ranking(&outcome), 14));
}

#[tokio::test]
async fn deleted_document_is_not_found_by_its_stored_terms() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    for name in ["a.txt", "b.txt"] {
        world.upload(&tenant, name, "The spring tides.").await;
    }
    world.index_files(&tenant, RunMode::Incremental).await;
    let doc_ids = world.store.list_workspace_documents(tenant.organization_id).await.unwrap();
    world.store.hide_workspace_document(tenant.organization_id, doc_ids[0], world.clock.now()).await.unwrap();
    // The index still has it.
    let outcome = found(&world, &tenant, workspace_search(&tenant, "spring tides")).await;
    assert_eq!(outcome.hits.iter().map(|hit| hit.doc_id).collect::<Vec<_>>(), doc_ids[1..]);
}
