//! Every use case with the ids of another organization: each answers as if they did not exist.

use std::sync::Arc;
use std::time::Duration;

use app::Error;
use app::clock::to_date_time;
use app::documents::{Include, ReadOutcome, ReadRequest, ReadWarning};
use app::feedback::FeedbackRequest;
use app::search::SearchRequest;
use app::usage::{GroupBy, Interval, UsageEvent, UsageRequest, Window};
use model::{Clock, FeedbackEvent, IndexName, OrganizationId, RunMode};
use retrieval_core::url::CanonicalUrl;
use test_support::site::{Page, Site};
use test_support::{Tenant, TestApp, feedback, page, read_id, read_url, search, until};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::accounts::refused_field;
use crate::search::workspace_search;

/// An organization with an indexed file, and one without.
async fn start() -> (TestApp, Tenant, Tenant) {
    let world = TestApp::start().await;
    let (owner, stranger) = (world.tenant().await, world.tenant().await);
    world.upload(&owner, "secret.txt", "The secret tides.").await;
    world.index_files(&owner, RunMode::Incremental).await;
    (world, owner, stranger)
}

fn url(owner: &Tenant) -> String {
    format!("workspace://{}/secret.txt", owner.organization_id)
}

#[tokio::test]
async fn a_workspace_search_never_finds_files_of_others() {
    let (world, owner, stranger) = start().await;
    let own = world.app.search(&stranger.viewer, workspace_search(&stranger, "tides")).await.unwrap();
    assert_eq!((own.hits.len(), own.workspace_total), (0, Some(0)));
    let theirs = world.app.search(&owner.viewer, workspace_search(&owner, "tides")).await.unwrap();
    assert_eq!(theirs.hits.len(), 1);
}

