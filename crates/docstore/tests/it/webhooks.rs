//! Webhooks and the queue of their deliveries.

use docstore::{AfterFailure, AuditFilter, ClaimedDelivery, IndexRun, Webhook, WebhookDelivery};
use model::{DeliveryId, OrganizationId, RunMode, RunState};
use uuid::Uuid;

use crate::support::{
    Database, NOW, Place, at, audit_entry, connect, new_delivery, new_organization, new_webhook, run_event,
    until_a_query_waits, until_queries_wait,
};

on_both_backends!(
    webhooks_are_limited_and_isolated,
    rotation_keeps_one_previous_secret,
    end_of_a_run_enqueues_its_event,
    lost_run_enqueues_nothing,
    claims_are_exclusive_until_expiry,
    organizations_share_claims,
    concurrent_claims_are_exclusive,
    concurrent_claims_share_an_organization,
    failures_in_a_row_postpone_deliveries_of_the_same_webhook,
    success_makes_postponed_deliveries_due,
    success_ends_a_period_of_failures,
    disabled_webhook_loses_its_deliveries,
    delivery_to_a_single_address_has_no_webhook,
    organization_that_waits_longest_is_served_first,
    backlog_of_an_organization_hides_no_other,
    delivery_is_due_while_nobody_attempts_it,
    delivery_from_before_the_clock_was_set_back_is_due,
    leased_deliveries_are_found_by_an_index,
    webhook_that_is_deleted_meanwhile_does_not_fail_the_run,
);

const EVENTS: &[&str] = &["run.completed", "run.failed"];

/// Ends a run of the organization and returns it.
async fn ended_run(db: &Database, organization_id: OrganizationId, error: Option<&str>) -> IndexRun {
    let run = IndexRun::queued(Uuid::new_v4().into(), organization_id, RunMode::Full, NOW);
    db.request_run(run).await.unwrap();
    let run = db.claim_run("runner".to_owned(), NOW, at(1_000)).await.unwrap().unwrap();
    assert_eq!(run.organization_id, organization_id);
    let error = error.map(str::to_owned);
    assert!(db.finish_run(run.sync_id, "runner".to_owned(), error, NOW, run_event).await.unwrap());
    run
}

async fn claim(db: &Database, owner: &str, now: i64, limit: i64, share: i64) -> Vec<ClaimedDelivery> {
    db.claim_deliveries(owner.to_owned(), at(now), at(now + 10), limit, share).await.unwrap()
}

async fn fail(db: &Database, claimed: &ClaimedDelivery, owner: &str, after: AfterFailure) -> bool {
    let WebhookDelivery { delivery_id, webhook_id, .. } = claimed.delivery;
    let error = "status 500".to_owned();
    db.fail_delivery(delivery_id, webhook_id, owner.to_owned(), error, after, at(1)).await.unwrap()
}

async fn only(db: &Database, organization_id: OrganizationId) -> Webhook {
    let webhooks = db.list_webhooks(organization_id).await.unwrap();
    let [webhook] = &webhooks[..] else { panic!("one webhook: {webhooks:?}") };
    webhook.clone()
}

async fn webhooks_are_limited_and_isolated(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    let first = new_webhook(&db, ours, EVENTS).await;
    let second = Webhook { webhook_id: Uuid::new_v4().into(), created_at: at(1), ..first.clone() };
    assert!(db.create_webhook(second.clone(), 2, audit_entry()).await.unwrap());
    let third = Webhook { webhook_id: Uuid::new_v4().into(), ..first.clone() };
    let before = db.list_audit_entries(AuditFilter::default(), None, 100).await.unwrap().len();
    assert!(!db.create_webhook(third, 2, audit_entry()).await.unwrap());
    let ids: Vec<_> = db.list_webhooks(ours).await.unwrap().into_iter().map(|webhook| webhook.webhook_id).collect();
    assert_eq!(ids, [first.webhook_id, second.webhook_id]);
    assert!(db.list_webhooks(theirs).await.unwrap().is_empty());
    assert!(!db.delete_webhook(theirs, first.webhook_id, audit_entry()).await.unwrap());
    let rotated = db.rotate_webhook_secret(theirs, first.webhook_id, String::new(), NOW, audit_entry()).await.unwrap();
    assert!(rotated.is_none());
    assert_eq!(db.list_audit_entries(AuditFilter::default(), None, 100).await.unwrap().len(), before);
    assert!(db.delete_webhook(ours, first.webhook_id, audit_entry()).await.unwrap());
    assert_eq!(only(&db, ours).await.webhook_id, second.webhook_id);
}

