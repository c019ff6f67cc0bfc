use actix_web::test::TestRequest;
use serde_json::{Value, json};

use crate::api::Api;

#[actix_web::test]
async fn a_body_is_one_json_object() {
    let api = Api::new().await;
    for body in [
        "",
        "  ",
        "[]",
        "[\"x\"]",
        "null",
        "\"x\"",
        "1",
        "{",
        "{\"query\": \"x\"",
        "{\"query\": \"x\"} {}",
        "{\"query\": \"x\"}x",
        "{\"query\": \"x\", \"query\": \"y\"}",
        "{query: 1}",
        "\u{feff}{\"query\": \"x\"}",
        "{\"query\": \"\\ud800\"}",
    ] {
        let answer = api.post_raw("/v1/search", body).await;
        let details = answer.expect_error(400, "validation_error");
        assert!(details["error"].as_str().is_some_and(|error| !error.is_empty()), "{body}: {details}");
        assert_eq!(answer.rate_headers(), 3);
    }
    assert_eq!(api.post_raw("/v1/search", b"{\"query\": \"\xff\"}".to_vec()).await.status, 400);
    assert_eq!(api.post_raw("/v1/search", " \n{\"query\": \"x\"}\n ").await.status, 200);
}

#[actix_web::test]
async fn nesting_does_not_overflow_the_stack() {
    let api = Api::new().await;
    let deep = format!("{{\"query\": {}", "[".repeat(200_000));
    api.post_raw("/v1/search", deep).await.expect_error(400, "validation_error");
    let deep = format!("{{\"canonical_url\": \"x\", \"debug\": {{\"a\": {}{}}}}}", "[".repeat(5000), "]".repeat(5000));
    api.post_raw("/v1/document", deep).await.expect_error(400, "validation_error");
}

#[actix_web::test]
async fn a_mebibyte_is_read_and_a_byte_more_is_not() {
    let api = Api::new().await;
    let sized = |bytes: usize| format!("{{\"query\": \"x\"{}}}", " ".repeat(bytes - 14));
    assert_eq!(sized(100).len(), 100);
    assert_eq!(api.post_raw("/v1/search", sized(1 << 20)).await.status, 200);
    for bytes in [(1 << 20) + 1, 3 << 20] {
        let details = api.post_raw("/v1/search", sized(bytes)).await.expect_error(400, "validation_error");
        assert_eq!(details["error"], "the body has more than 1048576 bytes");
    }
}

