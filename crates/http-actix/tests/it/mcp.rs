//! `POST /mcp`: what is HTTP about it, and that a call is the operation of `/v1`. Messages and tools are tested in `mcp`.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::Method;
use actix_web::test::TestRequest;
use engine::EngineErrorKind;
use http_actix::MemoryLimits;
use model::{Scope, SystemClock};
use serde_json::{Value, json};
use test_support::site::{Page, Site};
use test_support::{EngineFault, Setup, TestApp, TestProvider, found};

use crate::api::{Answer, Api, stopped_clock};
use crate::corpus::QUERY;

const STATELESS: &str = "2026-07-28";

fn message(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

fn calling(tool: &str, arguments: Value) -> Value {
    message("tools/call", json!({"name": tool, "arguments": arguments}))
}

fn post(api: &Api, path: &str, body: &Value) -> TestRequest {
    api.authorized(TestRequest::post().uri(path)).set_payload(body.to_string())
}

/// A call in the revision that repeats itself in headers.
fn stateless(api: &Api, method: &str, mut params: Value) -> TestRequest {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let request = post(api, "/mcp", &message(method, params.clone()));
    let request = request.insert_header(("MCP-Protocol-Version", STATELESS)).insert_header(("Mcp-Method", method));
    match params["name"].as_str() {
        Some(name) => request.insert_header(("Mcp-Name", name)),
        None => request,
    }
}

/// The result of a tool that did its work, or the error of one that did not, as the model reads it.
#[track_caller]
fn result(answer: &Answer) -> Result<Value, Value> {
    let body = answer.json();
    assert_eq!(answer.status, 200, "{body}");
    let result = &body["result"];
    if result["isError"] == false {
        return Ok(result["structuredContent"].clone());
    }
    let error: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    Err(error["error"].clone())
}

/// Asserts the route and status of every request so far.
async fn check_recorded(api: &Api, expected: &[(&str, i32)]) {
    let recorded = api.recorded().await;
    let recorded: Vec<_> = recorded.iter().map(|(route, status)| (route.as_str(), *status)).collect();
    assert_eq!(recorded, expected);
}

#[actix_web::test]
async fn a_call_is_the_operation_itself_at_both_paths() {
    let api = Api::new().await.with_pages(4).await;
    for path in ["/mcp", "/mcp/"] {
        let answer = api.post(path, &calling("search", json!({"query": QUERY, "max_results": 3}))).await;
        let found = result(&answer).unwrap();
        assert_eq!(found["results"].as_array().map(Vec::len), Some(3));
        let keys: Vec<_> = found.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["next", "results", "search_id"], "nothing but the answer");
        let text = answer.json()["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        for hit in found["results"].as_array().unwrap() {
            let passage = hit["passages"][0]["text"].as_str().unwrap();
            assert!(passage.lines().all(|line| text.contains(line.trim_end())), "{text}");
        }
        assert_eq!(answer.rate_headers(), 3);
        assert_eq!(answer.header("Content-Type"), Some("application/json"));
    }
    check_recorded(&api, &[("POST /v1/search", 200), ("POST /v1/search", 200)]).await;
}

#[actix_web::test]
async fn every_tool_reaches_its_operation() {
    let api = Api::new().await.with_files(&["notes.txt"]).await;
    let doc_id = api.world.import_one(crate::corpus::web_page(1)).await.to_string();
    let mut routes = Vec::new();
    for (tool, arguments, route) in [
        ("search", json!({"query": QUERY}), "POST /v1/search"),
        ("read_document", json!({"doc_id": doc_id}), "POST /v1/document"),
        ("submit_feedback", json!({"event_type": "result_helpful"}), "POST /v1/feedback"),
        ("list_files", json!({}), "GET /v1/files"),
        ("upload_file", json!({"name": "tides.md", "text": "# Tides"}), "POST /v1/files/presign"),
    ] {
        let answer = api.post("/mcp", &calling(tool, arguments)).await;
        assert!(result(&answer).is_ok(), "{tool}");
        routes.push((route, 200));
    }
    let started = result(&api.post("/mcp", &calling("research_start", json!({"query": QUERY}))).await).unwrap();
    routes.push(("POST /v1/research", 200));
    let arguments = json!({"research_id": started["research_id"], "wait_seconds": 0});
    let research = result(&api.post("/mcp", &calling("research_get", arguments)).await).unwrap();
    assert_eq!(research["research_id"], started["research_id"]);
    routes.push(("GET /v1/research/{research_id}", 200));
    check_recorded(&api, &routes).await;
    let arguments = json!({"query": QUERY, "scope": {"indexes": ["workspace"]}});
    let found = result(&api.post("/mcp", &calling("search", arguments)).await).unwrap();
    let url = format!("workspace://{}/notes.txt", api.tenant.organization_id);
    assert_eq!(found["results"][0]["canonical_url"], url, "the key's organization is searched");
}

