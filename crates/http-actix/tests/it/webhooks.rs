use actix_web::test::TestRequest;
use model::Scope;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::api::{Answer, Api};

async fn create(api: &Api, url: &str) -> Value {
    api.post("/v1/webhooks", &json!({"url": url, "event_types": ["run.completed", "run.failed"]})).await.json()
}

async fn delete(api: &Api, id: &str) -> Answer {
    api.send(api.authorized(TestRequest::delete().uri(&format!("/v1/webhooks/{id}")))).await
}

#[actix_web::test]
async fn webhooks_are_created_listed_rotated_and_deleted() {
    let api = Api::new().await;
    let created = api
        .post("/v1/webhooks", &json!({"url": "https://example.com/in", "event_types": ["run.failed", "run.failed"]}))
        .await;
    assert_eq!((created.status, created.header("Cache-Control")), (200, Some("no-store")));
    let created = created.json();
    let secret = created["secret"].as_str().unwrap().to_owned();
    assert!(secret.starts_with("whsec_") && secret.len() > 40, "{secret}");
    assert_eq!((&created["event_types"], &created["status"]), (&json!(["run.failed"]), &json!("active")));
    let id = created["webhook_id"].as_str().unwrap();

    let rotated = api.post_raw(&format!("/v1/webhooks/{id}/rotate"), "").await.json();
    let new = rotated["secret"].as_str().unwrap().to_owned();
    assert!(new.starts_with("whsec_") && new != secret);
    assert!(rotated["previous_secret_expires_at"].is_string());

    let list = api.get("/v1/webhooks").await;
    let text = String::from_utf8_lossy(&list.bytes).into_owned();
    assert!(!text.contains(&secret) && !text.contains(&new), "secrets are shown once");
    let webhooks = list.json()["webhooks"].as_array().unwrap().clone();
    assert_eq!((webhooks.len(), &webhooks[0]["url"]), (1, &json!("https://example.com/in")));

    assert_eq!(delete(&api, id).await.json()["deleted"], true);
    delete(&api, id).await.expect_error(404, "webhook_not_found");
    assert_eq!(api.get("/v1/webhooks").await.json()["webhooks"], json!([]));
}

#[actix_web::test]
async fn invalid_webhooks_are_refused_by_field() {
    let api = Api::new().await;
    let events = json!(["run.completed"]);
    for (request, field) in [
        (json!({"event_types": events}), "url"),
        (json!({"url": "https://example.com/"}), "event_types"),
        (json!({"url": "https://example.com/", "event_types": []}), "event_types"),
        (json!({"url": "https://example.com/", "event_types": ["run.paused"]}), "event_types[0]"),
        (json!({"url": "https://example.com/", "event_types": [{"run.completed": null}]}), "event_types[0]"),
        (json!({"url": "https://example.com/", "event_types": events, "secret": "x"}), "secret"),
        (json!({"url": "", "event_types": events}), "url"),
        (json!({"url": "ftp://example.com/", "event_types": events}), "url"),
        (json!({"url": "https://example.com/in\0", "event_types": events}), "url"),
        (json!({"url": "https://example.com/a\nb", "event_types": events}), "url"),
        (json!({"url": " https://example.com/", "event_types": events}), "url"),
        (json!({"url": "https://user:pw@example.com/", "event_types": events}), "url"),
        (json!({"url": "http://10.0.0.1/", "event_types": events}), "url"),
        (json!({"url": "http://169.254.169.254/latest", "event_types": events}), "url"),
        (json!({"url": "http://[::1]/", "event_types": events}), "url"),
        (json!({"url": "https://example.com:25/", "event_types": events}), "url"),
        (json!({"url": format!("https://example.com/{}", "x".repeat(2048)), "event_types": events}), "url"),
    ] {
        let details = api.post("/v1/webhooks", &request).await.expect_error(400, "validation_error");
        let named = details["field"].as_str().or(details["error"].as_str()).unwrap();
        assert!(named.contains(field), "{request}: {details}");
    }
    assert_eq!(api.get("/v1/webhooks").await.json()["webhooks"], json!([]));
}

#[actix_web::test]
async fn webhooks_need_their_scope_and_stay_within_their_organization() {
    let api = Api::new().await;
    let id = create(&api, "https://example.com/").await["webhook_id"].as_str().unwrap().to_owned();
    let scopes: Vec<Scope> = Scope::ALL.iter().copied().filter(|scope| *scope != Scope::WebhooksWrite).collect();
    let other = api.bearer_with(&scopes).await;
    for request in [
        TestRequest::get().uri("/v1/webhooks"),
        TestRequest::post().uri("/v1/webhooks"),
        TestRequest::post().uri(&format!("/v1/webhooks/{id}/rotate")),
        TestRequest::delete().uri(&format!("/v1/webhooks/{id}")),
    ] {
        let answer = api.send(request.insert_header(("Authorization", other.as_str()))).await;
        assert_eq!(answer.expect_error(403, "insufficient_scope")["scope"], "webhooks:write");
    }
    let stranger = format!("Bearer {}", api.world.tenant().await.key);
    for id in [id.clone(), Uuid::from_u128(1).to_string(), "x".to_owned()] {
        for request in [
            TestRequest::delete().uri(&format!("/v1/webhooks/{id}")),
            TestRequest::post().uri(&format!("/v1/webhooks/{id}/rotate")),
        ] {
            let answer = api.send(request.insert_header(("Authorization", stranger.as_str()))).await;
            answer.expect_error(404, "webhook_not_found");
            assert_eq!(answer.rate_headers(), 3);
        }
    }
    let list = TestRequest::get().uri("/v1/webhooks").insert_header(("Authorization", stranger.as_str()));
    assert_eq!(api.send(list).await.json()["webhooks"], json!([]));
    assert_eq!(api.get("/v1/webhooks").await.json()["webhooks"][0]["webhook_id"], json!(id));
}

#[actix_web::test]
async fn number_of_webhooks_is_limited() {
    let api = Api::new().await;
    for _ in 0..50 {
        assert!(create(&api, "https://example.com/").await["secret"].is_string());
    }
    let request = json!({"url": "https://example.com/", "event_types": ["run.completed"]});
    let details = api.post("/v1/webhooks", &request).await.expect_error(507, "quota_exceeded");
    assert_eq!((&details["quota"], &details["limit"]), (&json!("webhooks"), &json!(50)));
}
