use actix_web::test::TestRequest;
use model::Scope;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::api::{Answer, Api};

async fn delete(api: &Api, id: &str) -> Answer {
    api.send(api.authorized(TestRequest::delete().uri(&format!("/v1/keys/{id}")))).await
}

#[actix_web::test]
async fn keys_are_created_listed_and_revoked() {
    let api = Api::new().await;
    let request =
        json!({"name": "sync", "scopes": ["files:read"], "limit_rps": 5, "expires_at": "2999-01-01T00:00:00Z"});
    let created = api.post("/v1/keys", &request).await;
    assert_eq!((created.status, created.header("Cache-Control")), (200, Some("no-store")));
    let created = created.json();
    let key = created["key"].as_str().unwrap().to_owned();
    assert!(key.starts_with(created["key_prefix"].as_str().unwrap()) && key.len() > 40);
    let mine =
        api.send(TestRequest::get().uri("/v1/me").insert_header(("Authorization", format!("Bearer {key}")))).await;
    let mine = mine.json();
    assert_eq!(mine["credential"]["api_key_id"], created["api_key_id"]);
    assert_eq!((&mine["credential"]["scopes"], &mine["credential"]["limit_rps"]), (&json!(["files:read"]), &json!(5)));
    let list = api.get("/v1/keys").await;
    assert!(!String::from_utf8_lossy(&list.bytes).contains(&key), "the secret is shown once");
    let list = list.json();
    let entry = list["keys"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&entry["name"], &entry["status"]), (&json!("sync"), &json!("active")));
    assert_eq!(entry["expires_at"], "2999-01-01T00:00:00Z");

    let id = created["api_key_id"].as_str().unwrap();
    let revoked = delete(&api, id).await.json();
    assert_eq!((&revoked["status"], &revoked["api_key_id"]), (&json!("revoked"), &created["api_key_id"]));
    assert!(revoked["revoked_at"].is_string() && revoked.get("key").is_none());
    let refused = TestRequest::get().uri("/v1/me").insert_header(("Authorization", format!("Bearer {key}")));
    api.send(refused).await.expect_error(401, "invalid_api_key");
}

#[actix_web::test]
async fn an_expiry_past_the_last_time_is_the_last_time() {
    let api = Api::new().await;
    let created = api.post("/v1/keys", &json!({"name": "a", "expires_at": "9999-12-31T23:59:59-05:00"})).await.json();
    assert_eq!((&created["expires_at"], &created["status"]), (&json!("9999-12-31T23:59:59.999Z"), &json!("active")));
}

#[actix_web::test]
async fn invalid_keys_are_refused_by_field() {
    let api = Api::new().await;
    for (request, field) in [
        (json!({}), "name"),
        (json!({"name": ""}), "name"),
        (json!({"name": "a", "scopes": ["files:read", "moon:fly"]}), "scopes[1]"),
        (json!({"name": "a", "scopes": []}), "scopes"),
        (json!({"name": "a", "limit_rps": 0}), "limit_rps"),
        (json!({"name": "a", "limit_rps": 101}), "limit_rps"),
        (json!({"name": "a", "limit_rps": 9_000_000_000_u64}), "limit_rps"),
        (json!({"name": "a", "expires_at": "tomorrow"}), "expires_at"),
        (json!({"name": "a", "expires_at": "2001-01-01T00:00:00Z"}), "expires_at"),
        (json!({"name": "a", "admin": true}), "admin"),
    ] {
        let details = api.post("/v1/keys", &request).await.expect_error(400, "validation_error");
        let named = details["field"].as_str().or(details["error"].as_str()).unwrap();
        assert!(named.contains(field), "{request}: {details}");
    }
    assert_eq!(api.get("/v1/keys").await.json()["keys"].as_array().unwrap().len(), 1);
}

#[actix_web::test]
async fn keys_need_their_scope_and_stay_within_their_organization() {
    let api = Api::new().await;
    let scopes: Vec<Scope> = Scope::ALL.iter().copied().filter(|scope| *scope != Scope::KeysWrite).collect();
    let other = api.bearer_with(&scopes).await;
    let id = api.tenant.key_id.to_string();
    for request in [
        TestRequest::get().uri("/v1/keys"),
        TestRequest::post().uri("/v1/keys").set_payload(json!({"name": "a"}).to_string()),
        TestRequest::delete().uri(&format!("/v1/keys/{id}")),
    ] {
        let answer = api.send(request.insert_header(("Authorization", other.as_str()))).await;
        assert_eq!(answer.expect_error(403, "insufficient_scope")["scope"], "keys:write");
    }
    let weak = api.bearer_with(&[Scope::KeysWrite]).await;
    let request = TestRequest::post().uri("/v1/keys").insert_header(("Authorization", weak.as_str()));
    let request = request.set_payload(json!({"name": "a", "scopes": ["search:read"]}).to_string());
    api.send(request).await.expect_invalid("scopes[0]");

    let stranger = api.world.tenant().await;
    for id in [stranger.key_id.to_string(), Uuid::from_u128(1).to_string(), "x".to_owned()] {
        let answer = delete(&api, &id).await;
        answer.expect_error(404, "key_not_found");
        assert_eq!(answer.rate_headers(), 3);
    }
    let listed = api.get("/v1/keys").await.json();
    let ids: Vec<&Value> = listed["keys"].as_array().unwrap().iter().map(|key| &key["api_key_id"]).collect();
    assert!(!ids.contains(&&json!(stranger.key_id.0)));
    assert_eq!(delete(&api, &id).await.json()["status"], "revoked", "a key may revoke itself");
}

#[actix_web::test]
async fn a_key_that_is_refused_after_admission_shows_no_limit() {
    let api = Api::new().await;
    // From now on this instance knows the key, and does not notice at once that it was revoked.
    assert_eq!(api.get("/v1/me").await.rate_headers(), 3);
    api.world.revoke_key(api.tenant.key_id).await;
    let answer = api.post("/v1/keys", &json!({"name": "a"})).await;
    answer.expect_error(401, "invalid_api_key");
    assert_eq!((answer.rate_headers(), answer.header("WWW-Authenticate")), (0, Some("Bearer")));
}
