use std::collections::HashSet;
use std::time::Duration;

use model::Clock;
use serde_json::json;
use test_support::endpoint::{Endpoint, Received, Reply};
use webhooks::{Headers, VerifyError, generate_secret, verify};

use crate::target::{NOW, SECRET, World, entry, received};

fn check(request: &Received, secret: &str, world: &World) -> Result<(), VerifyError> {
    let headers = Headers {
        id: request.header("webhook-id"),
        timestamp: request.header("webhook-timestamp"),
        signature: request.header("webhook-signature"),
    };
    verify([secret], headers, &request.body, world.clock.now(), Duration::from_mins(5))
}

#[tokio::test]
async fn end_of_a_run_is_delivered_with_a_signature() {
    let world = World::start().await;
    let endpoint = Endpoint::start(|_, _| Reply::status(204));
    let organization_id = world.organization().await;
    world.webhook(organization_id, endpoint.url("/in")).await;
    let run = world.end_run(organization_id).await;
    let [request] = &received(&endpoint, 1).await[..] else { panic!("one delivery") };
    assert!(request.head.starts_with("POST /in "), "{}", request.head);
    assert_eq!(request.header("content-type"), "application/json");
    let trace = format!("00-{}-", request.header("webhook-id").replace('-', ""));
    assert!(request.header("traceparent").starts_with(&trace), "{}", request.head);
    assert_eq!(check(request, SECRET, &world), Ok(()));
    assert_eq!(check(request, &generate_secret(), &world), Err(VerifyError::NoMatch));
    let body = request.json();
    assert_eq!((&body["type"], &body["data"]["sync_id"]), (&json!("run.completed"), &json!(run.sync_id.to_string())));
}

#[tokio::test]
async fn failed_delivery_is_repeated_with_the_same_id() {
    let world = World::start().await;
    let endpoint = Endpoint::start(|number, _| match number {
        0 => Reply::status(500),
        1 => Reply::other(302, &["Location: http://127.0.0.1:1/"], ""),
        2 => Reply::Close,
        _ => Reply::status(200),
    });
    let organization_id = world.organization().await;
    world.webhook(organization_id, endpoint.url("/")).await;
    world.end_run(organization_id).await;
    for (count, reason) in [(1, "status 500"), (2, "status 302"), (3, "incomplete")] {
        received(&endpoint, count).await;
        let failing = world.webhook_once(organization_id, |webhook| {
            webhook.last_error.as_deref().is_some_and(|error| error.contains(reason))
        });
        assert_eq!(failing.await.failing_since, Some(NOW), "{reason}");
        world.clock.set(world.clock.now() + Duration::from_secs(100 * count as u64));
    }
    let requests = received(&endpoint, 4).await;
    assert!(requests.iter().all(|request| request.header("webhook-id") == requests[0].header("webhook-id")));
    assert_ne!(requests[0].header("webhook-timestamp"), requests[3].header("webhook-timestamp"));
    assert_eq!(check(&requests[3], SECRET, &world), Ok(()));
    world.webhook_once(organization_id, |webhook| webhook.failing_since.is_none()).await;
}

#[tokio::test]
async fn failed_delivery_is_repeated_although_the_clock_was_set_back() {
    let world = World::start().await;
    let endpoint = Endpoint::start(|number, _| match number {
        0 => Reply::status(500),
        _ => Reply::status(200),
    });
    let organization_id = world.organization().await;
    world.webhook(organization_id, endpoint.url("/")).await;
    world.end_run(organization_id).await;
    world.webhook_once(organization_id, |webhook| webhook.failing_since.is_some()).await;
    world.clock.set(NOW - Duration::from_hours(30 * 24));
    received(&endpoint, 2).await;
    world.webhook_once(organization_id, |webhook| webhook.failing_since.is_none()).await;
}

#[tokio::test]
async fn rotated_secret_signs_beside_the_previous_one() {
    let world = World::start().await;
    let endpoint = Endpoint::start(|_, _| Reply::status(200));
    let organization_id = world.organization().await;
    let id = world.webhook(organization_id, endpoint.url("/")).await.webhook_id;
    let new = generate_secret();
    let expires = NOW + Duration::from_secs(60);
    world.store.rotate_webhook_secret(organization_id, id, new.clone(), expires, entry()).await.unwrap().unwrap();
    world.end_run(organization_id).await;
    let both = received(&endpoint, 1).await.remove(0);
    assert_eq!((check(&both, SECRET, &world), check(&both, &new, &world)), (Ok(()), Ok(())));
    world.clock.set(expires);
    world.end_run(organization_id).await;
    let one = received(&endpoint, 2).await.remove(1);
    assert_eq!((check(&one, SECRET, &world), check(&one, &new, &world)), (Err(VerifyError::NoMatch), Ok(())));
}

