use mcp::{Message, Profile, Server, Toolset, code};
use serde_json::{Value, json};

use crate::fake::{Fake, send};

fn envelope(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

async fn initialize(version: &str) -> Value {
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    send(Profile::Full, &Fake::default(), "initialize", params).await["result"].clone()
}

#[tokio::test]
async fn handshake_revisions_are_echoed_and_others_negotiated() {
    for known in ["2025-11-25", "2025-06-18"] {
        assert_eq!(initialize(known).await["protocolVersion"], known);
    }
    // The stateless revision has no handshake.
    for other in ["2024-11-05", "2025-03-26", "2026-07-28", "2099-01-01", "", "x"] {
        assert_eq!(initialize(other).await["protocolVersion"], "2025-11-25", "{other}");
    }
    let result = initialize("2025-11-25").await;
    assert_eq!(result["capabilities"], json!({"tools": {}}));
    assert_eq!(result["serverInfo"]["name"], "retrieval");
    assert!(result.get("resultType").is_none());
}

#[tokio::test]
async fn initialize_without_revision_is_refused() {
    let answer = send(Profile::Full, &Fake::default(), "initialize", json!({"protocolVersion": 5})).await;
    assert_eq!(answer["error"]["code"], code::INVALID_PARAMS);
}

#[tokio::test]
async fn stateless_revision_is_discovered_and_has_complete_results() {
    let fake = Fake::default();
    let params = json!({"_meta": envelope("2026-07-28")});
    let result = send(Profile::Full, &fake, "server/discover", params.clone()).await["result"].clone();
    assert_eq!(result["supportedVersions"], json!(["2026-07-28", "2025-11-25", "2025-06-18"]));
    assert_eq!((&result["resultType"], &result["cacheScope"]), (&json!("complete"), &json!("public")));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "retrieval");

    let list = send(Profile::Full, &fake, "tools/list", params).await["result"].clone();
    assert_eq!((&list["resultType"], &list["cacheScope"]), (&json!("complete"), &json!("private")));
    assert!(list["ttlMs"].as_u64() > Some(0));

    let call = json!({"name": "search", "arguments": {"query": "x"}, "_meta": envelope("2026-07-28")});
    let call = send(Profile::Full, &fake, "tools/call", call).await["result"].clone();
    assert_eq!((&call["resultType"], &call["isError"]), (&json!("complete"), &json!(false)));
}

#[tokio::test]
async fn stateless_requests_require_metadata() {
    let fake = Fake::default();
    for meta in [
        json!({}),
        json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"}),
        json!({"io.modelcontextprotocol/protocolVersion": 5, "io.modelcontextprotocol/clientCapabilities": {}}),
        json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": 1}),
    ] {
        let answer = send(Profile::Full, &fake, "server/discover", json!({"_meta": meta})).await;
        assert_eq!(answer["error"]["code"], code::INVALID_PARAMS, "{meta}");
    }
    let answer = send(Profile::Full, &fake, "tools/list", json!({"_meta": envelope("1900-01-01")})).await;
    assert_eq!(answer["error"]["code"], code::UNSUPPORTED_VERSION);
    let data = json!({"supported": ["2026-07-28", "2025-11-25", "2025-06-18"], "requested": "1900-01-01"});
    assert_eq!(answer["error"]["data"], data);
}

#[tokio::test]
async fn methods_belong_to_their_revision() {
    let fake = Fake::default();
    assert_eq!(send(Profile::Full, &fake, "ping", json!({})).await["result"], json!({}));
    let stateless = json!({"_meta": envelope("2026-07-28")});
    for (method, params) in [
        ("ping", stateless.clone()),
        ("initialize", stateless.clone()),
        ("subscriptions/listen", stateless),
        ("resources/list", json!({})),
        ("", json!({})),
    ] {
        let answer = send(Profile::Full, &fake, method, params).await;
        assert_eq!(answer["error"]["code"], code::METHOD_NOT_FOUND, "{method}");
    }
}

#[tokio::test]
async fn unknown_tool_is_a_protocol_error() {
    let fake = Fake::default();
    for params in [json!({"name": "delete_file"}), json!({"name": "fetch"}), json!({"name": 7}), json!({})] {
        let answer = send(Profile::Full, &fake, "tools/call", params.clone()).await;
        assert_eq!(answer["error"]["code"], code::INVALID_PARAMS, "{params}");
    }
    let answer = send(Profile::Full, &fake, "tools/list", json!({"cursor": "x"})).await;
    assert_eq!(answer["error"]["code"], code::INVALID_PARAMS);
    assert!(fake.begun.borrow().is_empty());
}

#[tokio::test]
async fn refusals_differ_from_method_errors() {
    let answer = async |params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": params}).to_string();
        let Message::Request(request) = Message::parse(message.as_bytes()).unwrap() else { panic!() };
        Server::new(Toolset::new(Profile::Full)).answer(request, &Fake::default()).await
    };
    let unknown = answer(json!({"name": "x", "_meta": envelope("2026-07-28")})).await;
    assert!(unknown.accepted && unknown.stateless && unknown.error_code() == Some(code::INVALID_PARAMS));
    let refused = answer(json!({"name": "x", "_meta": envelope("2020-01-01")})).await;
    assert!(!refused.accepted && refused.error_code() == Some(code::UNSUPPORTED_VERSION));
    let failed = answer(json!({"name": "search", "arguments": {"query": {}}})).await;
    assert!(failed.accepted && !failed.stateless && failed.error_code().is_none());
    assert_eq!(failed.failure.map(|failure| failure.status), Some(400));
}
