//! Data folders of servers on one PostgreSQL.

use std::fs;
use std::time::Duration;

use serde_json::json;

use crate::support::{Database, Server, instances, until};

#[track_caller]
fn assert_refused(server: &Server, reason: &str) {
    let refused = server.command(&["serve"]);
    assert_eq!(refused.code(), Some(1), "{refused:#?}");
    assert!(refused.stderr.contains(reason), "{}", refused.stderr);
}

#[test]
fn objects_of_another_folder_are_refused_until_they_are_bound() {
    const REASON: &str = "run `retrieval-server admin storage bind`";
    let Some(database) = Database::postgres() else { return };
    let mut server = Server::start(database);
    let client = server.tenant("acme");
    client.upload("a.txt", "The walrus eats clams.");
    assert_eq!(client.index()["stats"]["indexed"], 1);
    assert_eq!(server.stop().code(), Some(0));
    let objects = server.data_folder().join("objects");
    let away = server.data_folder().with_file_name("away");
    let unbind = |server: &Server| server.database.execute("DELETE FROM leases WHERE name = 'embedded-objects'");

    // As an older version has left both.
    fs::remove_file(objects.join("store-id")).unwrap();
    unbind(&server);
    server.resume();
    assert_eq!(server.stop().code(), Some(0));
    fs::rename(&objects, &away).unwrap();
    assert_refused(&server, REASON);
    unbind(&server);
    assert_refused(&server, REASON);
    assert!(!objects.exists(), "nothing was created");

    // On purpose: the document is gone, and the name stays.
    let bound = server.admin(&["storage", "bind"]);
    assert_eq!(bound["objects"].as_str(), objects.to_str());
    server.resume();
    assert_eq!(client.index()["stats"]["deleted"], 1);
    assert_eq!(server.stop().code(), Some(0));
    fs::remove_dir_all(&objects).unwrap();
    fs::rename(&away, &objects).unwrap();
    assert_refused(&server, REASON);
    server.admin(&["storage", "bind"]);
    server.resume();
    assert_eq!(client.index()["stats"]["indexed"], 1);
    assert_eq!(client.search_workspace("walrus")["integration_results"]["total"], 1);
}

#[test]
fn database_without_files_is_bound_to_another_folder() {
    let Some(database) = Database::postgres() else { return };
    let mut server = Server::start(database);
    assert_eq!(server.stop().code(), Some(0));
    let objects = server.data_folder().join("objects");
    let first = fs::read_to_string(objects.join("store-id")).unwrap();
    fs::remove_dir_all(&objects).unwrap();
    server.resume();
    assert_ne!(fs::read_to_string(objects.join("store-id")).unwrap(), first);
}

#[test]
fn only_embedded_objects_of_postgres_are_bound() {
    let server = Server::start(Database::sqlite());
    assert!(!server.data_folder().join("objects/store-id").exists());
    let refused = server.command(&["admin", "storage", "bind"]);
    assert_eq!(refused.code(), Some(1), "{refused:#?}");
    assert!(refused.stderr.contains("only a PostgreSQL database"), "{}", refused.stderr);
}

/// The store is external, so that only the index has an owner.
#[test]
fn embedded_index_has_one_server() {
    let Some(database) = Database::postgres() else { return };
    let store = instances::store();
    let mut one = instances::instance(database, "all", &store.storage_address(), "");
    one.command(&["migrate"]).object();
    one.resume();
    let mut other = instances::instance(one.same_database(), "all", &store.storage_address(), "");
    assert_refused(&other, "another server owns the embedded index of this database");

    // A command with another data folder leaves the changes to the server.
    let client = one.tenant("acme");
    other.import(&[json!({ "url": "https://example.com/", "text": "The observatory opens after sunset." })]);
    assert_eq!(client.search_web("observatory")["results"].as_array().unwrap().len(), 1);

    // The same folder after a crash, and another one after a stop.
    one.kill();
    one.resume();
    assert_eq!(one.stop().code(), Some(0));
    other.resume();
    assert!(!other.log().contains("waiting for the server that owns"), "{}", other.log());

    // Another server has a copy of the data folder.
    one.database.execute("UPDATE leases SET owner = 'copy' WHERE name = 'embedded-index'");
    until("the server ends", Duration::from_secs(30), || {
        other.log().contains("another server has taken over the embedded index").then_some(())
    });
    assert_eq!(other.stop().code(), Some(1));
}
