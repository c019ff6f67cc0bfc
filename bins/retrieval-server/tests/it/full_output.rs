//! Commands whose standard output cannot be written.

use std::fs::File;
use std::process::{Output, Stdio};

use crate::support::{Database, Server, command};

/// Runs a command with a full disk as its standard output.
fn run_without_space(server: &Server, arguments: &[&str]) -> Output {
    let mut command = command();
    command.args(arguments).arg("--config").arg(server.settings_file());
    command.stdin(Stdio::null()).stdout(File::options().write(true).open("/dev/full").unwrap());
    command.stderr(Stdio::piped()).output().unwrap()
}

#[test]
fn command_whose_output_is_lost_fails_and_shows_a_key_on_standard_error() {
    let mut server = Server::prepare(Database::sqlite(), "");
    let organization = server.create_organization("acme");
    let id = organization.to_string();
    let created = run_without_space(&server, &["admin", "key", "create", "--org", &id, "--name", "lost"]);
    let messages = String::from_utf8(created.stderr).unwrap();
    assert_eq!(created.status.code(), Some(1), "{messages}");
    assert!(messages.contains("error: writing standard output: "), "{messages}");
    let line = messages.lines().find(|line| line.starts_with('{')).unwrap();
    let shown: serde_json::Value = serde_json::from_str(line).unwrap();

    for arguments in [&["admin", "org", "list"][..], &["admin", "audit"], &["config", "check"]] {
        let listed = run_without_space(&server, arguments);
        let messages = String::from_utf8(listed.stderr).unwrap();
        assert_eq!(listed.status.code(), Some(1), "{arguments:?}: {messages}");
        assert!(messages.contains("error: writing standard output: "), "{arguments:?}: {messages}");
    }
    server.resume();
    server.client(shown["key"].as_str(), organization).get("/v1/files").ok();
}
