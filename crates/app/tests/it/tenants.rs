//! Every use case with the ids of another organization: each answers as if they did not exist.

use app::Error;
use app::feedback::FeedbackRequest;
use app::search::SearchRequest;
use app::usage::{GroupBy, Interval, UsageEvent, UsageRequest, Window};
use model::{FeedbackEvent, IndexName, OrganizationId, RunMode};
use test_support::{Tenant, TestApp, feedback, page, read_id, read_url, search};
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
    assert!(world.app.list_files(&stranger.viewer).await.unwrap().is_empty());
    assert!(!world.app.delete_file(&stranger.viewer, "secret.txt").await.unwrap());
    assert_eq!(world.app.list_files(&owner.viewer).await.unwrap().len(), 1);
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

#[tokio::test]
async fn usage_of_others_is_not_counted() {
    let (world, owner, stranger) = start().await;
    let now = OffsetDateTime::now_utc();
    world.app.record_usage(UsageEvent {
        organization_id: owner.organization_id,
        identity: owner.viewer.identity.clone(),
        route: "POST /v1/search",
        status: 200,
        duration: std::time::Duration::from_millis(1),
        at: now,
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
    world.app.search(&rich.viewer, search("tides")).await.unwrap();
    assert_eq!((world.balance(&rich).await, world.balance(&poor).await), (9, 0));
}

#[tokio::test]
async fn an_unknown_organization_has_no_keys() {
    let (world, owner, _) = start().await;
    let keys = app::accounts::list_keys(&world.store, owner.organization_id).await.unwrap();
    assert_eq!(keys.len(), 1);
    assert_eq!(refused_field(app::accounts::list_keys(&world.store, OrganizationId(Uuid::from_u128(1))).await), "org");
}
