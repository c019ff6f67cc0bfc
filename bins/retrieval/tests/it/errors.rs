//! Exit statuses and messages.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::keys::me;
use crate::mock_server::{MockServer, Reply};
use crate::program::{Home, KEY, with_input};

#[test]
fn exit_status_follows_the_kind_of_error() {
    let cases = [
        (400, "validation_error", 2),
        (401, "invalid_api_key", 3),
        (402, "insufficient_balance", 3),
        (403, "insufficient_scope", 3),
        (404, "document_not_found", 4),
        (413, "file_too_large", 2),
    ];
    for (status, code, exit) in cases {
        let server = MockServer::start(move |_, _| Reply::error(status, code));
        let home = Home::new();
        let plain = home.run_at(&server, &["search", "tides"]);
        assert_eq!((plain.code, plain.stdout.as_str()), (Some(exit), ""), "{plain:#?}");
        assert!(plain.stderr.starts_with("error: ") && plain.stderr.contains(code), "{plain:#?}");
        assert_eq!(plain.stderr.contains("retrieval login"), status == 401, "{plain:#?}");
        let error = home.run_at(&server, &["search", "tides", "--json"]).error();
        assert_eq!((error["code"].as_str(), error["status"].as_u64()), (Some(code), Some(u64::from(status))));
        assert_eq!(
            (error["exit_status"].as_i64(), error["details"]["field"].as_str()),
            (Some(exit.into()), Some("query"))
        );
    }
}

#[test]
fn temporary_and_invalid_responses_have_different_status() {
    let home = Home::new();
    let mut nowhere = home.command(&["search", "tides", "--json", "--base-url", "http://127.0.0.1:1"]);
    let nowhere = nowhere.env("RETRIEVAL_API_KEY", KEY).output().unwrap();
    assert_eq!(nowhere.status.code(), Some(5));
    assert!(!String::from_utf8(nowhere.stderr).unwrap().contains(KEY));
    let server = MockServer::start(|_, _| Reply::Full(200, String::new(), b"<html>".to_vec()));
    assert_eq!(home.run_at(&server, &["files", "list"]).code, Some(6));
    let server = MockServer::start(|_, _| Reply::error(500, "internal_error"));
    assert_eq!(home.run_at(&server, &["files", "list"]).code, Some(6));
}

#[test]
fn server_error_text_is_sanitized() {
    let server = MockServer::start(|_, _| Reply::error(400, "\u{1b}]0;owned\u{7}"));
    let done = Home::new().run_at(&server, &["search", "tides"]);
    assert_eq!(done.code, Some(2));
    assert!(!done.stderr.chars().any(|c| c.is_control() && c != '\n'), "{done:#?}");
}

