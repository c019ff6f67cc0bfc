use model::{Clock, ResearchStatus, WebhookEvent};
use research::NewWebhook;
use serde_json::Value;
use std::time::Duration;

use super::world::{QUESTION, World, quick};

fn with_webhook(events: &[WebhookEvent]) -> research::NewRun {
    let webhook = NewWebhook { url: "https://hooks.example.com/in".to_owned(), events: events.to_vec() };
    research::NewRun { webhook: Some(webhook), ..quick(QUESTION) }
}

/// Returns the address and the body of every enqueued delivery.
async fn deliveries(world: &World) -> Vec<(Option<String>, Value)> {
    let now = world.app.clock.now();
    let claimed =
        world.app.store.claim_deliveries("test".to_owned(), now, now + Duration::from_secs(1), 100, 100).await.unwrap();
    claimed.into_iter().map(|one| (one.delivery.url, serde_json::from_str(&one.delivery.payload).unwrap())).collect()
}

#[tokio::test]
async fn end_is_announced_to_the_run_and_to_the_organization() {
    let world = World::new().await;
    let all = WebhookEvent::ALL.to_vec();
    world.app.app.create_webhook(&world.tenant.viewer, "https://a.example/".to_owned(), all).await.unwrap();
    let created = world
        .app
        .research
        .create(&world.tenant.viewer, with_webhook(&[WebhookEvent::ResearchCompleted]))
        .await
        .unwrap();
    assert!(created.webhook_secret.unwrap().starts_with("whsec_"));
    assert!(deliveries(&world).await.is_empty());
    let _working = world.app.work_on_research();
    let run = world.ended(created.run.research_id).await;
    assert_eq!(run.status, ResearchStatus::Completed);
    let sent = deliveries(&world).await;
    assert_eq!(sent.len(), 2);
    assert!(sent.iter().any(|(url, _)| url.as_deref() == Some("https://hooks.example.com/in")));
    for (_, body) in sent {
        assert_eq!((&body["type"], &body["data"]["status"]), (&"research.completed".into(), &"completed".into()));
        assert_eq!(body["data"]["research_id"], run.research_id.to_string());
    }
}

#[tokio::test]
async fn only_wanted_events_are_sent() {
    let world = World::new().await;
    for (events, expected) in [
        (&[WebhookEvent::ResearchCompleted, WebhookEvent::ResearchFailed][..], 0),
        (&[WebhookEvent::ResearchCancelled][..], 1),
    ] {
        let id = world.create(with_webhook(events)).await;
        world.app.research.cancel(&world.tenant.viewer, id).await.unwrap();
        assert_eq!(deliveries(&world).await.len(), expected);
    }
    let id = world.create(with_webhook(&[WebhookEvent::ResearchCancelled])).await;
    world.app.research.delete(&world.tenant.viewer, id).await.unwrap();
    assert_eq!(deliveries(&world).await.len(), 1, "a deleted run was cancelled");
}

#[tokio::test]
async fn addresses_that_are_not_permitted_are_refused() {
    let world = World::new().await;
    for url in ["http://10.0.0.1/", "ftp://example.com/", "nowhere", "http://169.254.169.254/", "https://a.example/\0"]
    {
        let mut new = with_webhook(&[WebhookEvent::ResearchCompleted]);
        new.webhook.as_mut().unwrap().url = url.to_owned();
        let refused = world.app.research.create(&world.tenant.viewer, new).await;
        assert!(matches!(refused, Err(app::Error::Invalid { field, .. }) if field == "webhook.url"), "{url}");
    }
}
