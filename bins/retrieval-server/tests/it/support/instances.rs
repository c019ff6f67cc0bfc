//! Instances that share a database, an object store and a Meilisearch.

use std::fs;

use super::{Database, Server};

const STORAGE_KEYS: &str = "access_key_id = \"probe\"\nsecret_access_key = \"probe-secret\"\n";

/// Adds lines to the section `[storage]`.
fn with_storage(server: &Server, lines: &str) {
    let settings = fs::read_to_string(server.settings_file()).unwrap();
    fs::write(server.settings_file(), settings.replace("[storage]\n", &format!("[storage]\n{lines}"))).unwrap();
}

/// Starts a server whose embedded store other instances use.
pub fn store() -> Server {
    let mut server = Server::prepare(Database::sqlite(), "[index]\nbackend = \"none\"\n");
    with_storage(&server, STORAGE_KEYS);
    server.resume();
    server
}

/// Prepares an instance of a role that uses the store at an address.
pub fn instance(database: Database, role: &'static str, store: &str, sections: &str) -> Server {
    let mut server = Server::prepare(database, sections);
    with_storage(&server, &format!("backend = \"s3\"\nendpoint = \"http://{store}\"\n{STORAGE_KEYS}"));
    server.arguments = vec!["serve", "--role", role];
    server
}

/// Returns the settings of the shared Meilisearch, with its own prefix for each test. Reports a skipped test without one.
pub fn index(prefix: &str) -> Option<String> {
    let Some(url) = std::env::var("ACCEPT_INDEX_URL").ok().filter(|url| !url.is_empty()) else {
        println!("NOT RUN: ACCEPT_INDEX_URL is not set");
        return None;
    };
    let key = std::env::var("ACCEPT_INDEX_KEY").unwrap_or_default();
    Some(format!("[index]\nbackend = \"meilisearch\"\nurl = {url:?}\napi_key = {key:?}\nprefix = \"e2e-{prefix}-\"\n"))
}
