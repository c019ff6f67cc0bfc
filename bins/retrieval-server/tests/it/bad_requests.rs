//! Malformed bodies, invalid fields and unusual queries.

use serde_json::{Value, json};

use crate::support::{Client, Database, Server};

on_both_databases!(
    malformed_bodies_are_refused_with_details,
    invalid_fields_are_refused_at_every_depth,
    any_text_is_a_valid_query
);

fn raw(client: &Client, path: &str, body: &[u8]) -> Value {
    client.send("POST", path, &[], Some(body)).error(400, "validation_error")
}

fn malformed_bodies_are_refused_with_details(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let oversized = format!("{{\"query\": \"{}\"}}", "x".repeat(1 << 20));
    let deep = format!("{{\"debug\": {{\"a\": {}", "[".repeat(100_000));
    let bodies: [&[u8]; 12] = [
        b"",
        b"   ",
        b"{",
        b"[]",
        b"null",
        b"\"query\"",
        b"{\"query\": \"x\"} {}",
        b"{\"query\": \"x\"} trailing",
        b"{\"query\": \"\xff\xfe\"}",
        b"{\"query\": \"\\ud800\"}",
        oversized.as_bytes(),
        deep.as_bytes(),
    ];
    for path in ["/v1/search", "/v1/document", "/v1/documents", "/v1/feedback", "/v1/files/presign", "/v1/files/index"]
    {
        for body in bodies {
            let error = raw(&client, path, body);
            let shown = String::from_utf8_lossy(&body[..body.len().min(40)]).into_owned();
            assert!(error["details"]["error"].is_string(), "{path} {shown}: {error:#}");
        }
        raw(&client, path, b"{\"query\": \"x\", \"unknown\": 1}");
    }
    // A body one byte below the limit is parsed: it fails because of its query, not its size.
    let largest = format!("{{\"query\": \"{}\"}}", "x".repeat((1 << 20) - 13));
    let error = raw(&client, "/v1/search", largest.as_bytes());
    assert_eq!(error["details"]["field"], "query", "{error:#}");

    let typed = |content_type: &str| {
        client.send("POST", "/v1/search", &[("Content-Type", content_type)], Some(b"{\"query\": \"x\"}"))
    };
    typed("application/json; charset=utf-8").ok();
    typed("Application/JSON").ok();
    typed("text/plain").error(400, "validation_error");
    typed("application/x-www-form-urlencoded").error(400, "validation_error");
    let gzip = client.send("POST", "/v1/search", &[("Content-Encoding", "gzip")], Some(b"{\"query\": \"x\"}"));
    gzip.error(400, "validation_error");
    // The server still responds afterwards.
    client.search_web("x");
}

