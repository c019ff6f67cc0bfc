//! The embedding model that the indexes use, over starts of servers.

use std::fs;
use std::net::TcpListener;

use diesel::sql_types::{Nullable, Text};
use diesel::{Connection, RunQueryDsl, SqliteConnection};

use crate::support::{Database, Server};

/// Settings of an endpoint that no test calls.
const EMBED: &str = "[embed]\nbackend = \"http\"\nurl = \"http://127.0.0.1:9/v1\"\nmodel = \"first\"\n";

/// Returns the model that the web index uses. The server must have stopped.
fn index_model(server: &Server) -> Option<String> {
    let path = server.data_folder().join("retrieval.db");
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    let query = "SELECT model FROM index_models WHERE index_name = 'web'";
    diesel::dsl::sql::<Nullable<Text>>(query).get_result::<Option<String>>(&mut connection).unwrap()
}

#[test]
fn server_that_cannot_start_does_not_switch_the_model() {
    let mut server = Server::start_with(Database::sqlite(), EMBED);
    assert_eq!(server.stop().code(), Some(0));
    let first = index_model(&server);
    assert!(first.as_ref().is_some_and(|model| model.contains("first")), "{first:?}");

    let settings = fs::read_to_string(server.settings_file()).unwrap();
    fs::write(server.settings_file(), settings.replace(EMBED, "")).unwrap();
    let occupied = TcpListener::bind(server.base().trim_start_matches("http://")).unwrap();
    let refused = server.command(&["serve"]);
    assert_eq!(refused.code(), Some(1), "{refused:#?}");
    assert!(refused.stderr.contains("server.bind"), "{}", refused.stderr);
    assert_eq!(index_model(&server), first);

    drop(occupied);
    server.resume();
    assert_eq!(server.stop().code(), Some(0));
    assert_eq!(index_model(&server), None);
}
