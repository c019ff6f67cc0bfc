//! Credentials, scopes, limits, billing and usage of the paths in other services' formats.

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::http::Method;
use actix_web::test::TestRequest;
use app::accounts::NewKey;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine::EngineErrorKind;
use model::{Scope, SystemClock};
use serde_json::{Value, json};
use test_support::site::Site;
use test_support::{EngineFault, Setup, Tenant, TestApp, page, until};

use super::{message, reads, route, searches, send};
use crate::api::{Api, stopped_clock};
use crate::corpus::{QUERY, web_page};

const URL: &str = "https://example.com/1";

fn with_key(path: &str, body: &Option<Value>, header: Option<(&str, &str)>) -> TestRequest {
    let request = TestRequest::with_uri(path);
    let request = match body {
        Some(body) => request.method(Method::POST).set_payload(body.to_string()),
        None => request,
    };
    match header {
        Some(header) => request.insert_header(header),
        None => request,
    }
}

fn all_paths() -> Vec<(String, Option<Value>)> {
    searches().map(|(path, body)| (path.to_owned(), body)).into_iter().chain(reads(URL)).collect()
}

#[actix_web::test]
async fn keys_are_taken_as_each_client_sends_them() {
    let api = Api::new().await.with_pages(1).await;
    let key = api.tenant.key.clone();
    let basic = |pair: String| format!("Basic {}", STANDARD.encode(pair));
    let credentials = [
        ("Authorization", format!("Bearer {key}")),
        ("Authorization", basic(format!("anyone:{key}"))),
        ("Authorization", basic(format!("{key}:"))),
        ("x-api-key", key.clone()),
    ];
    for (path, body) in all_paths() {
        for (name, value) in &credentials {
            let answer = api.send(with_key(&path, &body, Some((name, value)))).await;
            assert_eq!(answer.status, 200, "{path} {name}");
        }
        for bad in ["Bearer wrong", "Basic wrong", "Basic d3Jvbmc6d3Jvbmc="] {
            let answer = api.send(with_key(&path, &body, Some(("Authorization", bad)))).await;
            assert_eq!((answer.status, answer.rate_headers()), (401, 0), "{path} {bad}");
        }
        let both = with_key(&path, &body, Some(("x-api-key", &key)));
        assert_eq!(api.send(api.authorized(both)).await.status, 401, "{path}: two credentials");
        let none = api.send(with_key(&path, &body, None)).await;
        assert_eq!(none.status, 401, "{path}");
        assert!(none.header("WWW-Authenticate").unwrap().starts_with("Bearer, Basic"));
    }
    let in_query = with_key(&format!("/compat/searxng/search?format=json&q=x&api_key={key}"), &None, None);
    assert_eq!(api.send(in_query).await.status, 401, "never in the query string");
    // The API itself takes bearer tokens only.
    let own = with_key("/v1/search", &Some(json!({"query": "x"})), Some(("x-api-key", &key)));
    api.send(own).await.expect_error(401, "missing_api_key");
}

#[actix_web::test]
async fn keys_may_have_the_prefix_of_the_service() {
    let api = Api::new().await.with_pages(1).await;
    for (path, prefix) in [("/compat/tavily/search", "tvly-"), ("/compat/firecrawl/v2/search", "fc-")] {
        let bearer = format!("Bearer {prefix}{}", api.tenant.key);
        let body = Some(json!({"query": "x"}));
        assert_eq!(api.send(with_key(path, &body, Some(("Authorization", &bearer)))).await.status, 200, "{path}");
    }
    let exa = with_key("/compat/exa/search", &Some(json!({"query": "x"})), None);
    let exa = exa.insert_header(("x-api-key", format!("fc-{}", api.tenant.key)));
    assert_eq!(api.send(exa).await.status, 401);
}

