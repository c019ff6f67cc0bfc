//! `retrieval login`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::keys::me;
use crate::mock_server::{MockServer, Reply};
use crate::program::{Home, KEY, with_input};

const ID: &str = "5b0f3a52-2a0c-4ad1-9b1b-9cf8a4c4a001";

/// Key without any scope.
const POWERLESS: &str = "of-little-use";

fn service() -> MockServer {
    MockServer::start(|request, _| match request.header("authorization") {
        Some(token) if token.ends_with(KEY) || token.ends_with(POWERLESS) => match request.line.as_str() {
            "GET /v1/me" => me(),
            _ => Reply::json(200, &json!({ "request_id": ID, "files": [] })),
        },
        _ => Reply::error(401, "invalid_api_key"),
    })
}

/// A service of an earlier version, without `/v1/me`.
fn earlier_service() -> MockServer {
    MockServer::start(|request, _| match (request.line.as_str(), request.header("authorization")) {
        ("GET /v1/me", _) => Reply::error(404, "not_found"),
        (_, Some(token)) if token.ends_with(KEY) => Reply::json(200, &json!({ "request_id": ID, "files": [] })),
        (_, Some(token)) if token.ends_with(POWERLESS) => Reply::error(403, "insufficient_scope"),
        _ => Reply::error(401, "invalid_api_key"),
    })
}

#[test]
fn valid_key_is_stored_with_owner_access_only() {
    let (home, server) = (Home::new(), service());
    let login = home.command(&["login", "--base-url", server.address(), "--workspace-id", ID]);
    let done = with_input(login, &format!("{KEY}\n"));
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert!(!done.stdout.contains(KEY) && !done.stderr.contains(KEY));
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.config()), 0o600);
    assert_eq!(mode(home.config().parent().unwrap()), 0o700);
    assert_eq!(home.run(&["files", "list", "--json"]).json()[0]["files"], json!([]));
    // The stored organization is used: a workspace search is sent instead of rejected.
    assert_eq!(home.run(&["search", "x", "--scope", "workspace"]).code, Some(6));
    assert_eq!(server.requests().last().unwrap().json()["scope"]["workspace_id"], ID);
}

#[test]
fn key_with_few_scopes_is_valid() {
    for server in [service(), earlier_service()] {
        let home = Home::new();
        let login = home.command(&["login", "--json", "--base-url", server.address()]);
        let done = with_input(login, &format!("{POWERLESS}\n"));
        assert_eq!(done.json()[0]["base_url"], server.address());
    }
}

#[test]
fn key_is_verified_without_a_list_of_all_files() {
    let earlier = ["GET /v1/me", "GET /v1/files?limit=1"];
    for (server, expected) in [(service(), &earlier[..1]), (earlier_service(), &earlier[..])] {
        let home = Home::new();
        let login = home.command(&["login", "--base-url", server.address()]);
        assert_eq!(with_input(login, &format!("{KEY}\n")).code, Some(0));
        let lines: Vec<String> = server.requests().into_iter().map(|request| request.line).collect();
        assert_eq!(lines, expected);
    }
}

#[test]
fn invalid_key_changes_nothing() {
    let (home, server) = (Home::new(), service());
    for (key, exit) in [("wrong\n", 3), ("", 2), ("\n", 2), ("\u{1}\n", 2)] {
        let done = with_input(home.command(&["login", "--base-url", server.address()]), key);
        assert_eq!(done.code, Some(exit), "{key:?}: {done:#?}");
        assert!(!home.config().exists());
    }
}

#[test]
fn another_key_in_the_environment_is_named() {
    let (home, server) = (Home::new(), service());
    for (variable, is_named) in [("another", true), (KEY, false)] {
        let mut login = home.command(&["login", "--base-url", server.address()]);
        login.env("RETRIEVAL_API_KEY", variable);
        let done = with_input(login, &format!("{KEY}\n"));
        assert_eq!(done.code, Some(0), "{done:#?}");
        assert_eq!(done.stderr.contains("RETRIEVAL_API_KEY holds another key"), is_named, "{done:#?}");
    }
}

#[test]
fn unwritable_folder_is_named() {
    let (home, server) = (Home::new(), service());
    // A file in place of the folder fails for root too.
    fs::write(home.path().join("config"), "").unwrap();
    let done = with_input(home.command(&["login", "--base-url", server.address()]), &format!("{KEY}\n"));
    assert_eq!(done.code, Some(1), "{done:#?}");
    assert!(done.stderr.contains("cannot write") && done.stderr.contains("config.toml"), "{done:#?}");
}
