//! Databases of other versions, and instances of two versions side by side.

use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use serde_json::json;
use uuid::Uuid;

use crate::support::{Client, Database, OLD_PROGRAM, Server, command, instances, until};

fn execute(server: &Server, statements: &str) {
    let path = server.data_folder().join("retrieval.db");
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    connection.batch_execute(&format!("PRAGMA busy_timeout = 10000; {statements}")).unwrap();
}

#[test]
fn database_of_a_newer_version_is_rejected_if_it_takes_something_away() {
    let mut server = Server::start(Database::sqlite());
    assert_eq!(server.stop().code(), Some(0));
    execute(&server, "INSERT INTO __diesel_schema_migrations (version) VALUES ('20990101000000')");
    assert_eq!(server.command(&["migrate"]).object()["migrations_run"], 0);
    assert_eq!(server.command(&["admin", "org", "list"]).code(), Some(0));
    execute(&server, "INSERT INTO contractions (migration) VALUES ('20990101000000')");
    for arguments in [&["serve"][..], &["migrate"], &["admin", "org", "list"], &["doctor", "--json"]] {
        let refused = server.command(arguments);
        assert_eq!(refused.code(), Some(1), "{refused:#?}");
        let output = format!("{}{}", refused.stdout, refused.stderr);
        assert!(output.contains("newer version") && output.contains("20990101000000"), "{output}");
    }
}

/// A migration that the running server does not have is simulated by one that the database seems to lack.
#[test]
fn command_does_not_migrate_under_a_running_server() {
    let mut server = Server::start(Database::sqlite());
    let client = server.tenant("acme");
    execute(
        &server,
        "DROP TABLE audit_entries; DELETE FROM __diesel_schema_migrations WHERE version = '20261121120000'",
    );
    for arguments in [&["migrate"][..], &["admin", "org", "list"]] {
        let refused = server.command(arguments);
        assert_eq!((refused.code(), refused.stdout.as_str()), (Some(1), ""), "{refused:#?}");
        assert!(refused.stderr.contains("stop that server first"), "{}", refused.stderr);
    }
    client.get("/v1/files").ok();
    assert_eq!(server.stop().code(), Some(0));
    assert_eq!(server.command(&["migrate"]).object()["migrations_run"], 1);
    assert_eq!(server.command(&["migrate"]).object()["migrations_run"], 0);
}

/// An upgrade replaces the program while the server of the older version still works.
#[test]
fn replaced_program_keeps_reading_documents() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("retrieval-server");
    std::fs::copy(env!("CARGO_BIN_EXE_retrieval-server"), &program).unwrap();
    let mut server = Server::prepare(Database::sqlite(), "");
    server.program = Some(program.clone());
    server.resume();
    // A worker reads files of one organization only, so that another one needs a new worker.
    let [first, second] = ["without a program", "with another program"].map(|name| server.tenant(name));
    std::fs::remove_file(&program).unwrap();
    index_a_file(&first);
    std::fs::copy("/bin/false", &program).unwrap();
    index_a_file(&second);
}

fn index_a_file(client: &Client) {
    client.upload("a.txt", "The walrus eats clams.");
    assert_eq!(client.index()["stats"]["indexed"], 1);
}

/// Files of each round.
const FILES: usize = 3;

#[test]
fn programs_under_test_do_not_see_the_variable_of_these_tests() {
    let command = command();
    let removed = command.get_envs().any(|(name, value)| name == OLD_PROGRAM && value.is_none());
    assert_eq!(removed, std::env::var_os(OLD_PROGRAM).is_some());
}

#[test]
fn new_version_starts_beside_an_old_one() {
    side_by_side(true);
}

#[test]
fn old_version_starts_beside_a_new_one() {
    side_by_side(false);
}

fn fill(client: &Client, round: &str) {
    for n in 0..FILES {
        client.upload(&format!("{round}-{n}.txt"), format!("The walrus {n} of {round} eats clams."));
    }
    assert_eq!(client.index()["state"], "completed");
}

/// Two instances of different versions over one database, store and index.
fn side_by_side(old_first: bool) {
    let Some(old_program) = std::env::var(OLD_PROGRAM).ok().filter(|path| !path.is_empty()) else {
        return println!("NOT RUN: {OLD_PROGRAM} is not set");
    };
    let (Some(database), Some(index)) = (Database::postgres(), instances::index(&Uuid::new_v4().simple().to_string()))
    else {
        return;
    };
    let store = instances::store();
    let mut old = instances::instance(database, "all", &store.storage_address(), &index);
    old.program = Some(old_program.into());
    let mut new = instances::instance(old.same_database(), "all", &store.storage_address(), &index);
    if old_first {
        old.command(&["migrate"]).object();
        old.resume();
        fill(&old.tenant("before"), "before");
        new.command(&["migrate"]).object();
        new.resume();
    } else {
        new.command(&["migrate"]).object();
        new.resume();
        // A version from before the record of contractions refuses to start on tables that it does not know.
        let checked = old.command(&["doctor", "--json"]);
        if format!("{}{}", checked.stdout, checked.stderr).contains("newer version") {
            let refused = old.command(&["serve"]);
            assert_eq!(refused.code(), Some(1), "{refused:#?}");
            return println!("the older version was refused, as documented");
        }
        old.resume();
    }
    let tenant = new.tenant("both");
    let at_old = old.client(tenant.key.as_deref(), tenant.organization);
    for (round, client) in [&tenant, &at_old, &tenant, &at_old].into_iter().enumerate() {
        fill(client, &format!("round {round}"));
        for reader in [&tenant, &at_old] {
            let found = reader.search_workspace("walrus")["integration_results"]["total"].as_u64().unwrap() as usize;
            assert_eq!(found, FILES * (round + 1), "both versions find what either has indexed");
        }
    }
    let created = at_old
        .post("/v1/research", &json!({ "query": "What does the walrus eat?", "scope": tenant.workspace_scope() }));
    let id = created.json()["research_id"].as_str().unwrap().to_owned();
    // The newer version takes over what the older one leaves.
    old.kill();
    until("the run ends", Duration::from_secs(60), || {
        (tenant.get(&format!("/v1/research/{id}")).ok()["status"] == "completed").then_some(())
    });
}