#[actix_web::test]
async fn old_tavily_clients_send_the_key_in_a_small_body() {
    let api = Api::new().await.with_pages(1).await;
    for (path, body) in [
        ("/compat/tavily/search", json!({"query": "tides", "api_key": api.tenant.key})),
        ("/compat/tavily/extract", json!({"urls": [URL], "api_key": format!("tvly-{}", api.tenant.key)})),
    ] {
        assert_eq!(api.send(with_key(path, &Some(body.clone()), None)).await.status, 200, "{path}");
        let mut large = body;
        large["padding"] = "x".repeat(70_000).into();
        let answer = api.send(with_key(path, &Some(large), None)).await;
        assert_eq!(answer.status, 400, "an unknown sender may not send much");
        assert!(answer.json()["detail"]["error"].is_string());
    }
    for body in [
        json!({"query": "x", "api_key": "wrong"}),
        json!({"query": "x", "api_key": ""}),
        json!([]),
        json!([api.tenant.key]),
    ] {
        assert_eq!(api.send(with_key("/compat/tavily/search", &Some(body), None)).await.status, 401);
    }
    let exa = json!({"query": "x", "api_key": api.tenant.key});
    assert_eq!(api.send(with_key("/compat/exa/search", &Some(exa), None)).await.status, 401);
}

#[actix_web::test]
async fn bodies_that_cannot_be_read_are_no_rejected_credentials() {
    let api = Api::new().await.with_pages(1).await;
    let peer = "203.0.113.7:1".parse().unwrap();
    let large = json!({"query": "x", "padding": "x".repeat(70_000)});
    // More than the credentials that a source may have rejected in a minute.
    for _ in 0..9 {
        let request = with_key("/compat/tavily/search", &Some(large.clone()), None).peer_addr(peer);
        assert_eq!(api.send(request).await.status, 400);
    }
    let bearer = api.bearer_with(&[Scope::SearchRead]).await;
    let search = with_key("/compat/tavily/search", &Some(json!({"query": "x"})), Some(("Authorization", &bearer)));
    assert_eq!(api.send(search.peer_addr(peer)).await.status, 200, "a key that was never used before");
}

#[actix_web::test]
async fn each_path_needs_its_scope_and_is_recorded() {
    let api = Api::new().await.with_pages(1).await;
    let searcher = api.bearer_with(&[Scope::SearchRead]).await;
    let reader = api.bearer_with(&[Scope::DocumentRead]).await;
    let mut expected = Vec::new();
    let searching = searches().map(|(path, body)| (path.to_owned(), body));
    for (paths, good, bad) in [(searching, &searcher, &reader), (reads(URL), &reader, &searcher)] {
        for (path, body) in paths {
            for (bearer, status) in [(bad, 403), (good, 200)] {
                let answer = api.send(with_key(&path, &body, Some(("Authorization", bearer)))).await;
                assert_eq!(answer.status, status, "{path}");
                assert_eq!(answer.rate_headers(), if status == 200 { 3 } else { 0 });
                expected.push((route(&path, &body), status.into()));
            }
        }
    }
    assert_eq!(api.recorded().await, expected);
}

#[actix_web::test]
async fn a_search_that_returns_documents_needs_both_scopes() {
    let api = Api::new().await.with_pages(1).await;
    let searcher = api.bearer_with(&[Scope::SearchRead]).await;
    for (path, body) in [
        ("/compat/tavily/search", json!({"query": "x", "include_raw_content": true})),
        ("/compat/exa/search", json!({"query": "x", "contents": {"text": true}})),
        ("/compat/firecrawl/v2/search", json!({"query": "x", "scrapeOptions": {"formats": ["markdown"]}})),
    ] {
        let answer = api.send(with_key(path, &Some(body), Some(("Authorization", &searcher)))).await;
        assert_eq!(answer.status, 403, "{path}");
    }
    assert_eq!(api.searches(), 0, "refused before the search");
}

async fn billed(cents: u64) -> Api {
    let mut setup = Setup::default();
    setup.options.search_cents = 3;
    let world = TestApp::with(setup).await;
    let tenant = world.billed_tenant(cents).await;
    Api::of(world, tenant, Arc::new(SystemClock)).with_pages(2).await
}

