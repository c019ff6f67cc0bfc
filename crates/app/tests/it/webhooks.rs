use docstore::AuditFilter;
use model::{AuditAction, Clock, RunMode, WebhookEvent};
use test_support::TestApp;

#[tokio::test]
async fn changes_are_audited_without_secrets() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let events = vec![WebhookEvent::RunCompleted];
    let url = "https://example.com/in".to_owned();
    let created = world.app.create_webhook(&tenant.viewer, url, events).await.unwrap();
    let id = created.webhook.webhook_id;
    let rotated = world.app.rotate_webhook_secret(&tenant.viewer, &id.to_string()).await.unwrap();
    world.app.delete_webhook(&tenant.viewer, &id.to_string()).await.unwrap();
    let entries = world.store.list_audit_entries(AuditFilter::default(), None, 3).await.unwrap();
    let mut actions: Vec<_> = entries.iter().map(|entry| entry.action).collect();
    actions.sort_unstable();
    assert_eq!(actions, [AuditAction::WebhookCreated, AuditAction::WebhookSecretRotated, AuditAction::WebhookDeleted]);
    for entry in entries {
        assert_eq!(entry.actor, format!("api:key:{}", tenant.key_id));
        assert_eq!((entry.organization_id, entry.subject_id), (Some(tenant.organization_id), Some(id.0)));
        let shown = format!("{entry:?}");
        assert!(!shown.contains(&created.secret) && !shown.contains(&rotated.secret), "{shown}");
    }
}

#[tokio::test]
async fn end_of_an_indexing_run_is_an_event_of_its_organization() {
    let world = TestApp::start().await;
    let (tenant, other) = (world.tenant().await, world.tenant().await);
    for tenant in [&tenant, &other] {
        let url = "https://example.com/in".to_owned();
        world.app.create_webhook(&tenant.viewer, url, vec![WebhookEvent::RunCompleted]).await.unwrap();
    }
    let run = world.app.start_run(&tenant.viewer, RunMode::Full).await.unwrap();
    world.finish_run(&tenant, run.sync_id).await;
    let now = world.clock.now();
    let claimed = world.store.claim_deliveries("worker".to_owned(), now, now, 10, 10).await.unwrap();
    let [claimed] = &claimed[..] else { panic!("one delivery: {claimed:?}") };
    assert_eq!(claimed.delivery.organization_id, tenant.organization_id);
    assert!(claimed.delivery.payload.contains(&run.sync_id.to_string()), "{}", claimed.delivery.payload);
}
