//! Admission: keys, scopes, rate limits, balances, request ids.

use std::time::Duration;

use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Client, Database, Reply, Server, until};

on_both_databases!(
    request_without_valid_key_is_refused,
    key_is_limited_to_its_scopes,
    revoked_key_is_refused,
    rate_limit_is_exact_and_reported,
    searches_are_charged_to_the_prepaid_balance,
    every_response_has_a_request_id,
);

/// Returns every endpoint with a valid body and its scope.
fn endpoints() -> Vec<(&'static str, &'static str, Option<Value>, &'static str)> {
    vec![
        ("POST", "/v1/search", Some(json!({ "query": "x" })), "search:read"),
        (
            "POST",
            "/v1/document",
            Some(json!({ "canonical_url": "https://example.com/", "include": ["metadata"] })),
            "document:read",
        ),
        ("POST", "/v1/feedback", Some(json!({ "event_type": "result_helpful" })), "feedback:write"),
        ("POST", "/v1/files/presign", Some(json!({ "filename": "a.txt", "size": 1 })), "files:write"),
        ("GET", "/v1/files", None, "files:read"),
        ("DELETE", "/v1/files/a.txt", None, "files:write"),
        ("POST", "/v1/files/index", Some(json!({})), "files:write"),
        ("GET", "/v1/files/index/x", None, "files:read"),
    ]
}

fn call(client: &Client, method: &str, path: &str, body: Option<&Value>) -> Reply {
    client.send(method, path, &[], body.map(Value::to_string).as_deref().map(str::as_bytes))
}

/// Asserts a refusal before the rate limiter: no `X-RateLimit` headers, no `$schema`, no `access`.
fn assert_refused(reply: &Reply, status: u16, code: &str) {
    reply.error(status, code);
    assert!(reply.headers.keys().all(|name| !name.as_str().starts_with("x-ratelimit")), "{reply:#?}");
    assert!(reply.json().get("$schema").is_none(), "{reply:#?}");
}

fn request_without_valid_key_is_refused(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let key = client.key.clone().unwrap();
    // A key works until it expires.
    let soon = time::OffsetDateTime::now_utc() + Duration::from_secs(2);
    let soon = soon.format(&time::format_description::well_known::Rfc3339).unwrap();
    let expired = server.create_key(client.organization, &["--expires-at", &soon]);
    let expiring = client.with_key(expired["key"].as_str());
    assert_eq!(expiring.get("/v1/files").status, 200);
    until("the key expires", Duration::from_secs(10), || {
        let reply = expiring.get("/v1/files");
        (reply.status != 200).then(|| assert_refused(&reply, 401, "invalid_api_key"))
    });
    let altered = format!("{}{}", &key[..key.len() - 1], if key.ends_with('x') { 'y' } else { 'x' });
    for (method, path, body, _) in endpoints() {
        assert_refused(&call(&client.with_key(None), method, path, body.as_ref()), 401, "missing_api_key");
        for wrong in ["not-a-key", "x", &altered, expired["key"].as_str().unwrap(), &"x".repeat(5_000)] {
            assert_refused(&call(&client.with_key(Some(wrong)), method, path, body.as_ref()), 401, "invalid_api_key");
        }
    }
    let with = |value: &str| client.with_key(None).send("GET", "/v1/files", &[("Authorization", value)], None);
    for value in ["Basic abc", "Bearer", "Bearer ", &key] {
        assert_refused(&with(value), 401, "missing_api_key");
    }
    assert_eq!(with(&format!("bearer {key}")).status, 200, "the scheme is case-insensitive");
}

fn key_is_limited_to_its_scopes(database: Database) {
    let server = Server::start(database);
    let organization = server.create_organization("acme");
    for scope in ["search:read", "document:read", "feedback:write", "files:read", "files:write"] {
        let created = server.create_key(organization, &["--scopes", scope]);
        assert_eq!(created["scopes"], json!([scope]));
        let client = server.client(created["key"].as_str(), organization);
        for (method, path, body, needed) in endpoints() {
            let reply = call(&client, method, path, body.as_ref());
            if needed == scope {
                assert!(matches!(reply.status, 200 | 202 | 404), "{scope} {method} {path}: {reply:#?}");
            } else {
                assert_refused(&reply, 403, "insufficient_scope");
            }
        }
    }
    let two = server.create_key(organization, &["--scopes", "search:read,document:read"]);
    assert_eq!(two["scopes"], json!(["search:read", "document:read"]));
    let organization = organization.to_string();
    let unknown =
        server.command(&["admin", "key", "create", "--org", &organization, "--name", "x", "--scopes", "search:write"]);
    assert_eq!(unknown.code(), Some(2));
    assert!(unknown.stderr.contains("search:write"), "{}", unknown.stderr);
}