async fn rotation_keeps_one_previous_secret(db: Database) {
    let organization_id = new_organization(&db).await;
    let first = new_webhook(&db, organization_id, EVENTS).await;
    for (secret, expires) in [("second", 5), ("third", 6)] {
        let rotate =
            db.rotate_webhook_secret(organization_id, first.webhook_id, secret.to_owned(), at(expires), audit_entry());
        let webhook = rotate.await.unwrap().unwrap();
        let stored = only(&db, organization_id).await;
        assert_eq!((&stored.secret, &stored.previous_secret), (&webhook.secret, &webhook.previous_secret));
        assert_eq!((stored.secret.as_str(), stored.previous_secret_expires_at), (secret, Some(at(expires))));
    }
    let shown = format!("{:?}", only(&db, organization_id).await);
    assert!(!shown.contains("third") && !shown.contains("second"), "{shown}");
}

async fn end_of_a_run_enqueues_its_event(db: Database) {
    let (ours, theirs) = (new_organization(&db).await, new_organization(&db).await);
    new_webhook(&db, theirs, EVENTS).await;
    let all = new_webhook(&db, ours, EVENTS).await;
    let failures = new_webhook(&db, ours, &["run.failed", "moon.landed"]).await;
    ended_run(&db, ours, None).await;
    let claimed = claim(&db, "a", 0, 10, 10).await;
    let [completed] = &claimed[..] else { panic!("one delivery: {claimed:?}") };
    assert_eq!(completed.delivery.webhook_id, Some(all.webhook_id));
    assert_eq!(completed.webhook.as_ref().unwrap().secret, all.secret);
    assert_eq!(completed.delivery.event_type, "run.completed");
    assert_eq!(completed.delivery.payload, format!("state {}", RunState::Completed));
    ended_run(&db, ours, Some("no storage")).await;
    let mut targets: Vec<_> =
        claim(&db, "a", 0, 10, 10).await.into_iter().map(|claimed| claimed.delivery.webhook_id.unwrap()).collect();
    targets.sort_unstable();
    let mut expected = [all.webhook_id, failures.webhook_id];
    expected.sort_unstable();
    assert_eq!(targets, expected);
}

async fn lost_run_enqueues_nothing(db: Database) {
    let organization_id = new_organization(&db).await;
    new_webhook(&db, organization_id, EVENTS).await;
    let run = ended_run(&db, organization_id, None).await;
    assert!(!db.finish_run(run.sync_id, "runner".to_owned(), None, NOW, run_event).await.unwrap());
    assert_eq!(db.count("webhook_deliveries").await, 1);
}

async fn claims_are_exclusive_until_expiry(db: Database) {
    let organization_id = new_organization(&db).await;
    new_webhook(&db, organization_id, EVENTS).await;
    ended_run(&db, organization_id, None).await;
    let claimed = claim(&db, "a", 0, 10, 10).await;
    assert_eq!(claimed.len(), 1);
    assert!(claim(&db, "b", 9, 10, 10).await.is_empty());
    assert_eq!(claim(&db, "b", 10, 10, 10).await.len(), 1);
    let WebhookDelivery { delivery_id, webhook_id, .. } = claimed[0].delivery;
    assert!(!fail(&db, &claimed[0], "a", AfterFailure::GiveUp).await);
    assert!(!db.complete_delivery(delivery_id, webhook_id, "a".to_owned(), at(3)).await.unwrap());
    db.release_deliveries("b".to_owned()).await.unwrap();
    assert_eq!(claim(&db, "a", 11, 10, 10).await[0].delivery.attempts, 0);
    assert!(db.complete_delivery(delivery_id, webhook_id, "a".to_owned(), at(3)).await.unwrap());
    assert_eq!(db.count("webhook_deliveries").await, 0);
}

async fn organizations_share_claims(db: Database) {
    let (busy, other) = (new_organization(&db).await, new_organization(&db).await);
    for organization_id in [busy, other] {
        new_webhook(&db, organization_id, EVENTS).await;
    }
    for _ in 0..5 {
        ended_run(&db, busy, None).await;
    }
    ended_run(&db, other, None).await;
    let of = |claimed: &[ClaimedDelivery], id| {
        claimed.iter().filter(|claimed| claimed.delivery.organization_id == id).count()
    };
    let first = claim(&db, "a", 0, 10, 2).await;
    assert_eq!((of(&first, busy), of(&first, other)), (2, 1));
    assert!(claim(&db, "b", 1, 10, 2).await.is_empty(), "the share is that of all workers");
    let done = first.iter().find(|claimed| claimed.delivery.organization_id == busy).unwrap();
    fail(&db, done, "a", AfterFailure::GiveUp).await;
    assert_eq!(claim(&db, "b", 1, 10, 2).await.len(), 1);
    assert_eq!(claim(&db, "b", 20, 2, 3).await.len(), 2);
}