/// At any time, also while the answer waits to be compressed.
#[actix_web::test]
async fn a_client_that_leaves_before_its_answer_is_refunded() {
    let mut setup = Setup::default();
    (setup.options.search_cents, setup.options.default_rps) = (3, 100_000);
    let world = TestApp::with(setup).await;
    let tenant = world.billed_tenant(100).await;
    let api = Api::of(world, tenant, Arc::new(SystemClock));
    let paragraph = format!("The {QUERY} come and go twice a day.\n\n");
    api.world.import_one(page("https://example.com/long", &paragraph.repeat(4_000))).await;
    let (path, body) = ("/compat/tavily/search", json!({"query": QUERY, "include_raw_content": "text"}));
    let answer = api.post(path, &body).await;
    assert!(answer.status == 200 && answer.bytes.len() > 64 << 10, "compressed in turns: {}", answer.bytes.len());
    for polls in 1.. {
        let request = api.authorized(with_key(path, &Some(body.clone()), Some(("Accept-Encoding", "gzip"))));
        if api.send_and_leave(request, polls).await {
            break;
        }
        until("the refund", async || (api.world.balance(&api.tenant).await == 97).then_some(())).await;
    }
    until("the only charge", async || (api.world.balance(&api.tenant).await == 94).then_some(())).await;
}

#[actix_web::test]
async fn a_search_is_charged_once_and_reads_are_free() {
    let api = billed(100).await;
    let mut balance = 100;
    for (path, body) in searches() {
        assert_eq!(send(&api, path, &body).await.status, 200, "{path}");
        balance -= 3;
        assert_eq!(api.world.balance(&api.tenant).await, balance, "{path}");
    }
    let body = json!({"query": "tides", "contents": {"text": true, "highlights": {"query": "moon"}}});
    assert_eq!(api.post("/compat/exa/search", &body).await.status, 200);
    balance -= 3;
    for (path, body) in reads(URL) {
        assert_eq!(send(&api, &path, &body).await.status, 200, "{path}");
    }
    let refused = json!({"query": "tides", "excludeText": ["x"]});
    assert_eq!(api.post("/compat/exa/search", &refused).await.status, 400);
    assert_eq!(api.world.balance(&api.tenant).await, balance);
}

#[actix_web::test]
async fn a_spent_balance_has_the_status_of_the_service() {
    let api = billed(2).await;
    for (path, body) in searches() {
        let status = if path.contains("tavily") { 432 } else { 402 };
        assert_eq!(send(&api, path, &body).await.status, status, "{path}");
    }
}

#[actix_web::test]
async fn faults_of_the_server_are_refunded_and_shown_as_such() {
    let api = billed(100).await;
    api.world.engine.fail(EngineFault::Error(EngineErrorKind::Unavailable));
    for (path, body) in searches() {
        assert_eq!(send(&api, path, &body).await.status, 502, "{path}");
    }
    assert_eq!(api.world.balance(&api.tenant).await, 100);
}

#[actix_web::test]
async fn session_ids_may_be_any_text() {
    let api = Api::new().await.with_pages(1).await;
    for (path, body) in all_paths() {
        for session in ["my-session", "", " ", "é", "0190a6d2-6a5c-7cc0-8c5e-0f4c5a1b2c3d"] {
            let request = with_key(&path, &body, Some(("X-Session-Id", session)));
            assert_eq!(api.send(api.authorized(request)).await.status, 200, "{path} {session}");
        }
    }
}

#[actix_web::test]
async fn the_rate_limit_holds() {
    let world = TestApp::start().await;
    let tenant = world.tenant().await;
    let slow = world.create_key(tenant.organization_id, NewKey { limit_rps: Some(1), ..NewKey::default() }).await;
    let tenant = Tenant { key: slow.key, ..tenant };
    let api = Api::of(world, tenant, stopped_clock());
    assert_eq!(api.post("/compat/tavily/search", &json!({})).await.status, 400, "costs a token");
    let answer = api.post("/compat/tavily/search", &json!({"query": "x"})).await;
    assert_eq!((answer.status, answer.rate_headers()), (429, 3));
    assert!(answer.json()["detail"]["error"].as_str().unwrap().contains("limit"));
}

