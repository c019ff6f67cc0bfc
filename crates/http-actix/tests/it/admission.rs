use std::sync::Arc;

use actix_web::test::TestRequest;
use app::accounts::NewKey;
use async_trait::async_trait;
use futures_util::future::join_all;
use model::Scope;
use rate_limit::{Decision, RateLimitError, RateLimiter};
use serde_json::json;
use test_support::{Setup, Tenant, TestApp, TestTokens, claims};
use time::OffsetDateTime;

use crate::api::{Answer, Api, stopped_clock};

/// A read that fetches nothing.
const READ: &str = r#"{"canonical_url": "https://example.com/", "include": ["metadata"]}"#;

async fn search_as(api: &Api, authorization: &[&str], body: &str) -> Answer {
    let mut request = TestRequest::post().uri("/v1/search").set_payload(body.to_owned());
    for value in authorization {
        request = request.append_header(("Authorization", *value));
    }
    api.send(request).await
}

#[actix_web::test]
async fn no_bearer_token_is_a_missing_key() {
    let api = Api::new().await;
    let key = api.tenant.key.as_str();
    for authorization in [&[][..], &[""], &["Basic Z29vZA=="], &["Bearer"], &["Bearer "], &[key]] {
        let answer = search_as(&api, authorization, r#"{"query": "x"}"#).await;
        answer.expect_error(401, "missing_api_key");
        assert_eq!(answer.rate_headers(), 0, "{authorization:?}");
        assert_eq!(answer.header("WWW-Authenticate"), Some("Bearer"));
    }
}

#[actix_web::test]
async fn a_bad_token_is_an_invalid_key() {
    let api = Api::new().await;
    let (good, extra) = (api.bearer(), format!("{} extra", api.bearer()));
    let long = format!("Bearer {}", "x".repeat(8193));
    let cases: [&[&str]; 5] = [&["Bearer wrong"], &[&extra], &[&good, &good], &["Basic x", &good], &[&long]];
    for authorization in cases {
        let answer = search_as(&api, authorization, r#"{"query": "x"}"#).await;
        answer.expect_error(401, "invalid_api_key");
        assert_eq!(answer.rate_headers(), 0);
    }
    assert_eq!(api.recorded().await, [], "the sender is unknown");
}

#[actix_web::test]
async fn the_scheme_may_be_in_any_case() {
    let api = Api::new().await;
    for scheme in ["Bearer ", "bearer ", "BEARER   "] {
        let authorization = format!("{scheme}{}", api.tenant.key);
        assert_eq!(search_as(&api, &[&authorization], r#"{"query": "x"}"#).await.status, 200);
    }
}

#[actix_web::test]
async fn each_endpoint_asks_for_its_scope() {
    let api = Api::new().await;
    let reader = api.bearer_with(&[Scope::DocumentRead]).await;
    for (method, path, scope) in [
        ("POST", "/v1/search", "search:read"),
        ("POST", "/v1/feedback", "feedback:write"),
        ("POST", "/v1/files/presign", "files:write"),
        ("GET", "/v1/files", "files:read"),
        ("DELETE", "/v1/files/a.txt", "files:write"),
        ("POST", "/v1/files/index", "files:write"),
        ("GET", "/v1/files/index/x", "files:read"),
    ] {
        let request = TestRequest::with_uri(path)
            .method(method.parse().unwrap())
            .insert_header(("Authorization", reader.as_str()))
            // The scope is checked before the session and the body, which are invalid too.
            .insert_header(("X-Session-ID", "nonsense"))
            .set_payload("not json");
        let answer = api.send(request).await;
        let details = answer.expect_error(403, "insufficient_scope");
        assert_eq!(details["scope"], scope, "{path}");
        assert_eq!(answer.rate_headers(), 0);
    }
    let allowed = TestRequest::post().uri("/v1/document").insert_header(("Authorization", reader.as_str()));
    let answer = api.send(allowed.set_payload(READ)).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("X-RateLimit-Remaining"), Some("99"), "refused scopes cost no token");
}

#[actix_web::test]
async fn every_admitted_request_costs_one_token_whatever_its_answer() {
    let api = Api::new().await;
    let mut left = 100;
    for (answer, status) in [
        (api.search(json!({"query": "x"})).await, 200),
        (api.post_raw("/v1/search", "not json").await, 400),
        (api.get("/v1/files/index/unknown").await, 404),
        (api.get("/v1/nope").await, 404),
        (api.get("/v1/search").await, 405),
        (api.get("/v1/files?x=1").await, 400),
        (api.get("/v1/files").await, 200),
    ] {
        left -= 1;
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("X-RateLimit-Limit-RPS"), Some("100"));
        assert_eq!(answer.header("X-RateLimit-Remaining"), Some(left.to_string().as_str()), "{status}");
        assert_eq!(answer.header("X-RateLimit-Reset"), Some("2026-06-15T12:00:01Z"));
    }
}

#[actix_web::test]
async fn over_the_limit_is_refused_before_the_body_is_read() {
    let mut setup = Setup::default();
    setup.options.default_rps = 2;
    let api = Api::with(setup).await;
    for remaining in ["1", "0"] {
        let answer = api.post_raw("/v1/search", "not json").await;
        answer.expect_error(400, "validation_error");
        assert_eq!(answer.header("X-RateLimit-Remaining"), Some(remaining));
    }
    for _ in 0..2 {
        let answer = api.post_raw("/v1/search", "not json").await;
        answer.expect_error(429, "rate_limited");
        assert_eq!(answer.header("X-RateLimit-Remaining"), Some("0"));
        assert_eq!(answer.rate_headers(), 3);
    }
    assert_eq!(api.searches(), 0);
}

#[actix_web::test]
async fn the_access_block_mirrors_the_headers() {
    let api = Api::new().await;
    for (path, body) in [
        ("/v1/search", json!({"query": "x"})),
        ("/v1/document", serde_json::from_str(READ).unwrap()),
        ("/v1/feedback", json!({"event_type": "stale_result"})),
    ] {
        let answer = api.post(path, &body).await;
        let state = &answer.json()["access"]["rate_limit"];
        assert_eq!(state["limit_rps"].to_string(), answer.header("X-RateLimit-Limit-RPS").unwrap());
        assert_eq!(state["remaining"].to_string(), answer.header("X-RateLimit-Remaining").unwrap());
        assert_eq!(state["reset_at"], answer.header("X-RateLimit-Reset").unwrap());
    }
}

#[actix_web::test]
async fn usage_is_recorded_for_every_known_credential() {
    let api = Api::new().await;
    api.search(json!({"query": "x"})).await;
    api.post_raw("/v1/search", "not json").await;
    api.get("/v1/nope").await;
    search_as(&api, &[&api.bearer_with(&[Scope::DocumentRead]).await], "").await;
    search_as(&api, &["Bearer wrong"], "").await;
    let expected = [("POST /v1/search", 200), ("POST /v1/search", 400), ("(unmatched)", 404), ("POST /v1/search", 403)];
    assert_eq!(api.recorded().await, expected.map(|(route, status)| (route.to_owned(), status)));
}

#[actix_web::test]
async fn the_limit_of_a_key_replaces_the_default() {
    let world = TestApp::start().await;
    let organization = world.tenant().await;
    let limited = NewKey { limit_rps: Some(1), ..NewKey::default() };
    let key = world.create_key(organization.organization_id, limited).await.key;
    let api = Api::of(world, Tenant { key, ..organization }, stopped_clock());
    let answer = api.get("/v1/files").await;
    assert_eq!(
        (answer.header("X-RateLimit-Limit-RPS"), answer.header("X-RateLimit-Remaining")),
        (Some("1"), Some("0"))
    );
    api.get("/v1/files").await.expect_error(429, "rate_limited");
}

struct BrokenLimiter;

#[async_trait]
impl RateLimiter for BrokenLimiter {
    async fn take(&self, _: &str, _: u32, _: OffsetDateTime) -> Result<Decision, RateLimitError> {
        Err(RateLimitError("the counter is away".into()))
    }
}

#[actix_web::test]
async fn a_broken_limiter_lets_nobody_in() {
    let api = Api::with(Setup { limiter: Arc::new(BrokenLimiter), ..Setup::default() }).await;
    let answer = api.search(json!({"query": "x"})).await;
    answer.expect_error(500, "internal_error");
    assert_eq!(answer.header("X-RateLimit-Remaining"), Some("0"));
    assert_eq!(answer.header("X-RateLimit-Reset"), Some("2026-06-15T12:00:01Z"));
    assert!(!String::from_utf8_lossy(&answer.bytes).contains("counter"), "the cause is for the log");
    assert_eq!(api.searches(), 0);
}

#[actix_web::test]
async fn a_busy_server_says_when_to_retry() {
    let mut setup = Setup::default();
    (setup.options.shares.searches, setup.options.shares.max_waiting) = (1, 0);
    let api = Api::with(setup).await;
    api.world.engine.hold();
    let (authorization, body) = (api.bearer(), r#"{"query": "x"}"#);
    let authorization = [authorization.as_str()];
    let first = search_as(&api, &authorization, body);
    let second = async {
        api.world.engine.reached(1).await;
        let refused = search_as(&api, &authorization, body).await;
        let not_read = search_as(&api, &authorization, "{").await;
        api.world.engine.release();
        (refused, not_read)
    };
    let (first, (refused, not_read)) = futures_util::join!(first, second);
    assert_eq!(first.status, 200);
    not_read.expect_error(503, "overloaded");
    let details = refused.expect_error(503, "overloaded");
    assert_eq!(refused.header("Retry-After"), Some("1"));
    assert_eq!(details["retry_after_seconds"], 1);
    assert_eq!(refused.rate_headers(), 3);
}

#[actix_web::test]
async fn source_of_many_rejected_credentials_has_to_wait() {
    let api = Api::new().await;
    let send = async |peer: &str, key: &str| {
        let request = TestRequest::get().uri("/v1/files").peer_addr(peer.parse().unwrap());
        api.send(request.insert_header(("Authorization", format!("Bearer {key}")))).await
    };
    let (guesser, other) = ("203.0.113.7:1", "203.0.113.8:1");
    // Keys in use at that address are not affected.
    assert_eq!(send(guesser, &api.tenant.key).await.status, 200);
    for _ in 0..5 {
        send(guesser, "wrong").await.expect_error(401, "invalid_api_key");
    }
    let refused = send(guesser, "wrong").await;
    let details = refused.expect_error(429, "rate_limited");
    assert_eq!(details, json!({"limit": "rejected_credentials", "retry_after_seconds": 12}));
    assert_eq!((refused.header("Retry-After"), refused.rate_headers()), (None, 0));
    assert_eq!(send(guesser, &api.tenant.key).await.status, 200);
    send(other, "wrong").await.expect_error(401, "invalid_api_key");
    // A new key at that address waits as well.
    let new = api.bearer_with(&[Scope::FilesRead]).await;
    let new = new.trim_start_matches("Bearer ");
    send(guesser, new).await.expect_error(429, "rate_limited");
    assert_eq!(send(other, new).await.status, 200);
    // This machine is no stranger.
    for _ in 0..9 {
        send("127.0.0.1:1", "wrong").await.expect_error(401, "invalid_api_key");
    }
}

#[actix_web::test]
async fn concurrent_credentials_count_as_others_do() {
    let api = Api::new().await;
    let send = async |key: &str| {
        let request = TestRequest::get().uri("/v1/files").peer_addr("203.0.113.7:1".parse().unwrap());
        api.send(request.insert_header(("Authorization", format!("Bearer {key}")))).await
    };
    let mut keys = Vec::new();
    for _ in 0..20 {
        keys.push(api.world.create_key(api.tenant.organization_id, NewKey::default()).await);
    }
    // More new keys than the address may have rejected.
    let answers = join_all(keys.iter().map(|created| send(&created.key))).await;
    assert!(answers.iter().all(|answer| answer.status == 200));
    let mut revoked = Vec::new();
    for _ in 0..20 {
        let created = api.world.create_key(api.tenant.organization_id, NewKey::default()).await;
        api.world.revoke_key(created.row.id).await;
        revoked.push(created.key);
    }
    let answers = join_all(revoked.iter().map(|key| send(key))).await;
    let count = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
    assert_eq!((count(401), count(429)), (5, 15));
}

/// Neither costs a look-up, so they lock out nobody behind the same address.
#[actix_web::test]
async fn malformed_credentials_and_forged_tokens_do_not_count() {
    let tokens = Arc::new(TestTokens::default());
    let api = Api::with(Setup { tokens: Some(Arc::clone(&tokens) as _), ..Setup::default() }).await;
    tokens.accept("a.b.c", claims(&api.tenant.organization_id.to_string(), "user-1", &["files:read"]));
    let send = async |bearer: &str| {
        let request = TestRequest::get().uri("/v1/files").peer_addr("203.0.113.7:1".parse().unwrap());
        api.send(request.insert_header(("Authorization", bearer))).await
    };
    for bearer in ["Bearer a b", "Bearer x.y.z"].repeat(10) {
        send(bearer).await.expect_error(401, "invalid_api_key");
    }
    assert_eq!(send(&api.bearer_with(&[Scope::FilesRead]).await).await.status, 200, "a new key");
    for _ in 0..5 {
        send("Bearer wrong").await.expect_error(401, "invalid_api_key");
    }
    send(&api.bearer_with(&[Scope::FilesRead]).await).await.expect_error(429, "rate_limited");
    assert_eq!(send("Bearer a.b.c").await.status, 200, "a new token");
}