/// Large bodies are parsed on another thread.
#[actix_web::test]
async fn a_large_body_is_refused_like_a_small_one() {
    let api = Api::new().await;
    for spaces in [0, 100_000, 900_000] {
        let padded = |body: &str| format!("{}{body}", " ".repeat(spaces));
        let unknown = api.post_raw("/v1/search", padded(r#"{"query": "x", "nope": 1}"#)).await;
        unknown.expect_invalid("nope");
        api.post_raw("/v1/search", padded(r#"{"query": ""}"#)).await.expect_invalid("query");
        let message = api.post_raw("/mcp", padded("{")).await;
        assert_eq!((message.status, &message.json()["error"]["code"]), (400, &json!(-32700)), "{spaces}");
        let ping = api.post_raw("/mcp", padded(r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#)).await;
        assert_eq!(ping.json(), json!({"jsonrpc": "2.0", "id": 1, "result": {}}), "{spaces}");
        let foreign = api.post_raw("/compat/tavily/search", padded(r#"{"query": 1}"#)).await;
        assert_eq!(foreign.status, 400, "{spaces}");
    }
}

#[actix_web::test]
async fn only_json_is_accepted() {
    let api = Api::new().await;
    let send = |header: (&'static str, &'static str)| {
        api.authorized(TestRequest::post().uri("/v1/search")).insert_header(header).set_payload("{\"query\": \"x\"}")
    };
    for accepted in ["application/json", "application/json; charset=utf-8", "Application/JSON"] {
        assert_eq!(api.send(send(("Content-Type", accepted))).await.status, 200, "{accepted}");
    }
    for refused in
        ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "application/problem+json", ""]
    {
        let details = api.send(send(("Content-Type", refused))).await.expect_error(400, "validation_error");
        assert!(details["error"].as_str().unwrap().contains("content type"), "{refused}");
    }
    let details = api.send(send(("Content-Encoding", "gzip"))).await.expect_error(400, "validation_error");
    assert_eq!(details["error"], "the content encoding `gzip` is not supported");
    assert_eq!(api.send(send(("Content-Encoding", "identity"))).await.status, 200);
}

#[actix_web::test]
async fn unknown_fields_are_named_at_every_depth() {
    let api = Api::new().await;
    for (path, body, field) in [
        ("/v1/search", json!({"query": "x", "nope": 1}), "nope"),
        ("/v1/search", json!({"query": "x", "filters": {"nope": 1}}), "filters.nope"),
        ("/v1/search", json!({"query": "x", "response": {"budget": {"nope": 1}}}), "response.budget.nope"),
        ("/v1/search", json!({"query": "x", "source_policy": {"nope": 1}}), "source_policy.nope"),
        ("/v1/document", json!({"doc_id": "x", "session_id": "y"}), "session_id"),
        ("/v1/document", json!({"content": {"range": {"nope": 1}}}), "content.range.nope"),
        ("/v1/feedback", json!({"event_type": "stale_result", "agent_context": {"nope": 1}}), "agent_context.nope"),
        ("/v1/files/presign", json!({"filename": "a.txt", "size": 1, "nope": 1}), "nope"),
        ("/v1/files/index", json!({"nope": 1}), "nope"),
    ] {
        let details = api.post(path, &body).await.expect_invalid(field);
        assert!(details["error"].as_str().unwrap().starts_with("unknown field `"), "{details}");
    }
}

#[actix_web::test]
async fn missing_and_mistyped_fields_are_named() {
    let api = Api::new().await;
    for (path, body, field) in [
        ("/v1/search", json!({}), "query"),
        ("/v1/search", json!({"query": 1}), "query"),
        ("/v1/search", json!({"query": null}), "query"),
        ("/v1/search", json!({"query": "x", "max_results": "10"}), "max_results"),
        ("/v1/search", json!({"query": "x", "max_results": 1.5}), "max_results"),
        ("/v1/search", json!({"query": "x", "max_results": null}), "max_results"),
        ("/v1/search", json!({"query": "x", "filters": []}), "filters"),
        ("/v1/search", json!({"query": "x", "filters": {"exact_match": "yes"}}), "filters.exact_match"),
        ("/v1/search", json!({"query": "x", "search_queries": ["a", 2]}), "search_queries[1]"),
        ("/v1/search", json!({"query": "x", "scope": {"indexes": ["mars"]}}), "scope.indexes[0]"),
        ("/v1/search", json!({"query": "x", "response": {"verbosity": 1}}), "response.verbosity"),
        ("/v1/search", json!({"query": "x", "session_id": null}), "session_id"),
        ("/v1/document", json!({"include": ["nope"]}), "include[0]"),
        ("/v1/document", json!({"include": null}), "include"),
        ("/v1/feedback", json!({}), "event_type"),
        ("/v1/feedback", json!({"event_type": "nope"}), "event_type"),
        ("/v1/files/presign", json!({"filename": "a.txt"}), "size"),
        ("/v1/files/presign", json!({"filename": "a.txt", "size": 1e30}), "size"),
        ("/v1/files/index", json!({"mode": "sometimes"}), "mode"),
    ] {
        let details = api.post(path, &body).await.expect_invalid(field);
        assert!(details["error"].is_string(), "{body}: {details}");
    }
}

#[actix_web::test]
async fn values_that_break_a_rule_are_named() {
    let api = Api::new().await;
    let long = "x".repeat(8193);
    let id = "0190a6d2-6a5c-7cc0-8c5e-0f4c5a1b2c3d";
    for (path, body, field) in [
        ("/v1/search", json!({"query": ""}), "query"),
        ("/v1/search", json!({"query": long}), "query"),
        ("/v1/search", json!({"query": "x", "max_results": 0}), "max_results"),
        ("/v1/search", json!({"query": "x", "max_results": 51}), "max_results"),
        ("/v1/search", json!({"query": "x", "search_queries": [long]}), "search_queries[0]"),
        ("/v1/search", json!({"query": "x", "filters": {"country": "usa"}}), "filters.country"),
        ("/v1/search", json!({"query": "x", "filters": {"country": "u1"}}), "filters.country"),
        ("/v1/search", json!({"query": "x", "filters": {"language": "é"}}), "filters.language"),
        (
            "/v1/search",
            json!({"query": "x", "freshness_policy": {"published_after": "yesterday"}}),
            "freshness_policy.published_after",
        ),
        (
            "/v1/search",
            json!({"query": "x", "source_policy": {"include_domains": ["a.example", "https://b.example/"]}}),
            "source_policy.include_domains[1]",
        ),
        (
            "/v1/search",
            json!({"query": "x", "source_policy": {"exclude_domains": [""]}}),
            "source_policy.exclude_domains[0]",
        ),
        ("/v1/search", json!({"query": "x", "scope": {"workspace_id": "mine"}}), "scope.workspace_id"),
        (
            "/v1/search",
            json!({"query": "x", "response": {"budget": {"max_chars_total": 0}}}),
            "response.budget.max_chars_total",
        ),
        (
            "/v1/search",
            json!({"query": "x", "freshness_policy": {"published_before": "tomorrow"}}),
            "freshness_policy.published_before",
        ),
        (
            "/v1/search",
            json!({"query": "x", "source_policy": {"include_domains": ["a.example/docs", "b.example/a?b"]}}),
            "source_policy.include_domains[1]",
        ),
        (
            "/v1/search",
            json!({"query": "x", "response": {"max_passages_per_result": 11}}),
            "response.max_passages_per_result",
        ),
        (
            "/v1/search",
            json!({"query": "x", "response": {"max_passages_per_result": -1}}),
            "response.max_passages_per_result",
        ),
        ("/v1/search", json!({"query": "x", "response": {"max_chars_per_result": 0}}), "response.max_chars_per_result"),
        ("/v1/search", json!({"query": "x", "timeout_ms": 0}), "timeout_ms"),
        ("/v1/search", json!({"query": "x", "timeout_ms": 60_001}), "timeout_ms"),
        ("/v1/document", json!({"doc_id": id, "max_age_seconds": -1}), "max_age_seconds"),
        ("/v1/document", json!({"doc_id": id, "timeout_ms": 0}), "timeout_ms"),
        ("/v1/document", json!({"doc_id": id, "content": {"max_passages": -1}}), "content.max_passages"),
        ("/v1/documents", json!({"documents": []}), "documents"),
        ("/v1/documents", json!({"documents": vec![json!({"doc_id": id}); 21]}), "documents"),
        ("/v1/documents", json!({"documents": [{"doc_id": id}, {}]}), "documents[1]"),
        ("/v1/documents", json!({"documents": [{"doc_id": id}, {"doc_id": "x"}]}), "documents[1].doc_id"),
        (
            "/v1/documents",
            json!({"documents": [{"doc_id": id}], "response": {"budget": {"max_chars_total": 0}}}),
            "response.budget.max_chars_total",
        ),
        ("/v1/document", json!({}), "doc_id"),
        ("/v1/document", json!({"doc_id": "abc"}), "doc_id"),
        ("/v1/document", json!({"doc_id": id, "content": {"max_chars": 0}}), "content.max_chars"),
        ("/v1/document", json!({"doc_id": id, "content": {"range": {"start_char": -1}}}), "content.range.start_char"),
        ("/v1/document", json!({"doc_id": id, "content": {"range": {"max_chars": 0}}}), "content.range.max_chars"),
        ("/v1/document", json!({"doc_id": id, "content": {"range": {"capture_id": "x"}}}), "content.range.capture_id"),
        ("/v1/feedback", json!({"event_type": "stale_result", "rank": 0}), "rank"),
        ("/v1/feedback", json!({"event_type": "stale_result", "search_id": "x"}), "search_id"),
        ("/v1/feedback", json!({"event_type": "stale_result", "passage_id": "x"}), "passage_id"),
        ("/v1/feedback", json!({"event_type": "stale_result", "comment": "x".repeat(4097)}), "comment"),
        ("/v1/files/presign", json!({"filename": "", "size": 1}), "filename"),
        ("/v1/files/presign", json!({"filename": "x".repeat(513), "size": 1}), "filename"),
        ("/v1/files/presign", json!({"filename": "a.txt", "size": -1}), "size"),
        ("/v1/files/presign", json!({"filename": "a.txt", "size": 1, "content_type": "x".repeat(256)}), "content_type"),
    ] {
        let answer = api.post(path, &body).await;
        answer.expect_invalid(field);
        let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(field) || field == "doc_id", "{message}");
    }
    assert_eq!(api.searches(), 0);
}

#[actix_web::test]
async fn errors_do_not_echo_what_was_sent_at_length() {
    let api = Api::new().await;
    let long = "y".repeat(500_000);
    for body in [json!({"query": "x", "max_results": long}), json!({"query": "x", long.clone(): 1})] {
        let answer = api.search(body).await;
        answer.expect_error(400, "validation_error");
        assert!(answer.bytes.len() < 3_000, "{} bytes", answer.bytes.len());
    }
    let answer = api.search(json!({"query": "x", "response": {"verbosity": long}})).await;
    assert!(answer.bytes.len() < 20_000);
}

#[actix_web::test]
async fn any_text_is_a_query() {
    let api = Api::new().await;
    for query in ["\"", "a AND (b OR", "site:x -y", "{}[]", "🦀", "\u{0}", "\\", " ", "SELECT 1; --"] {
        let answer = api.search(json!({"query": query})).await;
        assert_eq!(answer.status, 200, "{query:?}");
        assert_eq!(api.world.engine.requests().pop().unwrap().texts, [query]);
    }
    let longest = "é".repeat(8192);
    assert_eq!(api.search(json!({"query": longest})).await.status, 200);
}

#[actix_web::test]
async fn schema_annotations_are_ignored() {
    let api = Api::new().await;
    let answer = api.search(json!({"$schema": "https://x.example/s.json", "query": "x"})).await;
    assert_eq!(answer.status, 200);
    assert_eq!(api.post("/v1/files/index", &json!({"$schema": Value::Null})).await.status, 202);
}
