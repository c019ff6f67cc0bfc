//! `retrieval keys`, and the organization of the key in searches.

use std::time::Duration;

use serde_json::json;

use crate::mock_server::{MockServer, Reply, Request};
use crate::program::{Home, with_input};

const ID: &str = "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a001";

fn service() -> MockServer {
    MockServer::start(|request: &Request, _| {
        let mut key = json!({ "request_id": ID, "api_key_id": ID, "name": "sync\u{1b}[31m", "key_prefix": "rsk_abcdef",
            "scopes": ["files:read"], "limit_rps": 5, "status": "active", "created_at": "2026-01-05T10:00:00Z" });
        match request.line.split_once(' ').unwrap() {
            ("GET", "/v1/keys") => Reply::json(200, &json!({ "request_id": ID, "keys": [key] })),
            ("POST", "/v1/keys") => {
                key["key"] = json!("rsk_abcdefSECRET");
                Reply::json(200, &key)
            }
            ("DELETE", target) if target.replace("%2D", "-") == format!("/v1/keys/{ID}") => {
                key["status"] = json!("revoked");
                Reply::json(200, &key)
            }
            ("GET", "/v1/me") => me(),
            ("POST", "/v1/search") => Reply::json(
                200,
                &json!({ "request_id": ID, "search_id": ID, "session_id": ID,
                "results": [], "warnings": null }),
            ),
            _ => Reply::error(404, "key_not_found"),
        }
    })
}

/// Returns the organization `Acme` and a key without scopes.
pub fn me() -> Reply {
    let access = json!({ "rate_limit": { "limit_rps": 9, "remaining": 8, "reset_at": "2026-01-05T10:00:01Z" } });
    let me = json!({ "request_id": ID, "access": access,
        "organization": { "organization_id": ID, "name": "Acme", "billed": false },
        "credential": { "kind": "api_key", "scopes": [], "limit_rps": 9 },
        "quotas": { "files": { "used": 0 }, "bytes": { "used": 0 } } });
    Reply::json(200, &me)
}

#[test]
fn keys_are_listed_created_and_revoked() {
    let (home, server) = (Home::new(), service());
    let listed = home.run_at(&server, &["keys", "list"]);
    assert!(listed.stdout.contains("sync␛[31m") && listed.stdout.contains("never"), "{listed:#?}");
    let arguments = [
        "keys",
        "create",
        "--name",
        "sync",
        "--scopes",
        "files:read,files:write",
        "--limit-rps",
        "5",
        "--expires-at",
        "x",
    ];
    let created = home.run_at(&server, &arguments);
    assert_eq!((created.code, created.stdout.as_str()), (Some(0), "rsk_abcdefSECRET\n"), "{created:#?}");
    assert!(created.stderr.contains(ID) && !created.stderr.contains("SECRET"), "{created:#?}");
    let request = server.requests().last().unwrap().json();
    let expected =
        json!({ "name": "sync", "scopes": ["files:read", "files:write"], "limit_rps": 5, "expires_at": "x" });
    assert_eq!(request, expected);
    assert_eq!(home.run_at(&server, &["keys", "create", "--name", "a", "--json"]).json()[0]["api_key_id"], ID);
    assert_eq!(server.requests().last().unwrap().json(), json!({ "name": "a" }));
    assert!(home.run_at(&server, &["keys", "revoke", ID]).stdout.starts_with("revoked"));
    assert_eq!(home.run_at(&server, &["keys", "revoke", "x"]).code, Some(4));
}

#[test]
fn key_of_a_lost_answer_is_looked_up() {
    let page = || Reply::Full(502, String::new(), b"<html>a proxy's page</html>".to_vec());
    let answers: [(fn() -> Reply, bool); 4] = [
        (|| Reply::Close, true),
        (page, true),
        (|| Reply::Silence(Duration::from_secs(20)), true),
        (|| Reply::error(403, "insufficient_scope"), false),
    ];
    for (answer, is_lost) in answers {
        let server = MockServer::start(move |_, _| answer());
        let done = Home::new().run_at(&server, &["keys", "create", "--name", "a", "--timeout", "1"]);
        assert_eq!((done.code, server.requests().len()), (Some(if is_lost { 5 } else { 3 }), 1), "{done:#?}");
        let advice = "; it may have been executed: see `retrieval keys list`";
        assert_eq!(done.stderr.contains(advice), is_lost, "{done:#?}");
        assert!(!done.stderr.contains("try again"), "{done:#?}");
    }
}

#[test]
fn workspace_is_that_of_the_key() {
    let (home, server) = (Home::new(), service());
    for scope in ["workspace", "all"] {
        let done = home.run_at(&server, &["search", "x", "--scope", scope, "--label", "finance"]);
        assert_eq!(done.code, Some(0), "{done:#?}");
        let request = server.requests().last().unwrap().json();
        assert_eq!(request["scope"]["workspace_id"], ID);
        assert_eq!(request["filters"], json!({ "labels": ["finance"] }));
    }
    // A search of the web does not ask.
    let before = server.requests().len();
    assert_eq!(home.run_at(&server, &["search", "x"]).code, Some(0));
    assert_eq!(server.requests().len(), before + 1);
}

#[test]
fn mcp_asks_for_the_workspace_once() {
    let (home, server) = (Home::new(), service());
    let calling = |id: u32, arguments| {
        let call = json!({ "name": "search", "arguments": arguments });
        format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call }))
    };
    let workspace = json!({ "query": "x", "indexes": ["workspace"] });
    let input = calling(1, workspace.clone()) + &calling(2, workspace) + &calling(3, json!({ "query": "x" }));
    let done = with_input(home.command_at(&server, &["mcp"]), &input);
    assert_eq!(done.json().len(), 3, "{done:#?}");
    let requests = server.requests();
    let asked = requests.iter().filter(|request| request.line == "GET /v1/me").count();
    assert_eq!(asked, 1);
    let searched = requests.iter().filter(|request| request.line == "POST /v1/search").map(Request::json);
    let scopes: Vec<_> = searched.map(|request| request["scope"]["workspace_id"].clone()).collect();
    assert_eq!(scopes.iter().filter(|id| **id == json!(ID)).count(), 2, "{scopes:?}");
}
