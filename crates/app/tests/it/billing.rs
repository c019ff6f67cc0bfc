use std::sync::Arc;

use app::search::SearchRequest;
use app::{App, Error, Viewer};
use diesel::connection::SimpleConnection;
use engine::EngineErrorKind;
use model::{BalanceReason, IndexName, OrganizationId};
use test_support::{EngineFault, Setup, Tenant, TestApp, search, until};
use uuid::Uuid;

use crate::sqlite::connect;

const PRICE: u32 = 3;

fn setup() -> Setup {
    let mut setup = Setup::default();
    setup.options.search_cents = PRICE;
    setup
}

async fn start(prepaid_cents: u64) -> (TestApp, Tenant) {
    let world = TestApp::with(setup()).await;
    let tenant = world.billed_tenant(prepaid_cents).await;
    (world, tenant)
}

/// Searches and uses the answer.
async fn answered(app: &App, viewer: &Viewer) -> Result<(), Error> {
    app.search(viewer, search("tides")).await?.charge.unwrap().keep();
    Ok(())
}

#[tokio::test]
async fn a_search_debits_its_price_once() {
    let (world, tenant) = start(10).await;
    answered(&world.app, &tenant.viewer).await.unwrap();
    assert_eq!(world.balance(&tenant).await, 7);
    assert_eq!(world.ledger(&tenant).await, [(BalanceReason::Prepaid, 10), (BalanceReason::Search, -3)]);
}

#[tokio::test]
async fn an_organization_that_is_not_billed_pays_nothing() {
    let world = TestApp::with(setup()).await;
    let tenant = world.tenant().await;
    world.app.search(&tenant.viewer, search("tides")).await.unwrap();
    assert_eq!(world.ledger(&tenant).await, []);
}

#[tokio::test]
async fn a_failure_of_the_service_is_refunded() {
    let (world, tenant) = start(10).await;
    for kind in [EngineErrorKind::Unavailable, EngineErrorKind::Rejected] {
        world.engine.fail(EngineFault::Error(kind));
        world.app.search(&tenant.viewer, search("tides")).await.unwrap_err();
        assert_eq!(world.balance(&tenant).await, 10, "{kind:?}");
    }
    let expected = [
        (BalanceReason::Prepaid, 10),
        (BalanceReason::Search, -3),
        (BalanceReason::Refund, 3),
        (BalanceReason::Search, -3),
        (BalanceReason::Refund, 3),
    ];
    assert_eq!(world.ledger(&tenant).await, expected);
}

#[tokio::test]
async fn a_refund_is_repeated_until_it_can_be_stored() {
    let (world, tenant) = start(10).await;
    let mut connection = connect(&world);
    let refuse = "CREATE TRIGGER full BEFORE INSERT ON balance_entries WHEN NEW.cents > 0
        BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END";
    connection.batch_execute(refuse).unwrap();
    world.engine.fail(EngineFault::Error(EngineErrorKind::Unavailable));
    world.app.search(&tenant.viewer, search("tides")).await.unwrap_err();
    assert_eq!(world.balance(&tenant).await, 7);
    connection.batch_execute("DROP TRIGGER full").unwrap();
    until("the refund", async || (world.balance(&tenant).await == 10).then_some(())).await;
}

#[tokio::test]
async fn an_unused_answer_is_refunded() {
    let (world, tenant) = start(10).await;
    drop(world.app.search(&tenant.viewer, search("tides")).await.unwrap());
    until("the refund", async || (world.balance(&tenant).await == 10).then_some(())).await;
}

#[tokio::test]
async fn an_abandoned_search_is_refunded() {
    let (world, tenant) = start(10).await;
    world.engine.hold();
    let (app, viewer) = (Arc::clone(&world.app), tenant.viewer.clone());
    let searching = tokio::spawn(async move { app.search(&viewer, search("tides")).await });
    world.engine.reached(1).await;
    assert_eq!(world.balance(&tenant).await, 7);
    searching.abort();
    until("the refund", async || (world.balance(&tenant).await == 10).then_some(())).await;
}

