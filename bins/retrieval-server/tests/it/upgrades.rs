//! Databases of other versions.

use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};

use crate::support::{Database, Server};

fn execute(server: &Server, statements: &str) {
    let path = server.data_folder().join("retrieval.db");
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    connection.batch_execute(&format!("PRAGMA busy_timeout = 10000; {statements}")).unwrap();
}

#[test]
fn database_of_a_newer_version_is_rejected() {
    let mut server = Server::start(Database::sqlite());
    assert_eq!(server.stop().code(), Some(0));
    execute(&server, "INSERT INTO __diesel_schema_migrations (version) VALUES ('20990101000000')");
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
