//! OAuth access tokens: organizations, scopes, rejection, outages of the issuer, rate limits, billing.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::signing::{SigningKey, base64url, set};
use crate::support::{Client, Database, Page, Reply, Server, Site, until};

on_both_databases!(
    token_gives_access_to_its_organization_only,
    token_is_limited_to_its_scopes,
    invalid_token_is_refused,
    issuer_outage_is_a_provider_error,
    rate_limit_applies_per_subject,
    token_requests_are_counted_and_charged,
);

const ISSUER: &str = "https://issuer.example/";
const AUDIENCE: &str = "https://api.example";
const KEYS: &str = "/keys";

/// Starts a site that publishes the keys.
fn publishing(keys: &[&SigningKey]) -> Site {
    let site = Site::start();
    publish(&site, keys);
    site
}

fn publish(site: &Site, keys: &[&SigningKey]) {
    site.put(KEYS, Page::of("application/json", set(keys).to_string()));
}

fn settings(site: &Site) -> String {
    let keys = site.url(KEYS);
    format!("[auth.oauth]\nissuer = {ISSUER:?}\naudience = {AUDIENCE:?}\njwks_url = {keys:?}\n")
}

fn now() -> i64 {
    OffsetDateTime::now_utc().unix_timestamp()
}

/// Returns the claims of a valid token of the organization.
fn claims(organization: Uuid, scope: &str) -> Value {
    json!({
        "iss": ISSUER, "aud": AUDIENCE, "sub": "alice", "iat": now(), "exp": now() + 300,
        "org_id": organization, "scope": scope,
    })
}

fn with(mut claims: Value, name: &str, value: Value) -> Value {
    claims[name] = value;
    claims
}

/// Asserts a refusal before the rate limiter: no `X-RateLimit` headers.
#[track_caller]
fn assert_refused(reply: &Reply, status: u16, code: &str) {
    reply.error(status, code);
    assert!(reply.headers.keys().all(|name| !name.as_str().starts_with("x-ratelimit")), "{reply:#?}");
}

fn search(client: &Client, token: &str) -> Reply {
    client.with_key(Some(token)).search("walrus", json!({}))
}

fn token_gives_access_to_its_organization_only(database: Database) {
    let keys = [SigningKey::rsa("r"), SigningKey::p256("p"), SigningKey::ed25519("e")];
    let site = publishing(&[&keys[0], &keys[1], &keys[2]]);
    let server = Server::start_with(database, &settings(&site));
    let (ours, theirs) = (server.tenant("ours"), server.tenant("theirs"));
    ours.upload("a.txt", "The merger codename is tangerine falcon.");
    ours.index();
    let everything = "openid search:read document:read files:read files:write";
    for key in &keys {
        let holder = ours.with_key(Some(&key.token(&claims(ours.organization, everything))));
        let found = holder.search("tangerine falcon", json!({ "scope": ours.workspace_scope() }));
        assert_eq!(found.header("x-ratelimit-limit-rps"), Some("100"));
        assert_eq!(found.ok()["results"].as_array().unwrap().len(), 1);
        assert_eq!(holder.file_names(), ["a.txt"]);
        assert_eq!(holder.document(json!({ "canonical_url": ours.workspace_url("a.txt") })).status, 200);
    }
    assert_eq!(site.hits(KEYS), 1, "keys are fetched once");

    // The same subject with a token of the other organization.
    let other = theirs.with_key(Some(&keys[1].token(&claims(theirs.organization, everything))));
    assert_eq!(other.file_names(), [""; 0]);
    assert_eq!(other.search_workspace("tangerine falcon")["results"], json!([]));
    other.search("tangerine falcon", json!({ "scope": ours.workspace_scope() })).error(400, "validation_error");
    other.document(json!({ "canonical_url": ours.workspace_url("a.txt") })).error(404, "document_not_found");
    assert_eq!(other.delete("/v1/files/a.txt").ok()["deleted"], false);
    assert_eq!(ours.file_names(), ["a.txt"]);
}

fn token_is_limited_to_its_scopes(database: Database) {
    let key = SigningKey::ed25519("e");
    let site = publishing(&[&key]);
    let server = Server::start_with(database, &settings(&site));
    let client = server.tenant("acme");
    let holder = |scope: &str| client.with_key(Some(&key.token(&claims(client.organization, scope))));
    assert_refused(&holder("search:read openid").get("/v1/files"), 403, "insufficient_scope");
    assert_eq!(holder("search:read openid").search("walrus", json!({})).status, 200);
    for none in ["", "openid", "SEARCH:READ", "search:write"] {
        assert_refused(&holder(none).search("walrus", json!({})), 403, "insufficient_scope");
    }
}