#[test]
fn invalid_command_line_sends_no_request() {
    let server = MockServer::start(|_, _| Reply::Close);
    let home = Home::new();
    for wrong in [
        &["search"][..],
        &["search", "x", "-n", "51"],
        &["search", "x", "-v", "loud"],
        &["search", "x", "--only-domains"],
        &["search", "x", "--session", "mine"],
        &["search", "x", "--base-url", "somewhere"],
        &["read", "page"],
        &["read", "https://a.example/", "--all", "--query", "x"],
        &["feedback", "nice"],
        &["files", "add"],
        &["files", "add", "*.none"],
        &["files", "rm", ".."],
        &["files", "get", ".."],
        &["files", "get", "a/b.md"],
        &["keys", "create"],
        &["keys", "create", "--name", "a", "--limit-rps", "0"],
        &["nonsense"],
    ] {
        let done = home.run_at(&server, wrong);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{wrong:?}: {done:#?}");
        let json = [wrong, &["--json"]].concat();
        assert_eq!(home.run_at(&server, &json).error()["exit_status"], 2, "{wrong:?}");
    }
    assert!(server.requests().is_empty());
    assert_eq!(home.run(&["--version"]).code, Some(0));
    assert!(home.run(&["--help"]).stdout.contains("interrupted"));
}

#[test]
fn refused_key_is_named_by_its_source() {
    let (home, server) = (Home::new(), MockServer::start(|_, _| Reply::error(401, "invalid_api_key")));
    let variable = home.run_at(&server, &["me"]);
    assert!(variable.stderr.contains("the key in RETRIEVAL_API_KEY was refused"), "{variable:#?}");
    let flag = home.run_at(&server, &["me", "--api-key", "other"]);
    assert!(flag.stderr.contains("the key in --api-key was refused"), "{flag:#?}");
    fs::create_dir_all(home.config().parent().unwrap()).unwrap();
    fs::write(home.config(), format!("base_url = \"{}\"\napi_key = \"{KEY}\"\n", server.address())).unwrap();
    fs::set_permissions(home.config(), fs::Permissions::from_mode(0o600)).unwrap();
    let file = home.run(&["me"]);
    assert!(file.stderr.contains("the key in the settings file was refused: run `retrieval login`"), "{file:#?}");
    for done in [variable, flag, file] {
        assert_eq!(done.code, Some(3), "{done:#?}");
    }
}

#[test]
fn unknown_path_questions_the_base_url() {
    let server = MockServer::start(|_, _| Reply::error(404, "not_found"));
    let done = Home::new().run_at(&server, &["me"]);
    assert_eq!(done.code, Some(4), "{done:#?}");
    assert!(done.stderr.contains("check --base-url"), "{done:#?}");
}

#[test]
fn usage_names_no_options_of_the_environment() {
    let server = MockServer::start(|_, _| Reply::Close);
    for (arguments, usage) in [
        (&["search"][..], "retrieval search [OPTIONS] <QUERY>..."),
        (&["read"], "retrieval read [OPTIONS] <DOCUMENT>..."),
        (&["feedback"], "retrieval feedback [OPTIONS] <EVENT>"),
        (&["completions"], "retrieval completions [OPTIONS] <SHELL>"),
        (&["files", "add"], "retrieval files add [OPTIONS] <PATHS>..."),
        (&["files", "get"], "retrieval files get [OPTIONS] <NAME>"),
        (&["files", "show"], "retrieval files show [OPTIONS] <NAME>"),
        (&["files", "rm"], "retrieval files rm [OPTIONS] <NAMES>..."),
        (&["files", "status"], "retrieval files status [OPTIONS] <SYNC_ID>"),
        (&["keys", "create"], "retrieval keys create [OPTIONS] --name <NAME>"),
        (&["keys", "revoke"], "retrieval keys revoke [OPTIONS] <API_KEY_ID>"),
    ] {
        let done = Home::new().run_at(&server, arguments);
        assert!(done.stderr.contains(&format!("Usage: {usage}\n")), "{done:#?}");
        assert!(!done.stderr.contains("--api-key"), "{done:#?}");
    }
}

#[test]
fn missing_key_sends_no_request() {
    let done = Home::new().run(&["search", "tides"]);
    assert_eq!(done.code, Some(3));
    assert!(done.stderr.contains("retrieval login"), "{done:#?}");
}

#[test]
fn readable_or_invalid_settings_file_is_rejected() {
    let home = Home::new();
    fs::create_dir_all(home.config().parent().unwrap()).unwrap();
    let write = |text: String, mode| {
        fs::write(home.config(), text).unwrap();
        fs::set_permissions(home.config(), fs::Permissions::from_mode(mode)).unwrap();
    };
    for mode in [0o644, 0o640, 0o604, 0o620] {
        write(format!("api_key = \"{KEY}\"\n"), mode);
        let done = home.run(&["search", "tides"]);
        assert_eq!(done.code, Some(3), "{mode:o}: {done:#?}");
        assert!(done.stderr.contains("chmod 600"), "{done:#?}");
    }
    for wrong in
        [format!("api_key = \"{KEY}\"\nkey = 1\n"), format!("\napi_key = {KEY}\n"), format!("api_key = [\"{KEY}\"]")]
    {
        write(wrong.clone(), 0o600);
        let done = home.run(&["search", "tides"]);
        assert_eq!(done.code, Some(2), "{wrong}: {done:#?}");
        assert!(done.stderr.contains("config.toml") && !done.stderr.contains(KEY), "{done:#?}");
    }
}

#[test]
fn named_settings_file_must_exist() {
    let (home, server) = (Home::new(), MockServer::start(|_, _| me()));
    let named = home.path().join("named.toml");
    let named = named.to_str().unwrap();
    let flag = home.run(&["me", "--config", named]);
    let mut variable = home.command(&["me"]);
    variable.env("RETRIEVAL_CONFIG", named);
    for done in [flag, with_input(variable, "")] {
        assert_eq!(done.code, Some(2), "{done:#?}");
        assert!(done.stderr.contains(named) && done.stderr.contains("does not exist"), "{done:#?}");
    }
    let login = home.command(&["login", "--config", named, "--base-url", server.address()]);
    assert_eq!(with_input(login, &format!("{KEY}\n")).code, Some(0), "it creates the file");
    assert_eq!(home.run(&["me", "--config", named]).code, Some(0));
}

#[test]
fn stored_key_is_not_sent_to_another_service() {
    let home = Home::new();
    fs::create_dir_all(home.config().parent().unwrap()).unwrap();
    fs::write(home.config(), format!("base_url = \"http://127.0.0.1:1\"\napi_key = \"{KEY}\"\n")).unwrap();
    fs::set_permissions(home.config(), fs::Permissions::from_mode(0o600)).unwrap();
    let server = MockServer::start(|_, _| Reply::Close);
    let done = home.run(&["search", "tides", "--base-url", server.address()]);
    assert_eq!(done.code, Some(3), "{done:#?}");
    assert!(server.requests().is_empty());
}