async fn concurrent_claims_are_exclusive(db: Database) {
    let organization_id = new_organization(&db).await;
    new_webhook(&db, organization_id, EVENTS).await;
    for _ in 0..10 {
        ended_run(&db, organization_id, None).await;
    }
    let claims: Vec<_> = (0..4)
        .map(|n| {
            let store = db.store.clone();
            tokio::spawn(async move { store.claim_deliveries(format!("w{n}"), NOW, at(10), 10, 100).await.unwrap() })
        })
        .collect();
    let mut ids: Vec<DeliveryId> = Vec::new();
    for claim in claims {
        ids.extend(claim.await.unwrap().iter().map(|claimed| claimed.delivery.delivery_id));
    }
    assert_eq!(ids.len(), 10);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 10);
}

async fn concurrent_claims_share_an_organization(db: Database) {
    let Place::Postgres(url) = &db.place else { return };
    let organization_id = new_organization(&db).await;
    for _ in 0..8 {
        db.enqueue_delivery(new_delivery(organization_id, None)).await.unwrap();
    }
    let (other, observer) = (connect(url).await, connect(url).await);
    // A claim reads the webhooks last, so it waits with leases that are not committed.
    other.batch_execute("BEGIN; LOCK TABLE webhooks").await.unwrap();
    let start = |owner: &str| {
        let (store, owner) = (db.another_store(), owner.to_owned());
        tokio::spawn(async move { store.claim_deliveries(owner, NOW, at(10), 10, 4).await.unwrap().len() })
    };
    let first = start("a");
    until_queries_wait(&observer, 1).await;
    let second = start("b");
    until_queries_wait(&observer, 2).await;
    other.batch_execute("COMMIT").await.unwrap();
    assert_eq!((first.await.unwrap(), second.await.unwrap()), (4, 0));
}

/// Fails this number of deliveries, one after the other. They are due again at 100.
async fn fail_in_a_row(db: &Database, count: usize) {
    for _ in 0..count {
        let claimed = claim(db, "a", 2, 1, 10).await;
        assert!(fail(db, &claimed[0], "a", AfterFailure::Retry(at(100))).await);
    }
}

/// Claims all due deliveries and returns their numbers of attempts, sorted.
async fn attempts_of_due(db: &Database, now: i64) -> Vec<i32> {
    let claimed = claim(db, "a", now, 10, 10).await;
    let mut attempts: Vec<i32> = claimed.iter().map(|claimed| claimed.delivery.attempts).collect();
    attempts.sort_unstable();
    attempts
}

async fn failures_in_a_row_postpone_deliveries_of_the_same_webhook(db: Database) {
    let organization_id = new_organization(&db).await;
    let webhook = new_webhook(&db, organization_id, EVENTS).await;
    for _ in 0..4 {
        ended_run(&db, organization_id, None).await;
    }
    fail_in_a_row(&db, 2).await;
    assert!(claim(&db, "a", 99, 10, 10).await.is_empty());
    assert_eq!(attempts_of_due(&db, 100).await, [0, 0, 1, 1]);
    let failing = only(&db, organization_id).await;
    assert_eq!((failing.webhook_id, failing.failing_since), (webhook.webhook_id, Some(at(1))));
    assert_eq!(failing.last_error.as_deref(), Some("status 500"));
}

async fn success_makes_postponed_deliveries_due(db: Database) {
    let organization_id = new_organization(&db).await;
    new_webhook(&db, organization_id, EVENTS).await;
    for _ in 0..4 {
        ended_run(&db, organization_id, None).await;
    }
    fail_in_a_row(&db, 2).await;
    ended_run(&db, organization_id, None).await;
    let claimed = claim(&db, "a", 2, 10, 10).await;
    let [newer] = &claimed[..] else { panic!("only the new one is due: {claimed:?}") };
    let WebhookDelivery { delivery_id, webhook_id, .. } = newer.delivery;
    assert!(db.complete_delivery(delivery_id, webhook_id, "a".to_owned(), at(2)).await.unwrap());
    assert_eq!(attempts_of_due(&db, 2).await, [0, 0]);
    db.release_deliveries("a".to_owned()).await.unwrap();
    fail_in_a_row(&db, 1).await;
    assert_eq!(attempts_of_due(&db, 2).await, [0], "one failure after a success postpones nothing");
}