fn invalid_token_is_refused(database: Database) {
    let (key, stranger) = (SigningKey::rsa("k"), SigningKey::p256("k"));
    let site = publishing(&[&key]);
    let server = Server::start_with(database, &settings(&site));
    let client = server.tenant("acme");
    let good = claims(client.organization, "search:read");
    assert_eq!(search(&client, &key.token(&good)).status, 200);
    let within_leeway = with(good.clone(), "exp", json!(now() - 10));
    assert_eq!(search(&client, &key.token(&within_leeway)).status, 200);
    for (name, value) in [
        ("exp", json!(now() - 120)),
        ("exp", Value::Null),
        ("nbf", json!(now() + 120)),
        ("iat", json!(now() + 120)),
        ("aud", json!("https://another.example")),
        ("iss", json!("https://another.example/")),
        ("sub", Value::Null),
        // No organization, or an unknown one.
        ("org_id", Value::Null),
        ("org_id", json!("acme")),
        ("org_id", json!([client.organization])),
        ("org_id", json!(Uuid::new_v4())),
    ] {
        let token = key.token(&with(good.clone(), name, value.clone()));
        let reply = search(&client, &token);
        assert_eq!(reply.status, 401, "{name} = {value}");
        assert_refused(&reply, 401, "invalid_api_key");
    }
    let payload = base64url(good.to_string());
    let unsigned = format!("{}.{payload}.", base64url(r#"{"alg":"none"}"#));
    // Algorithm confusion: the public key as an HMAC secret.
    let signed = format!("{}.{payload}", base64url(r#"{"alg":"HS256","kid":"k"}"#));
    let secret = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key.jwk().to_string().as_bytes());
    let shared = format!("{signed}.{}", base64url(ring::hmac::sign(&secret, signed.as_bytes())));
    let tokens = [unsigned, shared, stranger.token(&good), "a.b.c".to_owned(), "..".to_owned()];
    for token in &tokens {
        assert_refused(&search(&client, token), 401, "invalid_api_key");
    }
    assert_eq!(search(&client, client.key.as_deref().unwrap()).status, 200, "API keys still work");
    assert!(!server.log().contains(&payload), "tokens are not logged");

    // Without a configured issuer, tokens are refused.
    let without = Server::start_with(Database::sqlite(), "");
    let client = without.tenant("acme");
    let token = key.token(&claims(client.organization, "search:read"));
    assert_refused(&search(&client, &token), 401, "invalid_api_key");
}

fn issuer_outage_is_a_provider_error(database: Database) {
    let key = SigningKey::p256("k");
    let site = Site::start();
    let server = Server::start_with(database, &settings(&site));
    let client = server.tenant("acme");
    let token = key.token(&claims(client.organization, "search:read"));
    site.put(KEYS, Page::of("application/json", set(&[&key]).to_string()).after(Duration::from_secs(20)));
    // Concurrent requests share one fetch of the keys.
    let asked = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let started = Instant::now();
                assert_refused(&search(&client, &token), 502, "provider_unavailable");
                assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
            });
        }
        // Requests with an API key do not wait.
        let started = Instant::now();
        assert_eq!(client.search("walrus", json!({})).status, 200);
        assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
    });
    assert!(asked.elapsed() >= Duration::from_secs(1), "requests wait for the issuer");
    assert_eq!(site.hits(KEYS), 1);
    // An expired token is refused without keys.
    let expired = key.token(&with(claims(client.organization, "search:read"), "exp", json!(now() - 120)));
    assert_refused(&search(&client, &expired), 401, "invalid_api_key");
    publish(&site, &[&key]);
    until("the keys are fetched again", Duration::from_secs(15), || {
        (search(&client, &token).status == 200).then_some(())
    });
}