#[actix_web::test]
async fn a_question_about_a_search_result_is_answered_by_its_page() {
    let site = Site::start();
    let url = site.put("/a", Page::html("<h1>Tides</h1><p>The moon moves the tides, twice a day, everywhere.</p>"));
    let provider = TestProvider::with([found(&url, "Tides", "A snippet about the moon.")]);
    let api = Api::with(Setup { web: provider.with_index(), ..Setup::default() }).await;
    let found = result(&api.post("/mcp", &calling("search", json!({"query": QUERY}))).await).unwrap();
    let arguments = json!({"doc_id": found["results"][0]["doc_id"], "query": "moon"});
    let read = result(&api.post("/mcp", &calling("read_document", arguments)).await).unwrap();
    assert!(read["passages"][0]["text"].as_str().unwrap().contains("twice a day"), "{read}");
    check_recorded(&api, &[("POST /v1/search", 200), ("POST /v1/document", 200)]).await;
}

#[actix_web::test]
async fn the_connector_has_its_own_tools() {
    let api = Api::new().await.with_pages(1).await;
    let path = "/mcp?profile=connector";
    let list = api.post(path, &message("tools/list", json!({}))).await.json();
    let names: Vec<_> = list["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["search", "fetch"]);
    let found = result(&api.post(path, &calling("search", json!({"query": QUERY}))).await).unwrap();
    assert_eq!(found["results"][0]["url"], "https://example.com/1");
    let id = found["results"][0]["id"].clone();
    assert!(result(&api.post("/mcp/?profile=connector", &calling("fetch", json!({"id": id}))).await).is_ok());

    assert_eq!(api.post("/mcp?profile=full", &message("ping", json!({}))).await.status, 200);
    api.post("/mcp?profile=admin", &message("ping", json!({}))).await.expect_invalid("profile");
    api.post("/mcp?profil=connector", &message("ping", json!({}))).await.expect_invalid("profil");
}

#[actix_web::test]
async fn without_a_key_nothing_is_read() {
    let api = Api::new().await;
    let body = message("initialize", json!({"protocolVersion": "2025-11-25"})).to_string();
    let missing = api.send(TestRequest::post().uri("/mcp").set_payload(body.clone())).await;
    missing.expect_error(401, "missing_api_key");
    let bad = TestRequest::post().uri("/mcp").insert_header(("Authorization", "Bearer bad")).set_payload("not json");
    let bad = api.send(bad).await;
    bad.expect_error(401, "invalid_api_key");
    for answer in [missing, bad] {
        assert_eq!((answer.header("WWW-Authenticate"), answer.rate_headers()), (Some("Bearer"), 0));
    }
    check_recorded(&api, &[]).await;
}

#[actix_web::test]
async fn a_tool_without_its_scope_is_hidden_and_refuses() {
    let api = Api::new().await;
    let key = api.bearer_with(&[Scope::DocumentRead]).await;
    let reader = |body: Value| {
        let request = TestRequest::post().uri("/mcp").insert_header(("Authorization", key.as_str()));
        api.send(request.set_payload(body.to_string()))
    };
    let list = reader(message("tools/list", json!({}))).await.json();
    let names: Vec<_> = list["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["read_document"]);

    let error = result(&reader(calling("list_files", json!({}))).await).unwrap_err();
    assert_eq!((&error["code"], &error["details"]["scope"]), (&json!("insufficient_scope"), &json!("files:read")));
    let error = result(&reader(calling("search", json!({"query": {}}))).await).unwrap_err();
    assert_eq!(error["code"], "insufficient_scope");
    check_recorded(&api, &[("POST /mcp", 200), ("GET /v1/files", 403), ("POST /v1/search", 403)]).await;
    assert_eq!(api.searches(), 0);
}

#[actix_web::test]
async fn a_message_costs_one_token_and_none_over_the_limit() {
    let mut setup = Setup::default();
    setup.options.default_rps = 3;
    let api = Api::with(setup).await;
    for (method, params) in [
        ("initialize", json!({"protocolVersion": "2025-11-25"})),
        ("tools/list", json!({})),
        ("tools/call", json!({"name": "search", "arguments": {"query": "x"}})),
    ] {
        assert_eq!(api.post("/mcp", &message(method, params)).await.status, 200);
    }
    let refused = api.post("/mcp", &calling("search", json!({"query": "x"}))).await;
    refused.expect_error(429, "rate_limited");
    assert_eq!((refused.rate_headers(), refused.header("X-RateLimit-Remaining")), (3, Some("0")));
    assert_eq!(api.searches(), 1);
    let expected = [("POST /mcp", 200), ("POST /mcp", 200), ("POST /v1/search", 200), ("POST /mcp", 429)];
    check_recorded(&api, &expected).await;
}

/// The error of a search through `/mcp`.
async fn failed_search(api: &Api) -> Value {
    result(&api.post("/mcp", &calling("search", json!({"query": "x"}))).await).unwrap_err()
}

#[actix_web::test]
async fn failures_of_the_operation_reach_the_model_and_are_recorded_with_their_status() {
    let api = Api::new().await;
    api.world.engine.fail(EngineFault::Error(EngineErrorKind::Unavailable));
    assert_eq!(failed_search(&api).await["code"], "provider_unavailable");
    api.world.engine.fail(EngineFault::Error(EngineErrorKind::Rejected));
    let error = failed_search(&api).await;
    assert_eq!(error["code"], "internal_error");
    assert!(!error.to_string().contains("fire"), "causes are for the log");
    api.world.engine.fail(EngineFault::Panic);
    assert_eq!(failed_search(&api).await["code"], "internal_error");
    let error =
        result(&api.post("/mcp", &calling("search", json!({"query": "x", "max_results": "many"}))).await).unwrap_err();
    assert_eq!((&error["code"], &error["details"]["field"]), (&json!("validation_error"), &json!("max_results")));
    let error = result(&api.post("/mcp", &calling("read_document", json!({}))).await).unwrap_err();
    assert_eq!((&error["code"], &error["details"]["field"]), (&json!("validation_error"), &json!("doc_id")));
    let statuses: Vec<_> = api.recorded().await.into_iter().map(|(_, status)| status).collect();
    assert_eq!(statuses, [502, 500, 500, 400, 400]);
}

#[actix_web::test]
async fn a_spent_balance_and_a_missing_index_reach_the_model() {
    let world = TestApp::start().await;
    let tenant = world.billed_tenant(0).await;
    let api = Api::of(world, tenant, stopped_clock());
    assert_eq!(failed_search(&api).await["code"], "insufficient_balance");
    check_recorded(&api, &[("POST /v1/search", 402)]).await;

    let api = Api::with(Setup { retrieval: false, ..Setup::default() }).await;
    assert_eq!(failed_search(&api).await["code"], "provider_unavailable");
    check_recorded(&api, &[("POST /v1/search", 503)]).await;
}

#[actix_web::test]
async fn an_answer_without_memory_is_refused_and_not_charged() {
    let mut setup = Setup::default();
    setup.options.search_cents = 3;
    let world = TestApp::with(setup).await;
    let tenant = world.billed_tenant(10).await;
    // One answer at a time.
    let max_wait = Duration::from_millis(50);
    let memory = MemoryLimits { large_response: 1, responses: 1, max_wait, ..MemoryLimits::default() };
    let api = Api::of(world, tenant, Arc::new(SystemClock)).with_memory(memory).with_pages(8).await;
    let search = calling("search", json!({"query": QUERY}));
    let unread = api.send_unread(post(&api, "/mcp", &search)).await;
    assert_eq!(api.world.balance(&api.tenant).await, 7);
    let error = result(&api.post("/mcp", &search).await).unwrap_err();
    assert_eq!((&error["code"], &error["details"]["retry_after_seconds"]), (&json!("overloaded"), &json!(1)));
    assert_eq!(api.world.balance(&api.tenant).await, 7, "refunded");
    drop(unread);
    assert!(result(&api.post("/mcp", &search).await).is_ok());
    assert_eq!(api.world.balance(&api.tenant).await, 4);
    check_recorded(&api, &[("POST /v1/search", 200), ("POST /v1/search", 503), ("POST /v1/search", 200)]).await;
}

#[actix_web::test]
async fn a_call_in_the_stateless_revision_repeats_itself_in_headers() {
    let api = Api::new().await;
    let answer = api.send(stateless(&api, "server/discover", json!({}))).await;
    assert_eq!(answer.json()["result"]["supportedVersions"][0], STATELESS);
    let answer = api.send(stateless(&api, "tools/call", json!({"name": "search", "arguments": {"query": "x"}}))).await;
    assert!(result(&answer).is_ok() && answer.json()["result"]["resultType"] == "complete");
    // As clients write what does not fit into a header.
    let encoded = stateless(&api, "tools/call", json!({"name": "search", "arguments": {"query": "x"}}));
    let encoded = encoded.insert_header(("Mcp-Name", "=?base64?c2VhcmNo?="));
    assert!(result(&api.send(encoded).await).is_ok());

    let answer = api.send(stateless(&api, "resources/list", json!({}))).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (404, &json!(-32601)));
    let answer = api.send(stateless(&api, "tools/call", json!({"name": "nothing"}))).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (200, &json!(-32602)));
}