#[actix_web::test]
async fn hostile_bodies_are_refused() {
    let api = Api::new().await;
    let deep = format!("{{\"query\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let large = json!({"query": "x", "padding": "x".repeat(1 << 20)}).to_string();
    let paths = all_paths().into_iter().filter_map(|(path, body)| body.map(|_| path));
    for path in paths {
        for body in ["", "[]", "null", "{", r#"{"query": 5}"#, r#"{"urls": 5}"#, deep.as_str(), large.as_str()] {
            let answer = api.post_raw(&path, body).await;
            assert_eq!(answer.status, 400, "{path} {body:.20}");
            assert!(answer.bytes.len() < 2_000);
        }
    }
    assert_eq!(api.searches(), 0);
}

#[actix_web::test]
async fn other_methods_are_refused_with_the_allowed_one() {
    let api = Api::new().await;
    for (path, body) in all_paths() {
        let answer = api.send(api.authorized(TestRequest::with_uri(&path).method(Method::PATCH))).await;
        let allow = if body.is_some() { "POST" } else { "GET, HEAD" };
        assert_eq!((answer.status, answer.header("Allow")), (405, Some(allow)), "{path}");
        assert!(answer.header("X-Request-ID").is_some());
        let message = message(&path, &answer);
        assert!(message.contains(allow) && message.contains(&route(&path, &body)), "{path}: {message}");
    }
}

#[actix_web::test]
async fn a_request_has_one_time_for_its_search_and_all_its_documents() {
    let mut setup = Setup::default();
    setup.options.request_timeout = Duration::from_secs(1);
    let (api, site) = (Api::with(setup).await, Site::start());
    let urls: Vec<String> = (0..20).map(|n| site.url(&format!("/{n}"))).collect();
    api.world.import(urls.iter().map(|url| page(url, &format!("The tides as {url} saw them.")))).await;
    site.hold();
    let contents = json!({"text": true, "livecrawl": "always"});
    for (path, body) in [
        ("/compat/exa/search", json!({"query": QUERY, "numResults": 20, "contents": contents})),
        ("/compat/exa/contents", json!({"urls": urls, "livecrawl": "always", "text": true})),
    ] {
        let started = Instant::now();
        let answer = api.post(path, &body).await;
        assert!(started.elapsed() < Duration::from_secs(2), "{path}: {:?}", started.elapsed());
        match path {
            "/compat/exa/search" => {
                let found = super::ok(&answer);
                assert!(found["results"].as_array().unwrap().len() > 16, "{found}");
            }
            _ => assert_eq!(answer.status, 503),
        }
    }
    site.release();
}

#[actix_web::test]
async fn files_are_found_unless_domains_are_required() {
    let api = Api::new().await.with_files(&["notes.txt"]).await;
    api.world.import_one(web_page(1)).await;
    let urls = async |body: Value| {
        let found = super::ok(&api.post("/compat/tavily/search", &body).await);
        let urls = found["results"].as_array().unwrap().iter().map(|hit| hit["url"].as_str().unwrap().to_owned());
        urls.collect::<Vec<_>>()
    };
    let file = format!("workspace://{}/notes.txt", api.tenant.organization_id);
    let found = urls(json!({"query": "tides"})).await;
    assert!(found.contains(&file) && found.contains(&URL.to_owned()), "{found:?}");
    assert_eq!(urls(json!({"query": "tides", "include_domains": ["example.com"]})).await, [URL]);
    let read = super::ok(&api.post("/compat/tavily/extract", &json!({"urls": file})).await);
    assert!(read["results"][0]["raw_content"].as_str().unwrap().contains("Paragraph"), "{read}");
}