fn invalid_fields_are_refused_at_every_depth(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let search = [
        ("query", json!({ "query": "" })),
        ("query", json!({})),
        ("query", json!({ "query": null })),
        ("query", json!({ "query": 5 })),
        ("query", json!({ "query": "x".repeat(8_193) })),
        ("max_results", json!({ "query": "x", "max_results": 0 })),
        ("max_results", json!({ "query": "x", "max_results": 51 })),
        ("max_results", json!({ "query": "x", "max_results": 1.5 })),
        ("filters.nope", json!({ "query": "x", "filters": { "nope": 1 } })),
        ("filters.language", json!({ "query": "x", "filters": { "language": "english" } })),
        ("filters.country", json!({ "query": "x", "filters": { "country": "x" } })),
        (
            "freshness_policy.published_after",
            json!({ "query": "x", "freshness_policy": { "published_after": "yesterday" } }),
        ),
        ("freshness_policy.freshness", json!({ "query": "x", "freshness_policy": { "freshness": "pz" } })),
        (
            "source_policy.include_domains[1]",
            json!({ "query": "x", "source_policy": { "include_domains": ["a.example", "not a domain"] } }),
        ),
        (
            "response.budget.max_chars_total",
            json!({ "query": "x", "response": { "budget": { "max_chars_total": 0 } } }),
        ),
        ("response.budget.nope", json!({ "query": "x", "response": { "budget": { "nope": 1 } } })),
        ("response.verbosity", json!({ "query": "x", "response": { "verbosity": 5 } })),
        ("scope.indexes[0]", json!({ "query": "x", "scope": { "indexes": ["intranet"] } })),
        ("scope.workspace_id", json!({ "query": "x", "scope": { "indexes": ["workspace"] } })),
        ("scope.workspace_id", json!({ "query": "x", "scope": { "indexes": ["workspace"], "workspace_id": "x" } })),
        ("session_id", json!({ "query": "x", "session_id": "abc" })),
    ];
    for (field, body) in search {
        let error = client.post("/v1/search", &body).error(400, "validation_error");
        assert_eq!(error["details"]["field"], field, "{body}: {error:#}");
    }
    let document = [
        ("doc_id", json!({})),
        ("doc_id", json!({ "doc_id": "x" })),
        ("canonical_url", json!({ "canonical_url": "not a url" })),
        ("canonical_url", json!({ "canonical_url": "ftp://example.com/" })),
        ("canonical_url", json!({ "canonical_url": "https://user:secret@example.com/" })),
        ("include[1]", json!({ "canonical_url": "https://example.com/", "include": ["metadata", "everything"] })),
        ("content.max_chars", json!({ "canonical_url": "https://example.com/", "content": { "max_chars": 0 } })),
        (
            "content.range.start_char",
            json!({ "canonical_url": "https://example.com/", "content": { "range": { "start_char": -1 } } }),
        ),
        (
            "content.range.max_chars",
            json!({ "canonical_url": "https://example.com/", "content": { "range": { "max_chars": 0 } } }),
        ),
        ("content.selection", json!({ "canonical_url": "https://example.com/", "content": { "selection": "some" } })),
        ("content.nope", json!({ "canonical_url": "https://example.com/", "content": { "nope": 1 } })),
    ];
    for (field, body) in document {
        let error = client.document(body.clone()).error(400, "validation_error");
        assert_eq!(error["details"]["field"], field, "{body}: {error:#}");
    }
    let header = [("X-Session-ID", "abc")];
    let error = client.send("GET", "/v1/files", &header, None).error(400, "validation_error");
    assert_eq!(error["message"], "X-Session-ID must be a UUID");
    let body = client.post("/v1/search", &json!({ "query": "x", "session_id": "abc" })).error(400, "validation_error");
    assert_eq!(body["message"], "session_id must be a UUID");
    for path in ["/v1/files?limits=1", "/v1/files/index/x?a=b"] {
        client.get(path).error(400, "validation_error");
    }
}

fn any_text_is_a_valid_query(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    client.upload("a.txt", "The walrus eats \"clams\" AND (oysters) at 5:30, title:none - 東京の天気は晴れです。");
    client.index();
    server.import(&[json!({ "url": "https://example.com/", "text": "A page about the walrus." })]);
    let paste = "walrus ".repeat(1_170);
    let queries = [
        "\"",
        "\"walrus",
        "AND",
        "walrus AND",
        "NOT walrus",
        "title:walrus",
        "(walrus",
        "walrus)",
        "[a TO z]",
        "{a TO z}",
        "walrus^9",
        "walrus~",
        "*",
        "?",
        "wal*",
        "/walrus/",
        "\\",
        "\\\"",
        "+walrus -clams",
        "^",
        "%",
        "_",
        "'; DROP TABLE x",
        "\u{0}",
        "walrus\u{0}clams",
        "👨‍👩‍👧‍👦",
        "東京",
        "ﷺ",
        "e\u{301}\u{301}\u{301}",
        "\u{202e}walrus",
        "the",
        "of the and",
        " ",
        "\n",
        paste.as_str(),
    ];
    for query in queries {
        for exact in [false, true] {
            let body = json!({
                "scope": { "indexes": ["web", "workspace"], "workspace_id": client.organization },
                "filters": { "exact_match": exact },
            });
            let reply = client.search(query, body);
            assert_eq!(reply.status, 200, "{query:?}: {reply:#?}");
        }
    }
    let exact = |query: &str| {
        let body = json!({ "scope": client.workspace_scope(), "filters": { "exact_match": true } });
        client.search(query, body).ok()["results"].as_array().unwrap().len()
    };
    assert_eq!((exact("walrus eats"), exact("eats walrus"), exact("天気は晴れ")), (1, 0, 1));
    assert!(!client.search_workspace("what do the walruses usually eat")["results"].as_array().unwrap().is_empty());
}
