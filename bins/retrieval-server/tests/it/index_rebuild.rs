//! Rebuilding the index, by command and after inject.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Client, Database, Server};

on_both_databases!(rebuilt_index_returns_the_same_results, damaged_index_is_rebuilt_at_the_next_start);

const QUERIES: [&str; 4] = ["walrus clams", "observatory sunset", "number 7", "東京の天気"];

fn fill(server: &Server) -> Client {
    let client = server.tenant("acme");
    let topics = ["The walrus eats clams.", "The observatory opens after sunset.", "東京の天気は晴れです。"];
    let text = |n: usize| format!("{} This is number {n}.", topics[n % topics.len()]);
    let pages: Vec<Value> = (0..30)
        .map(|n| json!({ "url": format!("https://example.com/{n}"), "title": format!("Page {n}"), "text": text(n) }))
        .collect();
    server.import(&pages);
    for n in 0..12 {
        client.upload(&format!("{n}.txt"), text(n));
    }
    client.index();
    client.delete("/v1/files/3.txt").ok();
    client.index();
    client
}

/// Returns the results of all queries, without fields that differ between responses.
fn results(client: &Client) -> Vec<Value> {
    let scope = json!({ "indexes": ["web", "workspace"], "workspace_id": client.organization });
    let search = |query: &str| {
        let found = client
            .search(query, json!({ "scope": scope, "max_results": 50, "response": { "verbosity": "full" } }))
            .ok();
        assert!(!found["results"].as_array().unwrap().is_empty(), "{query}");
        json!([found["results"], found["integration_results"]])
    };
    QUERIES.map(search).to_vec()
}

fn rebuilt_index_returns_the_same_results(database: Database) {
    let mut server = Server::start(database);
    let client = fill(&server);
    let before = results(&client);
    assert_eq!(before, results(&client), "results are deterministic");

    let with_server = server.command(&["index", "rebuild"]).lines();
    assert_eq!(
        with_server,
        [json!({ "index": "web", "documents": 30 }), json!({ "index": "workspace", "documents": 11 })]
    );
    assert_eq!(before, results(&client), "rebuilt with a running server");

    assert_eq!(server.stop().code(), Some(0));
    let without_server = server.command(&["index", "rebuild", "--index", "workspace"]).lines();
    assert_eq!(without_server, [json!({ "index": "workspace", "documents": 11 })]);
    server.resume();
    assert_eq!(before, results(&client), "rebuilt without a server");

    assert_eq!(server.stop().code(), Some(0));
    fs::remove_dir_all(server.data_folder().join("index")).unwrap();
    server.command(&["index", "rebuild"]).lines();
    server.resume();
    assert_eq!(before, results(&client), "rebuilt from nothing");
    assert_eq!(server.command(&["index", "rebuild", "--index", "intranet"]).code(), Some(2));
}

#[test]
fn deployment_without_index_has_nothing_to_rebuild() {
    let mut server = Server::start_with(Database::sqlite(), "[index]\nbackend = \"none\"\n");
    let refused = server.command(&["index", "rebuild"]);
    assert_eq!((refused.code(), refused.stdout.as_str()), (Some(1), ""), "{refused:#?}");
    assert!(refused.stderr.contains("`index.backend` = `none`"), "{}", refused.stderr);
    // Changes wait until there is an index: that is no backlog that grows old.
    server.import(&[json!({ "url": "https://example.com/", "text": "The walrus eats clams." })]);
    assert_eq!(server.stop().code(), Some(0));
    server.resume();
    let web = |name: &str| server.counted(&format!("{name}{{index=\"web\"}}"));
    assert_eq!(web("retrieval_outbox_entries"), 1, "the refused command queued nothing");
    assert_eq!(web("retrieval_outbox_age_seconds"), 0);
}

fn damaged_index_is_rebuilt_at_the_next_start(database: Database) {
    let mut server = Server::start(database);
    let client = fill(&server);
    let before = results(&client);
    let faults: [fn(&Path); 4] = [
        overwrite_all,
        truncate_all,
        |folder| remove_every_other(folder),
        |folder| {
            fs::remove_dir_all(folder).unwrap();
        },
    ];
    for (n, inject) in faults.into_iter().enumerate() {
        assert_eq!(server.stop().code(), Some(0));
        inject(&server.data_folder().join("index"));
        server.resume();
        // Searches work during the rebuild.
        crate::support::until("everything is found again", std::time::Duration::from_secs(30), || {
            let healed = client.search_workspace("walrus observatory 東京 number")["integration_results"]["total"]
                == 11
                && client.search("number", json!({ "max_results": 50 })).ok()["results"].as_array().unwrap().len()
                    == 30;
            healed.then_some(())
        });
        assert_eq!(before, results(&client), "fault {n}");
    }
}

fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found.sort();
    assert!(!found.is_empty(), "{} is empty", folder.display());
    found
}

fn overwrite_all(folder: &Path) {
    for file in files_below(folder) {
        fs::write(file, "garbage").unwrap();
    }
}

fn truncate_all(folder: &Path) {
    for file in files_below(folder) {
        let bytes = fs::read(&file).unwrap();
        fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    }
}

fn remove_every_other(folder: &Path) {
    for file in files_below(folder).into_iter().step_by(2) {
        fs::remove_file(file).unwrap();
    }
}
