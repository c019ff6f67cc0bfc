use std::sync::Arc;

use actix_web::test::TestRequest;
use blobs::BlobErrorKind;
use engine::EngineErrorKind;
use serde_json::json;
use test_support::{EngineFault, Setup, TestApp, TestTokens, TokenTrouble, page};
use uuid::Uuid;

use crate::api::{Answer, Api, PUBLIC_URL, stopped_clock};
use crate::corpus::QUERY;

#[actix_web::test]
async fn unknown_paths_are_not_found_everywhere() {
    let api = Api::new().await;
    for path in
        ["/nope", "/v2/search", "/schemas/", "/schemas/Nope.json", "/schemas/SearchRequest", "/schemas/%FF", "/v1x"]
    {
        let answer = api.send(TestRequest::get().uri(path)).await;
        answer.expect_error(404, "not_found");
        assert_eq!(answer.rate_headers(), 0, "{path} needs no key");
    }
    for path in ["/v1", "/v1/", "/v1/nope", "/v1/search/", "/v1/files/", "/v1/files/a/b", "/v1/nope?x=1"] {
        api.send(TestRequest::get().uri(path)).await.expect_error(401, "missing_api_key");
        let answer = api.get(path).await;
        answer.expect_error(404, "not_found");
        assert_eq!(answer.rate_headers(), 3, "{path}");
    }
}

#[actix_web::test]
async fn wrong_methods_name_the_right_one() {
    let api = Api::new().await;
    for (method, path, allow) in [
        ("GET", "/v1/search", "POST"),
        ("DELETE", "/v1/document", "POST"),
        ("GET", "/v1/files/presign", "POST"),
        ("POST", "/v1/files", "GET, HEAD"),
        ("POST", "/v1/files/a.txt", "GET, HEAD, DELETE"),
        ("DELETE", "/v1/files/a.txt/content", "GET, HEAD"),
        ("DELETE", "/v1/keys", "GET, HEAD, POST"),
        ("GET", "/v1/keys/x", "DELETE"),
        ("POST", "/v1/files/index/x", "GET, HEAD"),
        ("DELETE", "/v1/webhooks", "GET, HEAD, POST"),
        ("GET", "/v1/webhooks/x", "DELETE"),
        ("PATCH", "/v1/feedback", "POST"),
    ] {
        let request = TestRequest::with_uri(path).method(method.parse().unwrap());
        let answer = api.send(api.authorized(request)).await;
        answer.expect_error(405, "method_not_allowed");
        assert_eq!(answer.header("Allow"), Some(allow), "{method} {path}");
        assert_eq!(answer.rate_headers(), 3);
    }
    let schema = api.send(TestRequest::post().uri("/schemas/SearchRequest.json")).await;
    schema.expect_error(405, "method_not_allowed");
}

/// Asserts what every failed use case answers, whatever the cause.
#[track_caller]
fn check_failure(answer: &Answer, status: u16, code: &str) {
    answer.expect_error(status, code);
    assert_eq!(answer.rate_headers(), 3, "{code}");
    assert!(!String::from_utf8_lossy(&answer.bytes).contains("fire"), "causes are for the log");
    assert_eq!(answer.json()["$schema"], format!("{PUBLIC_URL}/schemas/ErrorEnvelope.json"));
}

#[actix_web::test]
async fn use_case_errors_have_their_code() {
    let api = Api::new().await;
    let unknown = Uuid::from_u128(1);
    let foreign = json!({"query": "x", "scope": {"indexes": ["workspace"], "workspace_id": unknown}});
    check_failure(&api.search(foreign).await, 400, "validation_error");
    let read = api.post("/v1/document", &json!({"doc_id": unknown})).await;
    check_failure(&read, 404, "document_not_found");
    let feedback = api.post("/v1/feedback", &json!({"event_type": "stale_result", "search_id": unknown})).await;
    check_failure(&feedback, 404, "search_not_found");
    check_failure(&api.get(&format!("/v1/files/index/{unknown}")).await, 404, "sync_not_found");
    let large = api.post("/v1/files/presign", &json!({"filename": "a.txt", "size": (1 << 20) + 1})).await;
    check_failure(&large, 413, "file_too_large");
    let program = api.post("/v1/files/presign", &json!({"filename": "a.exe", "size": 1})).await;
    check_failure(&program, 415, "unsupported_file_type");
}