#[actix_web::test]
async fn headers_that_contradict_the_body_are_refused() {
    let api = Api::new().await;
    let list = || stateless(&api, "tools/list", json!({}));
    let call = || stateless(&api, "tools/call", json!({"name": "search", "arguments": {"query": "x"}}));
    for request in [
        list().insert_header(("MCP-Protocol-Version", "2025-11-25")),
        list().insert_header(("Mcp-Method", "tools/call")),
        list().append_header(("Mcp-Method", "tools/list")),
        call().insert_header(("Mcp-Name", "read_document")),
        call().insert_header(("Mcp-Name", "=?base64?!?=")),
        post(&api, "/mcp", &message("tools/list", json!({}))).insert_header(("MCP-Protocol-Version", STATELESS)),
        post(
            &api,
            "/mcp",
            &message("tools/list", json!({"_meta": {"io.modelcontextprotocol/protocolVersion": STATELESS}})),
        ),
    ] {
        let answer = api.send(request).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32020)), "{}", answer.json());
        assert_eq!(answer.json()["id"], 1);
    }
    assert_eq!(api.searches(), 0);
}

#[actix_web::test]
async fn handshake_revisions_are_served_and_others_refused_by_their_header() {
    let api = Api::new().await;
    let with = |version: &'static str, body: Value| {
        api.send(post(&api, "/mcp", &body).insert_header(("MCP-Protocol-Version", version)))
    };
    let initialize = message("initialize", json!({"protocolVersion": "2025-06-18"}));
    assert_eq!(api.post("/mcp", &initialize).await.json()["result"]["protocolVersion"], "2025-06-18");
    for version in ["2025-11-25", "2025-06-18"] {
        assert!(result(&with(version, calling("search", json!({"query": "x"}))).await).is_ok());
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(with(version, initialized).await.status, 202);
    }
    for version in ["2024-11-05", "2025-03-26", "1.0", ""] {
        let answer = with(version, calling("search", json!({"query": "x"}))).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32022)), "{version}");
        assert_eq!(answer.json()["error"]["data"]["supported"][0], STATELESS);
        assert_eq!(with(version, json!({"jsonrpc": "2.0", "method": "x"})).await.status, 400);
        // The handshake decides the revision, so its own header does not.
        assert_eq!(with(version, initialize.clone()).await.status, 200);
    }
    let answer = with("2025-11-25", message("resources/list", json!({}))).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (200, &json!(-32601)));
}