#[tokio::test]
async fn an_invalid_search_costs_nothing() {
    let (world, tenant) = start(10).await;
    for indexes in [vec![IndexName::Workspace], vec![IndexName::Web], IndexName::ALL.to_vec()] {
        let workspace_id = Some(OrganizationId(Uuid::from_u128(1)));
        let foreign = SearchRequest { indexes, workspace_id, ..search("tides") };
        let error = world.app.search(&tenant.viewer, foreign).await.unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{error:?}");
    }
    assert_eq!(world.ledger(&tenant).await, [(BalanceReason::Prepaid, 10)]);
}

#[tokio::test]
async fn a_balance_below_the_price_refuses_the_search() {
    let (world, tenant) = start(u64::from(PRICE) + 2).await;
    answered(&world.app, &tenant.viewer).await.unwrap();
    let error = answered(&world.app, &tenant.viewer).await.unwrap_err();
    assert!(matches!(error, Error::InsufficientBalance), "{error:?}");
    assert_eq!(world.balance(&tenant).await, 2);
    assert_eq!(world.engine.requests().len(), 1, "the refused search did not reach the engine");
}

/// A search of an organization with an ample balance begins before its charge is stored, and is not answered without it.
#[tokio::test]
async fn an_ample_balance_is_charged_while_the_search_runs() {
    let (world, tenant) = start(2_000 * u64::from(PRICE)).await;
    answered(&world.app, &tenant.viewer).await.unwrap();
    let before = world.balance(&tenant).await;
    let mut writer = connect(&world);
    writer.batch_execute("BEGIN IMMEDIATE").unwrap();
    world.engine.hold();
    let (app, viewer) = (Arc::clone(&world.app), tenant.viewer.clone());
    let searching = tokio::spawn(async move { answered(&app, &viewer).await });
    world.engine.reached(2).await;
    world.engine.release();
    assert_eq!(world.balance(&tenant).await, before);
    assert!(!searching.is_finished());
    writer.batch_execute("ROLLBACK").unwrap();
    searching.await.unwrap().unwrap();
    assert_eq!(world.balance(&tenant).await, before - i64::from(PRICE));
}

#[tokio::test]
async fn concurrent_searches_spend_exactly_the_balance() {
    let (world, tenant) = start(4 * u64::from(PRICE) + 1).await;
    let searches = (0..10).map(|_| {
        let (app, viewer) = (Arc::clone(&world.app), tenant.viewer.clone());
        tokio::spawn(async move { answered(&app, &viewer).await.is_ok() })
    });
    let mut answered = 0;
    for task in searches.collect::<Vec<_>>() {
        answered += usize::from(task.await.unwrap());
    }
    assert_eq!((answered, world.balance(&tenant).await), (4, 1));
}

#[tokio::test]
async fn lost_searches_are_refunded_once() {
    let (world, tenant) = start(100).await;
    world.lose_search(&tenant, PRICE, 11).await;
    world.answer_search(&tenant, PRICE, 11).await;
    // This one may still be answered.
    world.lose_search(&tenant, PRICE, 1).await;
    assert_eq!(world.balance(&tenant).await, 91);
    // Every instance looks for lost searches when it starts.
    let second = TestApp::on(Arc::clone(&world.database), setup());
    until("the refund", async || (second.balance(&tenant).await == 94).then_some(())).await;
    world.lose_search(&tenant, PRICE, 11).await;
    let third = TestApp::on(Arc::clone(&world.database), setup());
    let refunds = until("the refund of the next lost search", async || {
        let refunds = third.ledger(&tenant).await.iter().filter(|(reason, _)| *reason == BalanceReason::Refund).count();
        (refunds > 1).then_some(refunds)
    })
    .await;
    assert_eq!((refunds, third.balance(&tenant).await), (2, 94));
}