async fn success_ends_a_period_of_failures(db: Database) {
    let organization_id = new_organization(&db).await;
    new_webhook(&db, organization_id, EVENTS).await;
    ended_run(&db, organization_id, None).await;
    let claimed = claim(&db, "a", 0, 1, 10).await;
    fail(&db, &claimed[0], "a", AfterFailure::Retry(at(2))).await;
    let claimed = claim(&db, "a", 2, 1, 10).await;
    let WebhookDelivery { delivery_id, webhook_id, .. } = claimed[0].delivery;
    assert!(db.complete_delivery(delivery_id, webhook_id, "a".to_owned(), at(3)).await.unwrap());
    let webhook = only(&db, organization_id).await;
    assert_eq!((webhook.failing_since, webhook.last_error), (None, None));
}

async fn disabled_webhook_loses_its_deliveries(db: Database) {
    let organization_id = new_organization(&db).await;
    new_webhook(&db, organization_id, EVENTS).await;
    for _ in 0..2 {
        ended_run(&db, organization_id, None).await;
    }
    let claimed = claim(&db, "a", 0, 1, 10).await;
    assert!(fail(&db, &claimed[0], "a", AfterFailure::Disable("gone".to_owned())).await);
    let webhook = only(&db, organization_id).await;
    assert_eq!((webhook.disabled_at, webhook.disabled_reason.as_deref()), (Some(at(1)), Some("gone")));
    ended_run(&db, organization_id, None).await;
    assert_eq!(db.count("webhook_deliveries").await, 0);
}

async fn delivery_to_a_single_address_has_no_webhook(db: Database) {
    let organization_id = new_organization(&db).await;
    let delivery = WebhookDelivery {
        url: Some("https://example.com/once".to_owned()),
        secret: Some("whsec_b25jZQ==".to_owned()),
        event_type: "research.completed".to_owned(),
        payload: "{}".to_owned(),
        ..new_delivery(organization_id, None)
    };
    for _ in 0..2 {
        db.enqueue_delivery(delivery.clone()).await.unwrap();
    }
    let claimed = claim(&db, "a", 0, 10, 10).await;
    let [single] = &claimed[..] else { panic!("one delivery: {claimed:?}") };
    assert!(single.webhook.is_none());
    assert_eq!(single.delivery.url.as_deref(), Some("https://example.com/once"));
    assert!(!format!("{single:?}").contains("b25jZQ"), "{single:?}");
    assert!(fail(&db, single, "a", AfterFailure::GiveUp).await);
    assert_eq!(db.count("webhook_deliveries").await, 0);
}

async fn organization_that_waits_longest_is_served_first(db: Database) {
    let mut organizations = Vec::new();
    // The last one waits longest, and the first one has nothing but postponed deliveries.
    for next_attempt_at in [at(5), at(-1), at(-3), at(-7)] {
        let organization_id = new_organization(&db).await;
        for _ in 0..2 {
            let delivery = WebhookDelivery { next_attempt_at, ..new_delivery(organization_id, None) };
            db.enqueue_delivery(delivery).await.unwrap();
        }
        organizations.push(organization_id);
    }
    let mut served = Vec::new();
    loop {
        let claimed = claim(&db, "a", 0, 1, 2).await;
        let Some(first) = claimed.first() else { break };
        served.push(first.delivery.organization_id);
    }
    let expected: Vec<OrganizationId> = organizations[1..].iter().rev().flat_map(|id| [*id, *id]).collect();
    assert_eq!(served, expected);
}

/// Doubles the number of deliveries this many times.
async fn double_deliveries(db: &Database, times: usize) {
    let new_id = if db.is_sqlite() { "randomblob(16)" } else { "gen_random_uuid()" };
    for _ in 0..times {
        db.execute(&format!(
            "INSERT INTO webhook_deliveries
                 (delivery_id, organization_id, event_type, payload, attempts, next_attempt_at, created_at)
             SELECT {new_id}, organization_id, event_type, payload, attempts, next_attempt_at, created_at
             FROM webhook_deliveries"
        ))
        .await;
    }
}

