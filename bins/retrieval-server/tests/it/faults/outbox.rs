//! Servers killed while they work off the outbox into the index.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Client, Database, Server, lines, signal_group, until};

on_both_databases!(outbox_is_drained_through_five_kills, changes_survive_kills_of_the_feeder);

const PAGES: usize = 1_500;

fn page(n: usize, text: &str) -> Value {
    let text = format!("{text} Page {n} of the almanac. {}", "Common filler text. ".repeat(20));
    json!({ "url": format!("https://example.com/{n}"), "title": format!("Page {n}"), "text": text })
}

fn hits(client: &Client, query: &str) -> Vec<String> {
    let found = client.search(query, json!({ "max_results": 50, "filters": { "exact_match": true } })).ok();
    found["results"].as_array().unwrap().iter().map(|hit| hit["canonical_url"].as_str().unwrap().to_owned()).collect()
}

fn stored_pages(server: &Server) -> usize {
    server.command(&["web", "stats"]).object()["pages"].as_u64().unwrap() as usize
}

fn outbox_is_drained_through_five_kills(database: Database) {
    let mut server = Server::start_with(database, "");
    let client = server.tenant("acme");
    assert_eq!(server.stop().code(), Some(0));
    // The import is killed as soon as it has stored pages; most of them are not indexed.
    let pages: Vec<Value> = (0..PAGES).map(|n| page(n, "")).collect();
    let mut import = server.start_command(&["web", "import", "-"], lines(&pages));
    until("pages are stored", Duration::from_secs(60), || (stored_pages(&server) > 0).then_some(()));
    signal_group(&import.child, Signal::KILL);
    import.child.wait().unwrap();
    for kill in 0..5_u64 {
        server.resume();
        std::thread::sleep(Duration::from_millis(20 + kill * 60));
        server.kill();
    }
    server.resume();
    let stored = stored_pages(&server);
    assert!(stored > 0, "stored pages were lost");
    for n in (0..stored).step_by(50).chain([stored - 1]) {
        until("the page is found once", Duration::from_secs(60), || {
            (hits(&client, &format!("Page {n} of the almanac")) == [format!("https://example.com/{n}")]).then_some(())
        });
    }
    assert_eq!(server.stop().code(), Some(0));
    let verified = server.command(&["verify"]);
    assert_eq!(verified.code(), Some(0), "{verified:#?}");
}

/// Replaced and deleted documents reach the index, too.
fn changes_survive_kills_of_the_feeder(database: Database) {
    const FILES: usize = 40;
    let mut server = Server::start_with(database, "");
    let client = server.tenant("acme");
    let name = |n: usize| format!("{n}.txt");
    for n in 0..FILES {
        client.upload(&name(n), format!("The first walrus {n} eats clams."));
    }
    client.index();
    for n in (0..FILES).step_by(2) {
        client.upload(&name(n), format!("The second walrus {n} eats oysters."));
    }
    for n in (1..FILES).step_by(4) {
        client.delete(&format!("/v1/files/{}", name(n))).ok();
    }
    let sync_id = client.start_run("incremental");
    for kill in 0..4_u64 {
        std::thread::sleep(Duration::from_millis(30 + kill * 90));
        server.kill();
        server.resume();
    }
    assert_eq!(client.finish_run(&sync_id)["state"], "completed");
    let total = |query: &str| client.search_workspace(query)["integration_results"]["total"].as_u64().unwrap() as usize;
    until("the index follows", Duration::from_secs(30), || {
        ((total("oysters"), total("clams")) == (FILES / 2, FILES / 4)).then_some(())
    });
    assert_eq!(client.file_names().len(), FILES - FILES / 4);
}