fn rate_limit_applies_per_subject(database: Database) {
    let key = SigningKey::ed25519("e");
    let site = publishing(&[&key]);
    let server = Server::start_with(database, &format!("{}[rate_limit]\ndefault_rps = 5\n", settings(&site)));
    let client = server.tenant("acme");
    let holder = |subject: &str, id: usize| {
        let claims = with(claims(client.organization, "search:read"), "sub", json!(subject));
        client.with_key(Some(&key.token(&with(claims, "jti", json!(id)))))
    };
    // All tokens of a subject share one limit.
    let alice: Vec<Client> = (0..40).map(|id| holder("alice", id)).collect();
    let mut windows = BTreeMap::<String, Vec<u16>>::new();
    for alice in &alice {
        let reply = alice.get("/v1/nothing");
        windows.entry(reply.header("x-ratelimit-reset").unwrap().to_owned()).or_default().push(reply.status);
    }
    assert!(windows.values().any(|statuses| statuses.len() > 5), "40 requests took 8 seconds");
    for statuses in windows.values() {
        for (n, status) in statuses.iter().enumerate() {
            assert_eq!(*status, if n < 5 { 404 } else { 429 }, "{windows:?}");
        }
    }
    let long = holder(&"b".repeat(4_000), 0).get("/v1/nothing");
    assert_eq!((long.status, long.header("x-ratelimit-remaining")), (404, Some("4")));
}

fn token_requests_are_counted_and_charged(database: Database) {
    let key = SigningKey::ed25519("e");
    let site = publishing(&[&key]);
    let server = Server::start_with(database, &settings(&site));
    let created = server.admin(&["org", "create", "--name", "acme", "--prepaid-cents", "2"]);
    let organization = crate::support::uuid_of(&created["organization_id"]);
    let token = key.token(&claims(organization, "search:read usage:read feedback:write"));
    let holder = server.client(Some(&token), organization);
    for _ in 0..2 {
        holder.search_web("walrus");
    }
    holder.search("walrus", json!({})).error(402, "insufficient_balance");
    assert_eq!(holder.post("/v1/feedback", &json!({ "event_type": "result_helpful" })).status, 200);

    let body = until("the requests are counted", Duration::from_secs(10), || {
        let body = holder.get("/v1/usage?group_by=api_key").ok();
        (body["headline"]["requests"].as_i64().unwrap() >= 4).then_some(body)
    });
    assert_eq!((&body["headline"]["spend_cents"], &body["keys"]), (&json!(2), &json!([])));
    let points = body["series"].as_array().unwrap();
    let subject = points[0]["group_id"].as_str().unwrap();
    assert!(subject.starts_with("sub:") && subject.len() == 36, "{subject}");
    assert_eq!(points[0]["group_label"], format!("Access token {}", &subject[4..12]));
    assert!(points.iter().all(|point| point["group_id"] == subject), "{body:#}");

    let ledger = server.command(&["admin", "balance", "ledger", "--org", &organization.to_string()]).lines();
    let spent: Vec<&Value> = ledger.iter().filter(|entry| entry["reason"] == "search").collect();
    assert_eq!(spent.len(), 2, "{ledger:#?}");
    assert!(spent.iter().all(|entry| entry["identity"] == subject), "{ledger:#?}");
}

#[test]
fn new_issuer_key_is_fetched() {
    let (old, new) = (SigningKey::p256("old"), SigningKey::ed25519("new"));
    let site = publishing(&[&old]);
    let server = Server::start_with(Database::sqlite(), &settings(&site));
    let client = server.tenant("acme");
    let claims = claims(client.organization, "search:read");
    assert_eq!(search(&client, &old.token(&claims)).status, 200);
    publish(&site, &[&old, &new]);
    // Unknown key ids cause at most two fetches per minute.
    until("the new key is fetched", Duration::from_secs(45), || {
        let reply = search(&client, &new.token(&claims));
        if reply.status != 200 {
            assert_refused(&reply, 401, "invalid_api_key");
            std::thread::sleep(Duration::from_millis(500));
        }
        (reply.status == 200).then_some(())
    });
    assert_eq!(site.hits(KEYS), 2);
}

#[test]
fn credentials_of_deleted_organization_are_refused() {
    let Some(database) = Database::postgres() else { return };
    let key = SigningKey::p256("k");
    let site = publishing(&[&key]);
    let server = Server::start_with(database, &settings(&site));
    let (client, other) = (server.tenant("acme"), server.tenant("other"));
    let token = key.token(&claims(client.organization, "search:read"));
    let api_key = client.key.clone().unwrap();
    for credential in [&token, &api_key] {
        assert_eq!(search(&client, credential).status, 200);
    }
    server.database.execute(&format!("DELETE FROM organizations WHERE id = '{}'", client.organization));
    for credential in [&token, &api_key] {
        until("the deletion takes effect", Duration::from_secs(5), || {
            let reply = search(&client, credential);
            (reply.status == 401).then(|| assert_refused(&reply, 401, "invalid_api_key"))
        });
    }
    assert_eq!(other.search("walrus", json!({})).status, 200);
}