#[actix_web::test]
async fn notifications_are_accepted_without_a_body() {
    let api = Api::new().await;
    for body in [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
    ] {
        let answer = api.post("/mcp", &body).await;
        assert_eq!((answer.status, answer.bytes.len(), answer.header("Content-Type")), (202, 0, None));
        assert_eq!(answer.rate_headers(), 3);
    }
}

#[actix_web::test]
async fn malformed_messages_are_refused() {
    let api = Api::new().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        ("null", -32600),
        (deep.as_str(), -32700),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#, -32602),
    ] {
        let answer = api.post_raw("/mcp", body).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(code)), "{}", answer.json());
    }
    let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "x".repeat(500_000));
    assert!(api.post_raw("/mcp", long).await.bytes.len() < 1_000);
    let large = message("ping", json!({"x": "x".repeat(1 << 20)}));
    api.post("/mcp", &large).await.expect_error(400, "validation_error");
    let text = post(&api, "/mcp", &message("ping", json!({}))).insert_header(("Content-Type", "text/plain"));
    api.send(text).await.expect_error(400, "validation_error");
}

#[actix_web::test]
async fn there_is_no_stream_and_no_session() {
    let api = Api::new().await;
    for method in [Method::GET, Method::DELETE, Method::PUT] {
        for path in ["/mcp", "/mcp/"] {
            let answer = api.send(api.authorized(TestRequest::with_uri(path)).method(method.clone())).await;
            answer.expect_error(405, "method_not_allowed");
            assert_eq!(answer.header("Allow"), Some("POST"));
        }
    }
}

