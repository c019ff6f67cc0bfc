//! `doctor`: findings before, during and after a server, without changes.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Database, Finished, Server};

fn statuses(done: &Finished) -> Vec<(String, String)> {
    let parse = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {done:#?}"));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    done.stdout.lines().map(parse).map(|finding| (text(&finding["check"]), text(&finding["status"]))).collect()
}

fn expected(changed: &[(&str, &str)]) -> Vec<(String, String)> {
    let checks = ["data_folder", "database", "index", "storage", "sandbox", "disk", "connections"];
    let status = |check| changed.iter().find(|(name, _)| *name == check).map_or("ok", |(_, status)| status);
    checks.iter().map(|check| ((*check).to_owned(), status(*check).to_owned())).collect()
}

#[test]
fn sound_installation_passes_with_and_without_a_server() {
    let mut server = Server::prepare(Database::sqlite(), "");
    let fresh = server.command(&["doctor", "--json"]);
    assert_eq!((fresh.code(), statuses(&fresh)), (Some(0), expected(&[])), "{fresh:#?}");
    assert!(!server.data_folder().exists(), "nothing was created");
    server.resume();
    let running = server.command(&["doctor", "--json"]);
    assert_eq!((running.code(), statuses(&running)), (Some(0), expected(&[])), "{running:#?}");
    assert!(running.stdout.contains("in use by a running server"), "{}", running.stdout);
    assert_eq!(server.stop().code(), Some(0));
    let stopped = server.command(&["doctor"]);
    assert_eq!((stopped.code(), statuses(&stopped)), (Some(0), expected(&[])), "{stopped:#?}");
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
    let failed = [("database", "failed"), ("disk", "failed")];
    assert_eq!((done.code(), statuses(&done)), (Some(1), expected(&failed)), "{done:#?}");
    assert!(done.stderr.contains("failed checks: database, disk"), "{}", done.stderr);
}

#[test]
fn broken_embedding_model_fails_the_check_and_the_start() {
    let server = Server::prepare(Database::sqlite(), "[embed]\nbackend = \"local\"\ndir = \"/nowhere\"\n");
    let done = server.command(&["doctor", "--json"]);
    let embed = ("embed".to_owned(), "failed".to_owned());
    assert!(done.code() == Some(1) && statuses(&done).contains(&embed), "{done:#?}");
    let start = server.command(&["serve"]);
    assert_eq!(start.code(), Some(1), "{start:#?}");
    assert!(start.stderr.contains("embed.dir: `/nowhere`: is no folder"), "{}", start.stderr);
    assert!(!server.data_folder().exists(), "nothing was created");
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
