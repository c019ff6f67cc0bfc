//! Typical sessions of the client command line against the built server.
//!
//! `RETRIEVAL_BIN` overrides the program under test [default: `retrieval` in the folder of the server].

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Client, Database, Finished, Server, run};

on_both_databases!(user_searches_reads_and_gives_feedback, user_manages_files);

/// Returns the program. If it is not built, reports the skipped test and returns `None`, or panics in CI.
fn program() -> Option<PathBuf> {
    let sibling = || Path::new(env!("CARGO_BIN_EXE_retrieval-server")).with_file_name("retrieval");
    let program = std::env::var_os("RETRIEVAL_BIN").map_or_else(sibling, PathBuf::from);
    if program.is_file() {
        return Some(program);
    }
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{} is not built", program.display());
    println!("NOT RUN: {} is missing; run `cargo build -p retrieval`", program.display());
    None
}

/// A user of the command line after `login`.
struct User {
    program: PathBuf,
    home: TempDir,
}

impl User {
    fn login(program: PathBuf, server: &Server, client: &Client) -> Self {
        let user = Self { program, home: tempfile::tempdir().unwrap() };
        let organization = client.organization.to_string();
        let arguments = ["login", "--base-url", &server.base(), "--workspace-id", &organization];
        let key = client.key.as_deref().unwrap();
        let done = run(user.command(&arguments), key.as_bytes());
        assert_eq!(done.code(), Some(0), "{done:#?}");
        user
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().env("HOME", self.home.path()).current_dir(self.home.path()).args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Finished {
        run(self.command(arguments), b"")
    }

    /// Asserts success and returns standard output.
    #[track_caller]
    fn text(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        assert_eq!(done.code(), Some(0), "{done:#?}");
        done.stdout
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Vec<Value> {
        self.run(&[arguments, &["--json"]].concat()).lines()
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

fn user_searches_reads_and_gives_feedback(database: Database) {
    let Some(program) = program() else { return };
    let server = Server::start(database);
    let body = "The moon pulls the sea, and the sea follows the moon. ".repeat(60);
    let url = "https://oceans.example/tides";
    server.import(&[
        json!({ "url": url, "title": "How tides work", "text": body, "published_at": "2026-01-05T10:00:00Z" }),
        json!({ "url": "https://bread.example/rye", "title": "Rye bread", "text": "Rye bread needs a sourdough." }),
    ]);
    let user = User::login(program, &server, &server.tenant("acme"));

    let found = user.json(&["search", "how", "does", "the", "moon", "pull", "the", "sea", "-n", "1"]);
    let result = &found[0]["results"][0];
    assert_eq!(result["canonical_url"], url, "{found:#?}");
    let (document, search) = (result["doc_id"].as_str().unwrap(), found[0]["search_id"].as_str().unwrap());
    let shown = user.text(&["search", "moon", "sea", "--domain", "oceans.example", "--only-domains"]);
    assert!(shown.contains("How tides work") && !shown.contains("bread"), "{shown}");

    let whole = user.text(&["read", document, "--all"]);
    assert!(whole.contains(body.trim()), "{whole}");
    // Smaller pages return the same bytes.
    assert_eq!(user.text(&["read", document, "--all", "--max-chars", "97"]), whole);
    assert_eq!(user.text(&["read", document, "--start", "4", "--max-chars", "9"]).trim_end().chars().count(), 9);

    let stored = user.json(&["feedback", "result_helpful", "--search", search, "--doc", document, "--rank", "1"]);
    assert_eq!(stored[0]["accepted"], true);
    let unknown = user.run(&["read", search, "--json"]);
    assert_eq!(unknown.code(), Some(4), "{unknown:#?}");
    assert!(unknown.stderr.contains("document_not_found"), "{unknown:#?}");
    let narrow = user.run(&["search", "moon", "--json", "--budget", "10", "--strict-budget"]);
    assert_eq!(narrow.code(), Some(2), "{narrow:#?}");
}

fn user_manages_files(database: Database) {
    let Some(program) = program() else { return };
    let server = Server::start(database);
    let tenant = server.tenant("acme");
    let user = User::login(program.clone(), &server, &tenant);
    for number in 0..9 {
        user.write(&format!("notes/meeting {number}.md"), &format!("# Meeting {number}\n\nWe met in room {number}.\n"));
    }
    user.write("notes/2026/decision.txt", "The committee chose the heliotrope carpet.");
    user.write("notes/empty.txt", "");
    user.write("notes/picture.png", "no document");

    // Times of single files have whole seconds: those written in the second of their upload count as changed.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let events = user.json(&["files", "add", "notes"]);
    let run = events.last().unwrap();
    assert_eq!(
        (run["state"].as_str(), run["stats"]["enumerated"].as_i64()),
        (Some("completed"), Some(11)),
        "{events:#?}"
    );
    assert_eq!(events.iter().filter(|event| event["event"] == "uploaded").count(), 11);
    assert_eq!(events.iter().filter(|event| event["event"] == "skipped").count(), 1);
    let sync_id = run["sync_id"].as_str().unwrap();
    assert_eq!(user.json(&["files", "status", sync_id])[0]["state"], "completed");

    let found = user.json(&["search", "heliotrope carpet", "--scope", "workspace"]);
    let document = found[0]["results"][0]["doc_id"].as_str().unwrap_or_else(|| panic!("{found:#?}"));
    assert_eq!(user.text(&["read", document]).trim_end(), "The committee chose the heliotrope carpet.");

    // Unchanged files are not uploaded again.
    let uploaded = |events: Vec<Value>| events.iter().filter(|event| event["event"] == "uploaded").count();
    assert_eq!(uploaded(user.json(&["files", "add", "notes"])), 0);
    user.write("notes/2026/decision.txt", "The committee took the heliotrope carpet back.");
    assert_eq!(uploaded(user.json(&["files", "add", "notes/**/*.txt"])), 1);

    let listed = user.text(&["files", "list"]);
    assert!(
        listed.contains("decision.txt") && listed.contains("meeting 8.md") && !listed.contains("2026/"),
        "{listed}"
    );
    assert_eq!(user.text(&["files", "rm", "meeting 0.md"]), "deleted meeting 0.md\n");
    assert_eq!(user.run(&["files", "rm", "meeting 0.md"]).code(), Some(4));

    let reader = server.create_key(tenant.organization, &["--scopes", "search:read"]);
    let reader = User::login(program, &server, &tenant.with_key(reader["key"].as_str()));
    assert_eq!(reader.run(&["files", "list"]).code(), Some(3));
}