#[actix_web::test]
async fn pages_of_other_origins_are_refused_before_authentication() {
    let api = Api::new().await;
    let from = |origin: &'static str| {
        api.send(post(&api, "/mcp", &calling("search", json!({"query": "x"}))).insert_header(("Origin", origin)))
    };
    for known in ["https://api.example.com", "http://localhost:6274", "http://127.0.0.1", "https://app.example"] {
        assert_eq!(from(known).await.status, 200, "{known}");
    }
    for foreign in ["https://evil.example", "http://api.example.com.evil.example", "null", "http://10.0.0.1"] {
        let answer = from(foreign).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (403, &json!(-32600)), "{foreign}");
        assert_eq!(answer.rate_headers(), 0);
    }
    let two = post(&api, "/mcp", &message("ping", json!({}))).append_header(("Origin", "http://localhost"));
    assert_eq!(api.send(two.append_header(("Origin", "https://evil.example"))).await.status, 403);
    check_recorded(&api, &[("POST /v1/search", 200); 4]).await;
}

#[actix_web::test]
async fn the_session_of_the_header_holds_for_calls() {
    let api = Api::new().await;
    let body = calling("search", json!({"query": "x"}));
    let session = "5b3f0a52-8f0e-4c3b-9d57-1f6a4f1f3c11";
    let answer = api.send(post(&api, "/mcp", &body).insert_header(("X-Session-ID", session))).await;
    assert!(result(&answer).is_ok());
    api.send(post(&api, "/mcp", &body).insert_header(("X-Session-ID", "x"))).await.expect_invalid("X-Session-ID");
}