fn revoked_key_is_refused(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let created = server.create_key(client.organization, &["--limit-rps", "100000"]);
    let revoked = client.with_key(created["key"].as_str());
    assert_eq!(revoked.get("/v1/files").status, 200);
    let shown = server.admin(&["key", "revoke", created["api_key_id"].as_str().unwrap()]);
    assert_eq!((&shown["status"], &shown["api_key_id"]), (&"revoked".into(), &created["api_key_id"]));
    assert!(shown.get("key").is_none());
    until("the key is refused", Duration::from_secs(5), || {
        let reply = revoked.get("/v1/files");
        (reply.status != 200).then(|| assert_refused(&reply, 401, "invalid_api_key"))
    });
    assert_eq!(client.get("/v1/files").status, 200, "the other key still works");

    let organization = client.organization.to_string();
    let listed = server.command(&["admin", "key", "list", "--org", &organization]).lines();
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|key| key.get("key").is_none()), "a key is shown once");
    let unknown = server.command(&["admin", "key", "revoke", &Uuid::new_v4().to_string()]);
    assert_eq!((unknown.code(), unknown.stdout.as_str()), (Some(1), ""));
    // Keys are not logged.
    assert!(!server.log().contains(client.key.as_deref().unwrap()));
}

fn rate_limit_is_exact_and_reported(database: Database) {
    let server = Server::start(database);
    let organization = server.create_organization("acme");
    let default = server.create_key(organization, &[]);
    let reply = server.client(default["key"].as_str(), organization).get("/v1/files");
    assert_eq!(reply.header("x-ratelimit-limit-rps"), Some("100"));

    let created = server.create_key(organization, &["--limit-rps", "5"]);
    let client = server.client(created["key"].as_str(), organization);
    // Invalid and unknown requests also count against the rate limit.
    let requests: [fn(&Client) -> Reply; 4] = [
        |client| client.search("x", json!({})),
        |client| client.search("", json!({})),
        |client| client.get("/v1/nothing"),
        |client| client.get("/v1/files/index/x"),
    ];
    let replies: Vec<Reply> = (0..40).map(|n| requests[n % requests.len()](&client)).collect();
    let mut windows = std::collections::BTreeMap::<&str, Vec<&Reply>>::new();
    for reply in &replies {
        assert_eq!(reply.header("x-ratelimit-limit-rps"), Some("5"), "{reply:#?}");
        windows.entry(reply.header("x-ratelimit-reset").unwrap()).or_default().push(reply);
        if reply.status == 200 {
            let limit = &reply.json()["access"]["rate_limit"];
            assert_eq!(limit["limit_rps"], 5);
            assert_eq!(limit["remaining"].to_string(), reply.header("x-ratelimit-remaining").unwrap());
            assert_eq!(limit["reset_at"], reply.header("x-ratelimit-reset").unwrap());
        }
    }
    for (reset, replies) in windows {
        for (n, reply) in replies.into_iter().enumerate() {
            if n < 5 {
                assert_ne!(reply.status, 429, "request {n} before {reset}");
                assert_eq!(reply.header("x-ratelimit-remaining"), Some((4 - n).to_string().as_str()));
            } else {
                reply.error(429, "rate_limited");
                assert_eq!(reply.header("x-ratelimit-remaining"), Some("0"));
                assert!(reply.json().get("$schema").is_none());
            }
        }
    }
    assert!(replies.iter().any(|reply| reply.status == 429), "40 requests took 8 seconds");
    // Requests without the scope do not count against the rate limit.
    let created = server.create_key(organization, &["--limit-rps", "1", "--scopes", "search:read"]);
    let limited = server.client(created["key"].as_str(), organization);
    for _ in 0..5 {
        assert_refused(&limited.get("/v1/files"), 403, "insufficient_scope");
    }
    assert_eq!(limited.search("x", json!({})).status, 200);
}