#[actix_web::test]
async fn failures_of_the_engine_have_their_code() {
    let api = Api::new().await;
    for (fault, status, code) in [
        (EngineFault::Error(EngineErrorKind::Unavailable), 502, "provider_unavailable"),
        (EngineFault::Error(EngineErrorKind::Corrupt), 502, "provider_unavailable"),
        (EngineFault::Error(EngineErrorKind::Rejected), 500, "internal_error"),
        (EngineFault::Panic, 500, "internal_error"),
    ] {
        api.world.engine.fail(fault);
        check_failure(&api.search(json!({"query": "x"})).await, status, code);
    }
    api.world.engine.recover();
    assert_eq!(api.search(json!({"query": "x"})).await.status, 200);
}

#[actix_web::test]
async fn failures_of_storage_and_database_have_their_code() {
    let api = Api::new().await;
    api.world.upload(&api.tenant, "a.txt", "A text.").await;
    api.world.blobs.fail(BlobErrorKind::Unavailable);
    check_failure(&api.get("/v1/files").await, 502, "provider_unavailable");
    api.world.blobs.fail(BlobErrorKind::Denied);
    check_failure(&api.get("/v1/files").await, 500, "internal_error");
    api.world.break_database().await;
    check_failure(&api.get("/v1/files").await, 500, "internal_error");
}

#[actix_web::test]
async fn a_spent_balance_is_payment_required() {
    let world = TestApp::start().await;
    let tenant = world.billed_tenant(0).await;
    let api = Api::of(world, tenant, stopped_clock());
    check_failure(&api.search(json!({"query": "x"})).await, 402, "insufficient_balance");
}

#[actix_web::test]
async fn a_deployment_without_an_index_refuses_searches() {
    let api = Api::with(Setup { retrieval: false, ..Setup::default() }).await;
    check_failure(&api.search(json!({"query": "x"})).await, 503, "provider_unavailable");
}