#[tokio::test]
async fn the_workspace_of_another_organization_cannot_be_named() {
    let (world, owner, stranger) = start().await;
    let mut messages = Vec::new();
    let (workspace, web) = (IndexName::Workspace, IndexName::Web);
    for (index, id) in [
        (workspace, Some(owner.organization_id)),
        (workspace, Some(OrganizationId(Uuid::from_u128(1)))),
        (workspace, None),
        (web, Some(owner.organization_id)),
        (web, Some(OrganizationId(Uuid::from_u128(1)))),
    ] {
        let request = SearchRequest { indexes: vec![index], workspace_id: id, ..search("tides") };
        match world.app.search(&stranger.viewer, request).await {
            Err(Error::Invalid { field, message }) => messages.push((field, message)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(messages[0].0, "scope.workspace_id");
    messages.dedup();
    assert_eq!(messages.len(), 1, "the answer is the same whether or not the organization exists");
}

#[tokio::test]
async fn files_of_others_cannot_be_read() {
    let (world, owner, stranger) = start().await;
    let doc_id = world.app.read_document(&owner.viewer, read_url(&url(&owner))).await.unwrap().document.doc_id;
    for request in [read_id(doc_id), read_url(&url(&owner)), read_url(&url(&owner).to_uppercase())] {
        let error = world.app.read_document(&stranger.viewer, request).await.unwrap_err();
        assert!(matches!(error, Error::DocumentNotFound), "{error:?}");
    }
}

#[tokio::test]
async fn files_of_others_are_not_listed_or_deleted() {
    let (world, owner, stranger) = start().await;
    assert!(world.list_files(&stranger.viewer).await.unwrap().is_empty());
    assert!(!world.app.delete_file(&stranger.viewer, "secret.txt").await.unwrap());
    assert_eq!(world.list_files(&owner.viewer).await.unwrap().len(), 1);
    let found = world.app.search(&owner.viewer, workspace_search(&owner, "tides")).await.unwrap();
    assert_eq!(found.hits.len(), 1);
}

#[tokio::test]
async fn equal_names_are_files_of_their_own() {
    let (world, owner, stranger) = start().await;
    world.upload(&stranger, "secret.txt", "The public walrus.").await;
    world.index_files(&stranger, RunMode::Incremental).await;
    let read = async |tenant: &Tenant| {
        let outcome = world.app.read_document(&tenant.viewer, read_url(&url(tenant))).await.unwrap();
        outcome.content.unwrap().text
    };
    assert!(read(&owner).await.contains("secret tides"));
    assert!(read(&stranger).await.contains("public walrus"));
}

#[tokio::test]
async fn runs_of_others_are_not_found() {
    let (world, owner, stranger) = start().await;
    let run = world.app.start_run(&owner.viewer, RunMode::Incremental).await.unwrap();
    let error = world.app.run_status(&stranger.viewer, &run.sync_id.to_string()).await.unwrap_err();
    assert!(matches!(error, Error::SyncNotFound), "{error:?}");
    world.app.run_status(&owner.viewer, &run.sync_id.to_string()).await.unwrap();
}

#[tokio::test]
async fn feedback_on_searches_and_documents_of_others_is_refused() {
    let (world, owner, stranger) = start().await;
    let outcome = world.app.search(&owner.viewer, workspace_search(&owner, "tides")).await.unwrap();
    let about_search = FeedbackRequest { search_id: Some(outcome.search_id), ..feedback(FeedbackEvent::ResultHelpful) };
    let error = world.app.submit_feedback(&stranger.viewer, about_search.clone()).await.unwrap_err();
    assert!(matches!(error, Error::SearchNotFound), "{error:?}");
    let about_document =
        FeedbackRequest { doc_id: Some(outcome.hits[0].doc_id), ..feedback(FeedbackEvent::StaleResult) };
    let error = world.app.submit_feedback(&stranger.viewer, about_document.clone()).await.unwrap_err();
    assert!(matches!(error, Error::DocumentNotFound), "{error:?}");
    for request in [about_search, about_document] {
        world.app.submit_feedback(&owner.viewer, request).await.unwrap();
    }
}

#[tokio::test]
async fn a_grant_of_a_web_page_is_one_organizations_own() {
    let (world, owner, stranger) = start().await;
    let doc_id = world.import_one(page("https://example.com/", "The tides.")).await;
    world.app.search(&owner.viewer, search("tides")).await.unwrap();
    world.app.read_document(&owner.viewer, read_id(doc_id)).await.unwrap();
    let error = world.app.read_document(&stranger.viewer, read_id(doc_id)).await.unwrap_err();
    assert!(matches!(error, Error::DocumentNotFound), "{error:?}");
}

/// Two organizations, and the operator's site.
async fn two_readers() -> (TestApp, Tenant, Tenant, Site) {
    let world = TestApp::start().await;
    let (one, other) = (world.tenant().await, world.tenant().await);
    (world, one, other, Site::start())
}

async fn read(world: &TestApp, tenant: &Tenant, request: ReadRequest) -> ReadOutcome {
    world.app.read_document(&tenant.viewer, request).await.unwrap()
}

fn metadata(url: &str) -> ReadRequest {
    let include = Include { metadata: true, passages: false, capture_history: false, content: false };
    ReadRequest { include, ..read_url(url) }
}

fn text(outcome: &ReadOutcome) -> &str {
    &outcome.content.as_ref().unwrap_or_else(|| panic!("{outcome:?}")).text
}

#[tokio::test]
async fn reads_of_others_leave_no_trace() {
    let (world, reader, stranger, site) = two_readers().await;
    let (secret, unread) = (site.put("/secret", Page::html("<p>The tides.</p>")), site.url("/unread"));
    read(&world, &reader, read_url(&secret)).await;
    world.clock.advance(Duration::from_secs(60));
    let before = world.clock.now();
    let [seen, unknown] =
        [read(&world, &stranger, metadata(&secret)).await, read(&world, &stranger, metadata(&unread)).await];
    for outcome in [&seen, &unknown] {
        let document = &outcome.document;
        assert!(document.first_seen_at >= to_date_time(before) && document.first_seen_at == document.last_seen_at);
        assert_eq!((&document.title, &document.content_digest, document.latest_capture_id), (&None, &None, None));
        assert!(outcome.capture.is_none() && document.headings.is_empty());
    }
    assert_eq!(site.hits("/secret"), 1, "metadata alone fetches nothing");
    assert!(text(&read(&world, &stranger, read_url(&secret)).await).contains("tides"));
    assert_eq!(site.hits("/secret"), 2, "each organization fetches for itself");
}

#[tokio::test]
async fn readers_at_the_same_time_share_the_request_and_nothing_else() {
    let (world, one, other, site) = two_readers().await;
    let url = site.put("/a", Page::html("<p>The tides.</p>"));
    site.hold();
    let reading = [&one, &other].map(|tenant| {
        let (app, viewer, request) = (Arc::clone(&world.app), tenant.viewer.clone(), read_url(&url));
        tokio::spawn(async move { app.read_document(&viewer, request).await.unwrap() })
    });
    let doc_id = CanonicalUrl::parse(&url).unwrap().doc_id();
    until("both readings", async || {
        let known =
            async |tenant: &Tenant| world.store.find_page_read(tenant.organization_id, doc_id).await.unwrap().is_some();
        (known(&one).await && known(&other).await && site.hits("/a") > 0).then_some(())
    })
    .await;
    site.release();
    let [one, other] = reading.map(|reading| async { reading.await.unwrap() });
    let (one, other) = (one.await, other.await);
    assert!(text(&one).contains("tides") && text(&other).contains("tides"));
    assert_ne!(one.document.latest_capture_id, other.document.latest_capture_id);
}

#[tokio::test]
async fn failures_of_others_are_not_remembered() {
    let (world, reader, stranger, site) = two_readers().await;
    let url = site.put("/a", Page::status(500));
    read(&world, &reader, read_url(&url)).await;
    site.put("/a", Page::html("<p>The tides.</p>"));
    assert!(text(&read(&world, &stranger, read_url(&url)).await).contains("tides"));
}

#[tokio::test]
async fn metadata_of_an_unknown_page_holds_for_the_next_call() {
    let (world, reader, stranger, site) = two_readers().await;
    let url = format!("{}?utm_source=mail", site.put("/a", Page::html("<p>The tides.</p>")));
    let first = read(&world, &reader, metadata(&url)).await.document;
    assert_eq!(first.source_url, url);
    world.clock.advance(Duration::from_secs(60));
    let again = read(&world, &reader, metadata(&url)).await.document;
    assert_eq!((again.first_seen_at, again.last_seen_at), (first.first_seen_at, first.last_seen_at));
    let by_id = read(&world, &reader, read_id(first.doc_id)).await;
    assert!(text(&by_id).contains("tides"));
    assert_eq!((by_id.document.first_seen_at, by_id.document.source_url), (first.first_seen_at, url));
    assert!(by_id.document.last_seen_at > first.last_seen_at);
    let refused = world.app.read_document(&stranger.viewer, read_id(first.doc_id)).await.unwrap_err();
    assert!(matches!(refused, Error::DocumentNotFound), "{refused:?}");
}

#[tokio::test]
async fn unreadable_page_keeps_its_id_and_its_times() {
    let (world, reader, _, site) = two_readers().await;
    let url = site.url("/missing");
    let first = read(&world, &reader, read_url(&url)).await.document;
    world.clock.advance(Duration::from_secs(60));
    let by_id = read(&world, &reader, read_id(first.doc_id)).await.document;
    assert_eq!((by_id.first_seen_at, by_id.last_seen_at), (first.first_seen_at, first.last_seen_at));
}

#[tokio::test]
async fn read_never_changes_a_listed_page() {
    let (world, attacker, other, site) = two_readers().await;
    let url = site.put("/page", Page::status(404));
    site.put("/page?utm_source=x", Page::html("<p>The attacker's zephyrs.</p>"));
    let doc_id = world.import_one(page(&url, "The operator's tides.")).await;
    let found = async |query| {
        world.feeder.drain_all().await.unwrap();
        let hits = world.app.search(&other.viewer, search(query)).await.unwrap().hits;
        hits.into_iter().map(|hit| (hit.doc_id, hit.snippet)).collect::<Vec<_>>()
    };
    let given = format!("{url}?utm_source=x");
    read(&world, &attacker, read_url(&given)).await;
    let stale = FeedbackRequest { doc_id: Some(doc_id), ..feedback(FeedbackEvent::StaleResult) };
    world.app.submit_feedback(&attacker.viewer, stale).await.unwrap();
    assert!(text(&read(&world, &attacker, read_url(&given)).await).contains("zephyrs"), "its own view");
    world.clock.advance(Duration::from_hours(25));
    assert!(text(&read(&world, &attacker, read_url(&given)).await).contains("zephyrs"));

    assert_eq!(found("zephyrs").await, []);
    assert_eq!(found("tides").await, [(doc_id, "The operator's tides.".to_owned())]);
    let seen = read(&world, &other, read_id(doc_id)).await;
    assert_eq!(text(&seen), "The operator's tides.");
    assert!(matches!(seen.warnings[..], [ReadWarning::StaleContent { .. }]), "{:?}", seen.warnings);
}

#[tokio::test]
async fn import_of_a_page_that_others_read_is_new() {
    let (world, reader, stranger, site) = two_readers().await;
    let url = site.put("/a", Page::html("<p>The tides.</p>"));
    let read_at = read(&world, &reader, read_url(&url)).await.document.first_seen_at;
    world.clock.advance(Duration::from_secs(60));
    let imported_at = to_date_time(world.clock.now());
    let doc_id = world.import_one(page(&url, "The operator's tides.")).await;
    let hit = world.app.search(&stranger.viewer, search("tides")).await.unwrap().hits.remove(0);
    assert!(hit.doc_id == doc_id && to_date_time(hit.first_seen_at) >= imported_at && hit.last_crawled_at.is_none());
    let seen = read(&world, &stranger, read_id(doc_id)).await.document;
    assert!(seen.first_seen_at >= imported_at);
    let own = read(&world, &reader, read_url(&url)).await;
    assert_eq!((own.document.first_seen_at, text(&own)), (read_at, "The operator's tides."));
}

#[tokio::test]
async fn usage_of_others_is_not_counted() {
    let (world, owner, stranger) = start().await;
    let now = OffsetDateTime::now_utc();
    world.app.record_usage(UsageEvent {
        organization_id: owner.organization_id,
        identity: owner.viewer.identity.clone(),
        route: "POST /v1/search",
        status: 200,
        duration: Duration::from_millis(1),
        at: now,
        is_refused: false,
    });
    world.app.close().await;
    let window = Window::resolve(None, None, Interval::Day, now + time::Duration::SECOND).unwrap();
    for (tenant, requests) in [(&owner, 1), (&stranger, 0)] {
        let request = UsageRequest { window, api_key_ids: Vec::new(), group_by: GroupBy::None };
        let overview = world.app.usage_overview(&tenant.viewer, request).await.unwrap();
        assert_eq!(overview.headline.requests, requests);
        let keys: Vec<_> = overview.keys.iter().map(|key| key.api_key_id).collect();
        assert_eq!(keys, [tenant.key_id], "the keys are its own");
    }
    let foreign = UsageRequest { window, api_key_ids: vec![owner.key_id], group_by: GroupBy::None };
    let overview = world.app.usage_overview(&stranger.viewer, foreign).await.unwrap();
    assert_eq!((overview.headline.requests, overview.keys.len()), (0, 0));
}

#[tokio::test]
async fn a_balance_is_one_organizations_own() {
    let world = TestApp::start().await;
    let (rich, poor) = (world.billed_tenant(10).await, world.billed_tenant(0).await);
    let error = world.app.search(&poor.viewer, search("tides")).await.unwrap_err();
    assert!(matches!(error, Error::InsufficientBalance), "{error:?}");
    let outcome = world.app.search(&rich.viewer, search("tides")).await.unwrap();
    // A charge that is dropped refunds itself.
    outcome.charge.unwrap().keep();
    assert_eq!((world.balance(&rich).await, world.balance(&poor).await), (9, 0));
}

#[tokio::test]
async fn an_unknown_organization_has_no_keys() {
    let (world, owner, _) = start().await;
    let keys = app::accounts::list_keys(&world.store, owner.organization_id).await.unwrap();
    assert_eq!(keys.len(), 1);
    assert_eq!(refused_field(app::accounts::list_keys(&world.store, OrganizationId(Uuid::from_u128(1))).await), "org");
}