fn searches_are_charged_to_the_prepaid_balance(database: Database) {
    let server = Server::start(database);
    let organization = server.admin(&["org", "create", "--name", "prepaid", "--prepaid-cents", "2"]);
    let organization = crate::support::uuid_of(&organization["organization_id"]);
    let created = server.create_key(organization, &["--limit-rps", "100000"]);
    let client = server.client(created["key"].as_str(), organization);
    // Invalid requests and operations other than search are not charged.
    client.search("", json!({})).error(400, "validation_error");
    client
        .search("x", json!({ "scope": { "indexes": ["workspace"], "workspace_id": Uuid::new_v4() } }))
        .error(400, "validation_error");
    client.get("/v1/files").ok();
    client.search_web("x");
    client.search_web("x");
    let refused = client.search("x", json!({}));
    refused.error(402, "insufficient_balance");
    assert!(refused.header("x-ratelimit-limit-rps").is_some());
    client.document(json!({ "canonical_url": "https://example.com/", "include": ["metadata"] })).ok();

    let added = server.admin(&["balance", "add", "--org", &organization.to_string(), "--cents", "3"]);
    assert_eq!(added["balance_cents"], 3);
    // Eight concurrent searches cannot overdraw the balance.
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let searches: Vec<_> = (0..8).map(|_| scope.spawn(|| client.search("x", json!({})).status)).collect();
        searches.into_iter().map(|search| search.join().unwrap()).collect()
    });
    let count = |status| statuses.iter().filter(|other| **other == status).count();
    assert_eq!((count(200), count(402)), (3, 5), "{statuses:?}");

    // The ledger explains the balance.
    let org = organization.to_string();
    let ledger = server.command(&["admin", "balance", "ledger", "--org", &org]).lines();
    let reasons: Vec<&str> = ledger.iter().map(|entry| entry["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons, ["prepaid", "search", "search", "added", "search", "search", "search"]);
    assert_eq!(ledger.iter().map(|entry| entry["cents"].as_i64().unwrap()).sum::<i64>(), 0);
    assert!(ledger[1]["search_id"].is_string() && ledger[1]["identity"].as_str().unwrap().starts_with("key:"));
    assert_eq!(server.admin(&["balance", "show", "--org", &org])["balance_cents"], 0);

    let unbilled = server.create_organization("unbilled").to_string();
    assert_eq!(server.command(&["admin", "balance", "show", "--org", &unbilled]).code(), Some(1));
    let refused = server.command(&["admin", "balance", "add", "--org", &unbilled, "--cents", "1"]);
    assert_eq!((refused.code(), refused.stdout.as_str()), (Some(1), ""));
    let unknown = server.command(&["admin", "balance", "add", "--org", &Uuid::new_v4().to_string(), "--cents", "1"]);
    assert_eq!(unknown.code(), Some(1));
}

/// The alert about failing searches counts them.
#[test]
fn refund_of_a_failed_search_is_counted() {
    let server = Server::start(Database::sqlite());
    let organization = server.admin(&["org", "create", "--name", "prepaid", "--prepaid-cents", "2"]);
    let organization = crate::support::uuid_of(&organization["organization_id"]);
    let key = server.create_key(organization, &[]);
    let client = server.client(key["key"].as_str(), organization);
    server.import(&[json!({ "url": "https://example.com/", "text": "The walrus eats clams." })]);
    let budget = json!({ "response": { "budget": { "max_chars_total": 10, "on_exceed": "error" } } });
    for count in [1, 2] {
        client.search("walrus", budget.clone()).error(400, "response_too_large");
        let is_counted = || (server.counted("retrieval_searches_refunded_total") == count).then_some(());
        until("the refund is counted", Duration::from_secs(10), is_counted);
    }
    client.search_web("walrus");
    assert_eq!(server.counted("retrieval_searches_refunded_total"), 2);
}

fn every_response_has_a_request_id(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    for (method, path, body, _) in endpoints() {
        let reply = call(&client, method, path, body.as_ref());
        // `ok` and `error` compare body and header.
        if reply.status < 400 { drop(reply.ok()) } else { drop(reply.error(404, "sync_not_found")) }
    }
    for path in [
        "/v1/nothing",
        "/v1",
        "/v1/",
        "/v1/search/more",
        "/v1/files/index/a/b",
        "/nothing",
        "/v2/search",
        "/healthz",
        "/readyz",
        "/metrics",
    ] {
        client.get(path).error(404, "not_found");
    }
    client.with_key(None).get("/v1/nothing").error(401, "missing_api_key");
    for (method, path) in [
        ("GET", "/v1/search"),
        ("PUT", "/v1/document"),
        ("POST", "/v1/files"),
        ("DELETE", "/v1/files/index"),
        ("POST", "/v1/files/a.txt"),
        ("POST", "/schemas/SearchRequest.json"),
    ] {
        let reply = client.send(method, path, &[], None);
        reply.error(405, "method_not_allowed");
        assert!(reply.header("allow").is_some(), "{reply:#?}");
    }
    let ids: std::collections::HashSet<String> =
        (0..5).map(|_| client.get("/v1/files").header("x-request-id").unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 5);
    let mine = Uuid::new_v4().to_string();
    let session = client.send("POST", "/v1/search", &[("X-Session-ID", &mine)], Some(b"{\"query\": \"x\"}")).ok();
    assert_eq!(session["session_id"], mine);
}
