//! `doctor`: findings before, during and after a server, without traces.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use test_support::chat::{ChatEndpoint, completion};
use test_support::endpoint::Reply;

use crate::signing::SigningKey;
use crate::support::{Database, Finished, Page, Server, Site, program};

on_both_databases!(running_server_passes_and_keeps_no_trace);

fn findings(done: &Finished) -> Vec<Value> {
    let parse = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {done:#?}"));
    done.stdout.lines().map(parse).collect()
}

/// Asserts the findings that do not pass: each has a hint, and those that pass have none.
#[track_caller]
fn assert_problems(done: &Finished, expected: &[(&str, &str)]) {
    let findings = findings(done);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    for finding in &findings {
        assert_eq!(finding["hint"].is_null(), finding["status"] == "pass", "{finding}");
    }
    let problems = findings.iter().filter(|finding| finding["status"] != "pass");
    let problems: Vec<_> = problems.map(|finding| (text(&finding["check"]), text(&finding["status"]))).collect();
    let expected: Vec<_> = expected.iter().map(|(check, status)| ((*check).to_owned(), (*status).to_owned())).collect();
    assert_eq!(problems, expected, "{done:#?}");
    let names: Vec<String> = findings.iter().map(|finding| text(&finding["check"])).collect();
    let checks = "data_folder database index storage sandbox address_guard clock disk connections certificate backup";
    for check in checks.split(' ').chain(["round_trip", "isolation"]) {
        assert!(names.iter().any(|name| name == check), "{check} is not in {names:?}");
    }
}

const NO_SERVER: [(&str, &str); 2] = [("round_trip", "warn"), ("isolation", "warn")];

#[test]
fn installation_without_a_server_passes_with_warnings() {
    let mut server = Server::prepare(Database::sqlite(), "");
    let fresh = server.command(&["doctor", "--json"]);
    assert_eq!(fresh.code(), Some(0), "{fresh:#?}");
    assert_problems(&fresh, &NO_SERVER);
    assert!(!server.data_folder().exists(), "nothing was created");
    server.resume();
    let running = server.command(&["doctor", "--json"]);
    assert!(running.stdout.contains("in use by a running server"), "{}", running.stdout);
    assert_eq!(server.stop().code(), Some(0));
    let backup = server.data_folder().with_file_name("backup");
    assert_eq!(server.command(&["backup", backup.to_str().unwrap()]).code(), Some(0));
    let stopped = server.command(&["doctor"]);
    assert_eq!(stopped.code(), Some(0), "{stopped:#?}");
    assert_problems(&stopped, &NO_SERVER);
}

fn running_server_passes_and_keeps_no_trace(database: Database) {
    let server = Server::start(database);
    let done = server.command(&["doctor", "--json"]);
    assert_eq!(done.code(), Some(0), "{done:#?}");
    assert_problems(&done, &[("backup", "warn")]);
    assert_eq!(done.stdout.contains("the tools of PostgreSQL do not copy"), server.database.is_postgres());
    for organization in server.command(&["admin", "org", "list"]).lines() {
        if organization["name"] == "doctor probe" {
            let left = (&organization["state"], &organization["files"], &organization["documents"]);
            assert_eq!(left, (&json!("deleted"), &json!(0), &json!(0)), "{organization}");
            let id = organization["organization_id"].as_str().unwrap();
            let ledger = server.command(&["admin", "balance", "ledger", "--org", id]);
            assert!(ledger.stderr.contains("has no balance"), "{ledger:#?}");
        }
    }
}

/// The steps fail, and the organizations are deleted nevertheless.
#[test]
fn broken_round_trip_is_explained_and_cleaned_up() {
    let mut server = Server::prepare(Database::sqlite(), "");
    let settings = fs::read_to_string(server.settings_file()).unwrap();
    // Nobody listens there.
    let elsewhere = settings.replace("[storage]\n", "[storage]\npublic_endpoint = \"http://127.0.0.1:9\"\n");
    fs::write(server.settings_file(), elsewhere).unwrap();
    server.resume();
    let done = server.command(&["doctor", "--json"]);
    assert_eq!(done.code(), Some(1), "{done:#?}");
    assert_problems_of(&done, "round_trip", "storage.public_endpoint");
    let left = server.command(&["admin", "org", "list"]).lines();
    assert!(left.iter().filter(|one| one["name"] == "doctor probe").all(|one| one["state"] == "deleted"), "{left:#?}");
}

/// The working directory decides about a relative data folder.
#[test]
fn server_whose_data_is_elsewhere_is_explained() {
    let (running, here) = (Server::start(Database::sqlite()), Server::prepare(Database::sqlite(), ""));
    let address = |server: &Server| format!("{}\"", server.base().strip_prefix("http://").unwrap());
    let settings = fs::read_to_string(here.settings_file()).unwrap();
    fs::write(here.settings_file(), settings.replace(&address(&here), &address(&running))).unwrap();
    let done = here.command(&["doctor", "--json"]);
    assert_eq!(done.code(), Some(1), "{done:#?}");
    assert!(done.stderr.contains("failed checks: round_trip"), "{}", done.stderr);
    assert_problems_of(&done, "round_trip", "its settings file and in its working directory");
    assert!(!done.stdout.contains("see the check `database`"), "{}", done.stdout);
    assert!(!here.data_folder().exists(), "nothing was created");
}

/// Asserts that a check failed with a hint that contains `hint`.
#[track_caller]
fn assert_problems_of(done: &Finished, check: &str, hint: &str) {
    let findings = findings(done);
    let finding = findings.iter().find(|finding| finding["check"] == check).unwrap_or_else(|| panic!("{done:#?}"));
    assert_eq!(finding["status"], "fail", "{finding}");
    assert!(finding["hint"].as_str().unwrap().contains(hint), "{finding}");
}

#[test]
fn each_missing_dependency_fails_with_a_hint() {
    let nobody = "127.0.0.1:9";
    for (sections, storage, check, hint) in [
        (format!("[index]\nbackend = \"meilisearch\"\nurl = \"http://{nobody}\"\n"), "", "index", "index.url"),
        (format!("[index]\nbackend = \"qdrant\"\nurl = \"http://{nobody}\"\n"), "", "index", "6334"),
        (
            String::new(),
            "backend = \"s3\"\nendpoint = \"http://127.0.0.1:9\"\naccess_key_id = \"a\"\nsecret_access_key = \"b\"\n",
            "storage",
            "storage.endpoint",
        ),
        (
            format!("[rate_limit]\nbackend = \"redis\"\nurl = \"redis://{nobody}\"\n"),
            "",
            "rate_limit",
            "rate_limit.url",
        ),
        (
            format!("[auth.oauth]\nissuer = \"i\"\naudience = \"a\"\njwks_url = \"http://{nobody}/keys\"\n"),
            "",
            "issuer",
            "auth.oauth.jwks_url",
        ),
    ] {
        let server = Server::prepare(Database::sqlite(), &sections);
        let settings = fs::read_to_string(server.settings_file()).unwrap();
        fs::write(server.settings_file(), settings.replace("[storage]\n", &format!("[storage]\n{storage}"))).unwrap();
        let done = server.command(&["doctor", "--json"]);
        assert_eq!(done.code(), Some(1), "{done:#?}");
        assert_problems_of(&done, check, hint);
    }
    let postgres = Server::prepare(Database::Shared(format!("postgres://u:p@{nobody}/d")), "");
    assert_problems_of(&postgres.command(&["doctor", "--json"]), "database", "database.url");
}

#[test]
fn disabled_index_is_a_warning_about_what_needs_it() {
    let server = Server::prepare(Database::sqlite(), "[index]\nbackend = \"none\"\n");
    let done = server.command(&["doctor", "--json"]);
    let findings = findings(&done);
    let finding = findings.iter().find(|finding| finding["check"] == "index").unwrap();
    assert_eq!(finding["status"], "warn", "{finding}");
    let detail = finding["detail"].as_str().unwrap();
    assert!(detail.contains("searches of files return 503") && detail.contains("`web.providers`"), "{finding}");
}

#[test]
fn wrong_password_of_redis_is_named() {
    let Some(redis) = program::redis() else { return };
    let url = format!("redis://:hunter2@{}", redis.address());
    let server = Server::prepare(Database::sqlite(), &format!("[rate_limit]\nbackend = \"redis\"\nurl = \"{url}\"\n"));
    let done = server.command(&["doctor", "--json"]);
    assert_problems_of(&done, "rate_limit", "rate_limit.url");
    assert!(done.stdout.contains("Redis: authentication failed") && !done.stdout.contains("hunter2"), "{done:#?}");
}

#[test]
fn issuer_without_a_usable_key_fails() {
    let key = SigningKey::p256("a").jwk();
    let with = |name: &str, value: &str| {
        let mut key = key.clone();
        key[name] = json!(value);
        key
    };
    let bad = [with("use", "enc"), with("crv", "P-384"), with("alg", "ES512")];
    for (keys, status, detail) in [
        (bad.to_vec(), "fail", "no usable key"),
        ([&bad[..], std::slice::from_ref(&key)].concat(), "pass", "publishes usable keys: 1"),
    ] {
        let site = Site::start();
        site.put("/keys", Page::of("application/json", json!({"keys": keys}).to_string()));
        let url = site.url("/keys");
        let oauth = format!("[auth.oauth]\nissuer = \"i\"\naudience = \"a\"\njwks_url = {url:?}\n");
        let done = Server::prepare(Database::sqlite(), &oauth).command(&["doctor", "--json"]);
        let findings = findings(&done);
        let finding = findings.iter().find(|finding| finding["check"] == "issuer").unwrap();
        assert_eq!(finding["status"], status, "{finding}");
        assert!(finding["detail"].as_str().unwrap().contains(detail), "{finding}");
    }
}

#[test]
fn reasoning_model_is_asked_with_its_limit_of_tokens() {
    let chat = ChatEndpoint::start(|_, request| match request.body["max_tokens"].as_u64() {
        Some(16_000) => completion("moon"),
        _ => Reply::json(200, &json!({"choices": [{"message": {"content": null}, "finish_reason": "length"}]})),
    });
    for (max_tokens, status, hint) in [(16_000, "pass", ""), (1_000, "warn", "generate.max_tokens")] {
        let endpoint = format!("backend = \"http\"\nurl = {:?}\nmodel = \"m\"\n", chat.url());
        let sections = format!("[generate]\n{endpoint}max_tokens = {max_tokens}\n");
        let done = Server::prepare(Database::sqlite(), &sections).command(&["doctor", "--json"]);
        let findings = findings(&done);
        let finding = findings.iter().find(|finding| finding["check"] == "generator").unwrap();
        assert_eq!(finding["status"], status, "{finding}");
        assert!(finding["hint"].as_str().unwrap_or_default().contains(hint), "{finding}");
    }
}

#[test]
fn refused_settings_are_findings() {
    let server = Server::prepare(Database::sqlite(), "");
    let settings = fs::read_to_string(server.settings_file()).unwrap();
    fs::write(server.settings_file(), settings.replace("[server]\n", "[server]\nworkers = 5000\n")).unwrap();
    let done = server.command(&["doctor", "--json"]);
    assert_eq!(done.code(), Some(1), "{done:#?}");
    assert_problems_of(&done, "settings", "docs/configuration.md");
    assert!(done.stdout.contains("server.workers") && done.stderr.contains("server.workers"), "{done:#?}");
}

#[test]
fn public_url_that_leads_nowhere_is_a_warning() {
    let server = Server::prepare(Database::sqlite(), "");
    let settings = fs::read_to_string(server.settings_file()).unwrap();
    let elsewhere =
        settings.replace(&format!("public_url = \"{}\"", server.base()), "public_url = \"http://127.0.0.1:9\"");
    fs::write(server.settings_file(), elsewhere).unwrap();
    let done = server.command(&["doctor", "--json"]);
    assert_eq!(done.code(), Some(0), "{done:#?}");
    assert_problems(&done, &[&[("public_url", "warn")][..], &NO_SERVER].concat());
}

#[test]
fn data_folder_that_cannot_be_written_fails_with_a_hint() {
    if rustix::process::geteuid().is_root() {
        return println!("NOT RUN: root may write everywhere");
    }
    let server = Server::prepare(Database::sqlite(), "");
    fs::create_dir(server.data_folder()).unwrap();
    fs::set_permissions(server.data_folder(), Permissions::from_mode(0o500)).unwrap();
    let done = server.command(&["doctor", "--json"]);
    assert_eq!(done.code(), Some(1), "{done:#?}");
    assert_problems_of(&done, "data_folder", "may write");
    assert!(done.stdout.contains("cannot be written"), "{}", done.stdout);
}

#[test]
fn failed_check_is_named_and_fails_the_command() {
    let mut server = Server::start_with(Database::sqlite(), "[quotas]\nmin_free_disk_bytes = 0\n");
    server.kill();
    let settings = fs::read_to_string(server.settings_file()).unwrap();
    let much = settings.replace("min_free_disk_bytes = 0", "min_free_disk_bytes = 9000000000000000000");
    fs::write(server.settings_file(), much).unwrap();
    fs::write(server.data_folder().join("retrieval.db"), "this is not a database, but a text file of some length")
        .unwrap();
    for name in ["retrieval.db-wal", "retrieval.db-shm"] {
        let _ = fs::remove_file(server.data_folder().join(name));
    }
    let done = server.command(&["doctor", "--json"]);
    assert_eq!(done.code(), Some(1));
    assert_problems(&done, &[&[("database", "fail"), ("disk", "fail"), ("backup", "warn")][..], &NO_SERVER].concat());
    assert!(done.stderr.contains("failed checks: database, disk"), "{}", done.stderr);
}

#[test]
fn broken_embedding_model_fails_the_check_and_the_start() {
    let server = Server::prepare(Database::sqlite(), "[embed]\nbackend = \"local\"\ndir = \"/nowhere\"\n");
    let done = server.command(&["doctor", "--json"]);
    assert_eq!(done.code(), Some(1), "{done:#?}");
    assert_problems_of(&done, "embed", "embed.dir");
    let start = server.command(&["serve"]);
    assert_eq!(start.code(), Some(1), "{start:#?}");
    assert!(start.stderr.contains("embed.dir: `/nowhere`: is no folder"), "{}", start.stderr);
    assert!(!server.data_folder().exists(), "nothing was created");
}

#[test]
fn opened_networks_are_a_warning() {
    let server = Server::prepare(Database::sqlite(), "[fetch]\nallow_networks = [\"10.0.0.0/8\"]\n");
    let done = server.command(&["doctor", "--json"]);
    assert_problems(&done, &[&[("address_guard", "warn")][..], &NO_SERVER].concat());
    assert!(done.stdout.contains("10.0.0.1"), "{}", done.stdout);
}

/// A full disk makes the instance unready, with the reason.
#[test]
fn too_little_free_disk_space_is_not_ready() {
    let mut server = Server::prepare(Database::sqlite(), "[quotas]\nmin_free_disk_bytes = 9000000000000000000\n");
    server.spawn();
    let operations = server.operations();
    let body: Value = crate::support::until("an answer", std::time::Duration::from_secs(30), || {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build().into();
        let mut answer = agent.get(format!("{operations}/readyz")).call().ok()?;
        assert_eq!(answer.status(), 503);
        Some(serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap())
    });
    let disk = body["dependencies"].as_array().unwrap().iter().find(|one| one["name"] == "disk").unwrap();
    assert_eq!((&disk["state"], &disk["required"]), (&json!("down"), &json!(true)));
    assert!(disk["detail"].as_str().unwrap().contains("quotas.min_free_disk_bytes"), "{disk}");
}