/// The backlog is longer than the list of the oldest deliveries.
async fn backlog_of_an_organization_hides_no_other(db: Database) {
    let busy = new_organization(&db).await;
    let overdue = WebhookDelivery { next_attempt_at: at(-9), ..new_delivery(busy, None) };
    db.enqueue_delivery(overdue).await.unwrap();
    double_deliveries(&db, 11).await;
    let mut others = Vec::new();
    for next_attempt_at in [at(-1), at(-5), at(6)] {
        let organization_id = new_organization(&db).await;
        let delivery = WebhookDelivery { next_attempt_at, ..new_delivery(organization_id, None) };
        db.enqueue_delivery(delivery).await.unwrap();
        others.push(organization_id);
    }
    let owners = async |now, limit| {
        let claimed = claim(&db, "a", now, limit, 2).await;
        claimed.iter().map(|claimed| claimed.delivery.organization_id).collect::<Vec<_>>()
    };
    assert_eq!(owners(0, 1).await, [busy]);
    assert_eq!(owners(0, 10).await, [busy, others[1], others[0]]);
    assert_eq!(owners(5, 10).await, []);
    assert_eq!(owners(6, 10).await, [others[2]]);
}

async fn delivery_is_due_while_nobody_attempts_it(db: Database) {
    let has_due = async |now| db.has_due_deliveries(at(now)).await.unwrap();
    assert!(!has_due(0).await);
    let organization_id = new_organization(&db).await;
    db.enqueue_delivery(new_delivery(organization_id, None)).await.unwrap();
    assert_eq!((has_due(-1).await, has_due(0).await), (false, true));
    assert_eq!(claim(&db, "a", 0, 10, 10).await.len(), 1);
    assert_eq!((has_due(9).await, has_due(10).await), (false, true));
}

async fn delivery_from_before_the_clock_was_set_back_is_due(db: Database) {
    let organization_id = new_organization(&db).await;
    let hours = |hours: i64| at(hours * 3_600_000);
    let new = || new_delivery(organization_id, None);
    let leased =
        |hour| WebhookDelivery { lease_owner: Some("a".to_owned()), lease_expires_at: Some(hours(hour)), ..new() };
    let postponed = |hour| WebhookDelivery { next_attempt_at: hours(hour), created_at: hours(hour), ..new() };
    for delivery in [leased(30), leased(34), postponed(30), postponed(34)] {
        db.enqueue_delivery(delivery).await.unwrap();
    }
    assert!(claim(&db, "b", 0, 10, 10).await.is_empty());
    for expected in [2, 0] {
        assert_eq!(db.replan_deliveries(NOW).await.unwrap(), expected);
        assert_eq!(claim(&db, "b", 0, 10, 10).await.len(), expected);
    }
}

async fn leased_deliveries_are_found_by_an_index(db: Database) {
    let organization_id = new_organization(&db).await;
    db.enqueue_delivery(new_delivery(organization_id, None)).await.unwrap();
    double_deliveries(&db, 10).await;
    assert_eq!(db.count("webhook_deliveries").await, 1_024);
    if !db.is_sqlite() {
        // PostgreSQL does by itself, SQLite does not.
        db.execute("ANALYZE").await;
    }
    // As `claim_deliveries` asks.
    let plan = db.plan("SELECT organization_id FROM webhook_deliveries WHERE lease_expires_at > 5").await;
    assert!(plan.contains("webhook_deliveries_leased"), "{plan}");
}

async fn webhook_that_is_deleted_meanwhile_does_not_fail_the_run(db: Database) {
    let Place::Postgres(url) = &db.place else { return };
    let organization_id = new_organization(&db).await;
    new_webhook(&db, organization_id, EVENTS).await;
    db.request_run(IndexRun::queued(Uuid::new_v4().into(), organization_id, RunMode::Full, NOW)).await.unwrap();
    let run = db.claim_run("runner".to_owned(), NOW, at(1_000)).await.unwrap().unwrap();
    let other = connect(url).await;
    other.batch_execute("BEGIN; DELETE FROM webhooks").await.unwrap();
    let (store, sync_id) = (db.store.clone(), run.sync_id);
    let finishing =
        tokio::spawn(async move { store.finish_run(sync_id, "runner".to_owned(), None, NOW, run_event).await });
    until_a_query_waits(&connect(url).await).await;
    other.batch_execute("COMMIT").await.unwrap();
    assert!(finishing.await.unwrap().unwrap());
    let run = db.find_run(organization_id, sync_id).await.unwrap().unwrap();
    assert_eq!((run.state, db.count("webhook_deliveries").await), (RunState::Completed, 0));
}
