//! A database that can be read and not written, as on a full disk.

use app::Error;
use app::feedback::FeedbackRequest;
use diesel::connection::SimpleConnection;
use model::FeedbackEvent;
use test_support::{Setup, TestApp, TestProvider, feedback, found, page, read_id, read_url, search};

use crate::sqlite::connect;

/// Makes every write of searches, grants and ledger entries fail, as a full disk does.
fn fill_disk(world: &TestApp) {
    let tables = ["searches", "grants", "balance_entries", "usage_events", "usage_rollups", "feedback", "page_reads"];
    refuse_writes(world, &tables);
}

fn refuse_writes(world: &TestApp, tables: &[&str]) {
    let mut connection = connect(world);
    for table in tables {
        let trigger = format!(
            "CREATE TRIGGER full_{table} BEFORE INSERT ON {table} \
             BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        );
        connection.batch_execute(&trigger).unwrap();
    }
}

#[tokio::test]
async fn searches_are_answered_and_their_results_can_be_read() {
    let world = TestApp::start().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    world.import_one(page("https://example.com/", "The tides.")).await;
    fill_disk(&world);
    let outcome = world.app.search(&tenant.viewer, search("tides")).await.unwrap();
    let doc_id = outcome.hits[0].doc_id;
    let read = world.app.read_document(&tenant.viewer, read_id(doc_id)).await.unwrap();
    assert!(read.content.unwrap().text.contains("tides"));
    let error = world.app.read_document(&other.viewer, read_id(doc_id)).await.unwrap_err();
    assert!(matches!(error, Error::DocumentNotFound), "{error:?}");
    // By URL it is granted, too.
    world.app.read_document(&other.viewer, read_url("https://example.com/")).await.unwrap();
    world.app.read_document(&other.viewer, read_id(doc_id)).await.unwrap();
}

#[tokio::test]
async fn results_of_an_unrecorded_search_take_feedback() {
    let world = TestApp::start().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    let doc_id = world.import_one(page("https://example.com/", "The tides.")).await;
    refuse_writes(&world, &["searches", "grants"]);
    world.app.search(&tenant.viewer, search("tides")).await.unwrap();
    let request = || FeedbackRequest { doc_id: Some(doc_id), ..feedback(FeedbackEvent::ResultHelpful) };
    world.app.submit_feedback(&tenant.viewer, request()).await.unwrap();
    let error = world.app.submit_feedback(&other.viewer, request()).await.unwrap_err();
    assert!(matches!(error, Error::DocumentNotFound), "{error:?}");
}

#[tokio::test]
async fn search_that_cannot_be_charged_is_refused() {
    let mut setup = Setup::default();
    setup.options.search_cents = 3;
    let world = TestApp::with(setup).await;
    let tenant = world.billed_tenant(10).await;
    fill_disk(&world);
    let error = world.app.search(&tenant.viewer, search("tides")).await.unwrap_err();
    assert!(matches!(error, Error::Overloaded { .. }), "{error:?}");
    assert_eq!(world.balance(&tenant).await, 10);
}

#[tokio::test]
async fn results_of_providers_are_listed_without_being_stored() {
    let provider = TestProvider::with([found("https://tides.example/", "Tides", "About the tides.")]);
    let world = TestApp::with(Setup { web: provider.with_index(), ..Setup::default() }).await;
    let tenant = world.tenant().await;
    fill_disk(&world);
    let outcome = world.app.search(&tenant.viewer, search("tides")).await.unwrap();
    assert_eq!(outcome.hits[0].passages[0].text, "About the tides.");
}