#[actix_web::test]
async fn the_address_chooses_the_tools() {
    let api = Api::new().await;
    let listed = async |query: &str| {
        let list = api.post(&format!("/mcp?{query}"), &message("tools/list", json!({}))).await.json();
        assert!(list.to_string().len() < 12_000);
        let tools = list["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let research = ["research_start", "research_get"];
    let all = [&["search", "read_document"], &research[..], &["submit_feedback", "list_files", "upload_file"]].concat();
    assert_eq!(listed("").await, all);
    assert_eq!(listed("profile=search").await, ["search"]);
    assert_eq!(listed("tools=read_document,search").await, ["search", "read_document"]);
    assert_eq!(listed("tools=search%2C%20list_files&profile=full").await, ["search", "list_files"]);
    assert_eq!(listed("profile=connector&tools=fetch").await, ["fetch"]);
    for query in ["tools=search,nothing", "tools=,", "profile=search&tools=fetch"] {
        api.post(&format!("/mcp?{query}"), &message("tools/list", json!({}))).await.expect_invalid("tools");
    }
    let hidden = api.post("/mcp?tools=search", &calling("list_files", json!({}))).await;
    assert_eq!(hidden.json()["error"]["code"], -32602);
}

#[actix_web::test]
async fn an_uploaded_text_is_stored_and_indexed() {
    let api = Api::new().await;
    let upload = calling("upload_file", json!({"name": "../lighthouse.md", "text": "# Lighthouse\n\nThe lamp turns."}));
    let stored = result(&api.post("/mcp", &upload).await).unwrap();
    assert_eq!((&stored["name"], &stored["state"]), (&json!("lighthouse.md"), &json!("queued")));
    let sync_id = stored["sync_id"].as_str().unwrap().parse().unwrap();
    api.world.finish_run(&api.tenant, sync_id).await;
    let search = calling("search", json!({"query": "lamp", "indexes": ["workspace"]}));
    let found = result(&api.post("/mcp", &search).await).unwrap();
    assert!(found["results"][0]["canonical_url"].as_str().unwrap().ends_with("/lighthouse.md"), "{found}");

    let key = api.bearer_with(&[Scope::FilesRead]).await;
    let request = TestRequest::post().uri("/mcp").insert_header(("Authorization", key.as_str()));
    let error = result(&api.send(request.set_payload(upload.to_string())).await).unwrap_err();
    assert_eq!((&error["code"], &error["details"]["scope"]), (&json!("insufficient_scope"), &json!("files:write")));
    let unnamed = calling("upload_file", json!({"name": "/.md", "text": "x"}));
    let error = result(&api.post("/mcp", &unnamed).await).unwrap_err();
    assert_eq!(error["details"]["field"], "name", "{error}");
}

#[actix_web::test]
async fn the_name_of_an_uploaded_text_has_the_limit_of_the_api() {
    let api = Api::new().await;
    // Without an extension, `.md` is added.
    for name in ["a".repeat(513) + ".md", "a".repeat(513), "a".repeat(510), format!("a.md{}", " ".repeat(512))] {
        let upload = calling("upload_file", json!({"name": name, "text": "x"}));
        let error = result(&api.post("/mcp", &upload).await).unwrap_err();
        assert_eq!((&error["code"], &error["details"]["field"]), (&json!("validation_error"), &json!("name")));
        assert_eq!(error["message"], "name must have 1 to 512 characters");
    }
    assert_eq!(api.get("/v1/files").await.json()["files"], json!([]));
    let longest = "a".repeat(509) + ".md";
    let upload = calling("upload_file", json!({"name": longest, "text": "x"}));
    assert_eq!(result(&api.post("/mcp", &upload).await).unwrap()["name"], longest);
}

#[actix_web::test]
async fn metadata_names_the_issuer_of_access_tokens() {
    const PATHS: [(&str, &str); 2] = [
        ("/.well-known/oauth-protected-resource", "https://api.example.com"),
        ("/.well-known/oauth-protected-resource/mcp", "https://api.example.com/mcp"),
    ];
    let api = Api::new().await;
    for (path, _) in PATHS {
        assert_eq!(api.send(TestRequest::get().uri(path)).await.status, 404);
    }
    let api = Api::new().await.with_issuer("https://issuer.example/");
    for (path, resource) in PATHS {
        let answer = api.send(TestRequest::get().uri(path)).await;
        assert_eq!((answer.status, answer.header("Content-Type")), (200, Some("application/json")));
        let metadata = answer.json();
        assert_eq!(metadata["resource"], resource);
        assert_eq!(metadata["authorization_servers"], json!(["https://issuer.example/"]));
        assert_eq!(metadata["bearer_methods_supported"], json!(["header"]));
        assert!(metadata["scopes_supported"].as_array().unwrap().contains(&json!("search:read")));
    }
    let body = message("ping", json!({})).to_string();
    let challenge =
        |request: TestRequest| async { api.send(request).await.header("WWW-Authenticate").map(str::to_owned) };
    let expected = "Bearer resource_metadata=\"https://api.example.com/.well-known/oauth-protected-resource/mcp\"";
    for path in ["/mcp", "/mcp/"] {
        assert_eq!(challenge(TestRequest::post().uri(path).set_payload(body.clone())).await.as_deref(), Some(expected));
    }
    assert_eq!(challenge(TestRequest::post().uri("/v1/search")).await.as_deref(), Some("Bearer"));
}

#[actix_web::test]
async fn an_unreadable_page_is_an_error_and_a_successful_request() {
    let api = Api::new().await;
    let read = calling("read_document", json!({"url": "https://192.0.2.1/nothing"}));
    let error = result(&api.post("/mcp", &read).await).unwrap_err();
    assert_eq!((&error["code"], &error["details"]["reason"]), (&json!("content_unavailable"), &json!("unreachable")));
    check_recorded(&api, &[("POST /v1/document", 200)]).await;
}