#[tokio::test]
async fn target_that_is_gone_is_disabled() {
    let world = World::start().await;
    let endpoint = Endpoint::start(|_, _| Reply::status(410));
    let organization_id = world.organization().await;
    world.webhook(organization_id, endpoint.url("/")).await;
    world.end_run(organization_id).await;
    let disabled = world.webhook_once(organization_id, |webhook| webhook.disabled_at.is_some()).await;
    assert!(disabled.disabled_reason.unwrap().contains("410"));
}

#[tokio::test]
async fn target_that_fails_for_days_is_disabled_with_a_reason() {
    let world = World::start().await;
    let endpoint = Endpoint::start(|_, _| Reply::status(503));
    let organization_id = world.organization().await;
    world.webhook(organization_id, endpoint.url("/")).await;
    world.end_run(organization_id).await;
    world.webhook_once(organization_id, |webhook| webhook.failing_since.is_some()).await;
    world.clock.set(NOW + Duration::from_hours(3 * 24));
    let disabled = world.webhook_once(organization_id, |webhook| webhook.disabled_at.is_some()).await;
    assert_eq!(disabled.disabled_reason.as_deref(), Some("every attempt of the last 2 days failed"));
    assert_eq!(disabled.last_error.as_deref(), Some("the target answered with status 503"));
}

#[tokio::test]
async fn silent_target_holds_up_nobody_else() {
    let world = World::start().await;
    let silent = Endpoint::start(|_, _| Reply::Silence);
    let endpoint = Endpoint::start(|_, _| Reply::status(200));
    let (stuck, other) = (world.organization().await, world.organization().await);
    for _ in 0..40 {
        world.enqueue(stuck, &silent.url("/")).await;
    }
    assert_eq!(received(&silent, 4).await.len(), 4);
    world.enqueue(other, &endpoint.url("/")).await;
    received(&endpoint, 1).await;
    assert_eq!(silent.received().len(), 4);
}

#[tokio::test]
async fn refused_addresses_get_no_delivery() {
    let world = World::with_networks(&[], Duration::from_secs(10)).await;
    let endpoint = Endpoint::start(|_, _| Reply::status(200));
    let organization_id = world.organization().await;
    world.webhook(organization_id, endpoint.url("/")).await;
    world.end_run(organization_id).await;
    let failing = world.webhook_once(organization_id, |webhook| webhook.failing_since.is_some()).await;
    assert_eq!(failing.last_error.as_deref(), Some("the target is unreachable"));
    assert!(endpoint.received().is_empty());
}

#[tokio::test]
async fn endless_and_silent_targets_are_left() {
    let world = World::with_networks(&["127.0.0.0/8"], Duration::from_millis(100)).await;
    let head = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    let endless = Endpoint::start(move |_, _| Reply::Endless(head.clone(), vec![b'x'; 1 << 16]));
    let silent = Endpoint::start(|_, _| Reply::Silence);
    let (first, second) = (world.organization().await, world.organization().await);
    world.webhook(first, silent.url("/")).await;
    world.end_run(first).await;
    let failing = world.webhook_once(first, |webhook| webhook.failing_since.is_some()).await;
    assert!(failing.last_error.unwrap().contains("timed out"));
    world.webhook(second, endless.url("/")).await;
    world.end_run(second).await;
    received(&endless, 1).await;
    world.end_run(second).await;
    received(&endless, 2).await;
    assert_eq!(world.webhook_once(second, |_| true).await.failing_since, None, "the body does not matter");
}

/// Four deliveries of an organization are in progress at most, so the fifth one follows the end of another.
#[tokio::test]
async fn delivery_succeeds_without_the_body_of_the_response() {
    let world = World::with_networks(&["127.0.0.0/8"], Duration::from_millis(500)).await;
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n".to_vec();
    let endpoint = Endpoint::start(move |_, _| Reply::Trickle(head.clone()));
    let organization_id = world.organization().await;
    world.webhook(organization_id, endpoint.url("/")).await;
    for _ in 0..5 {
        world.end_run(organization_id).await;
    }
    let requests = received(&endpoint, 5).await;
    assert_eq!(world.webhook_once(organization_id, |_| true).await.failing_since, None);
    let ids: HashSet<&str> = requests.iter().map(|request| request.header("webhook-id")).collect();
    assert_eq!(ids.len(), 5, "each once");
}