#[actix_web::test]
async fn a_panic_during_authentication_is_a_500_without_limits() {
    let tokens = Arc::new(TestTokens::default());
    tokens.fail(TokenTrouble::Panic);
    let api = Api::with(Setup { tokens: Some(tokens), ..Setup::default() }).await;
    let request = TestRequest::post().uri("/v1/search").insert_header(("Authorization", "Bearer a.b.c"));
    let answer = api.send(request.set_payload(r#"{"query": "x"}"#)).await;
    answer.expect_error(500, "internal_error");
    assert_eq!(answer.rate_headers(), 0);
}

#[actix_web::test]
async fn request_ids_are_new_each_time_and_in_body_and_header() {
    let api = Api::new().await;
    let mut seen = std::collections::HashSet::new();
    for _ in 0..3 {
        for answer in [api.search(json!({"query": "x"})).await, api.get("/v1/files").await, api.get("/nope").await] {
            let id = answer.json()["request_id"].as_str().unwrap().to_owned();
            assert_eq!(answer.header("X-Request-ID"), Some(id.as_str()));
            assert!(seen.insert(id));
        }
    }
}

#[actix_web::test]
async fn unknown_query_parameters_are_refused_on_every_endpoint() {
    let api = Api::new().await;
    for (method, path) in [
        ("POST", "/v1/search"),
        ("POST", "/v1/document"),
        ("POST", "/v1/feedback"),
        ("POST", "/v1/files/presign"),
        ("GET", "/v1/files"),
        ("DELETE", "/v1/files/a.txt"),
        ("POST", "/v1/files/index"),
        ("GET", "/v1/files/index/x"),
    ] {
        let request = TestRequest::with_uri(&format!("{path}?debug%20me=1")).method(method.parse().unwrap());
        let details = api.send(api.authorized(request)).await.expect_invalid("debug me");
        assert_eq!(details["error"], "unknown query parameter `debug me`");
    }
    api.send(TestRequest::get().uri("/schemas/SearchRequest.json?x")).await.expect_error(400, "validation_error");
    assert_eq!(api.get("/v1/files?").await.status, 200, "a bare question mark asks for nothing");
}

#[actix_web::test]
async fn schemas_are_served_to_everyone() {
    let api = Api::new().await;
    for name in ["SearchRequest", "SearchResponse", "ErrorEnvelope", "UsageOverview"] {
        let answer = api.send(TestRequest::get().uri(&format!("/schemas/{name}.json"))).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json()["title"], name);
        assert_eq!(answer.header("Content-Type"), Some("application/schema+json"));
        assert!(answer.header("X-Request-ID").is_some());
    }
}

#[actix_web::test]
async fn every_schema_that_answers_name_is_served() {
    let api = Api::new().await;
    let search = api.search(json!({"query": "x"})).await;
    let read =
        api.post("/v1/document", &json!({"canonical_url": "https://example.com/", "include": ["metadata"]})).await;
    let feedback = api.post("/v1/feedback", &json!({"event_type": "stale_result"})).await;
    let presign = api.post("/v1/files/presign", &json!({"filename": "a.txt", "size": 1})).await;
    let list = api.get("/v1/files").await;
    let start = api.post("/v1/files/index", &json!({})).await;
    let status = api.get(&format!("/v1/files/index/{}", start.json()["sync_id"].as_str().unwrap())).await;
    let delete = api.send(api.authorized(TestRequest::delete().uri("/v1/files/a.txt"))).await;
    for answer in [search, read, feedback, presign, list, start, status, delete] {
        let schema = answer.json()["$schema"].as_str().unwrap().to_owned();
        let path = schema.strip_prefix(PUBLIC_URL).unwrap();
        assert_eq!(api.send(TestRequest::get().uri(path)).await.status, 200, "{schema}");
    }
}

#[actix_web::test]
async fn gzip_is_sent_only_when_asked_for_and_counts_nothing() {
    let api = Api::new().await.with_pages(3).await;
    let body = json!({"query": QUERY}).to_string();
    let ask = |encoding: &'static str| {
        api.authorized(TestRequest::post().uri("/v1/search"))
            .insert_header(("Accept-Encoding", encoding))
            .set_payload(body.clone())
    };
    let plain = api.send(ask("identity")).await;
    assert_eq!(plain.header("Content-Encoding"), None);
    let zipped = api.send(ask("gzip, deflate")).await;
    assert_eq!(zipped.header("Content-Encoding"), Some("gzip"));
    assert!(zipped.bytes.len() < plain.bytes.len());
    let text = unzipped(&zipped);
    let body: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(body["usage"]["bytes_returned"], text.len());
}

#[actix_web::test]
async fn a_large_body_is_compressed_whole() {
    let api = Api::new().await;
    let text: String = (0..80_000).map(|number| format!("tide {number}\n")).collect();
    api.world.import_one(page("https://example.com/", &text)).await;
    let body = json!({"canonical_url": "https://example.com/", "include": ["content"]}).to_string();
    let request = api.authorized(TestRequest::post().uri("/v1/document")).insert_header(("Accept-Encoding", "gzip"));
    let zipped = api.send(request.set_payload(body)).await;
    assert_eq!(zipped.header("Content-Encoding"), Some("gzip"));
    let whole = unzipped(&zipped);
    let body: serde_json::Value = serde_json::from_str(&whole).unwrap();
    assert_eq!(body["usage"]["bytes_returned"], whole.len());
    assert!(
        body["content"]["text"].as_str().is_some_and(|text| text.contains("tide 0") && text.contains("tide 79999"))
    );
}

fn unzipped(answer: &Answer) -> String {
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&answer.bytes[..]), &mut text).unwrap();
    text
}
