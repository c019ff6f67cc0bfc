//! Hostile, long and equivalent file names.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

use crate::support::{Client, Database, Server};

on_both_databases!(hostile_names_are_sanitized, names_with_equal_sanitized_form_are_one_file);

fn hostile_names_are_sanitized(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let longest = format!("{}.txt", "😀".repeat(508));
    let cases = [
        ("../../x.txt", "x.txt"),
        ("a/b.txt", "ab.txt"),
        ("C:\\temp\\c.txt", "C:tempc.txt"),
        (longest.as_str(), longest.as_str()),
        ("tab\tand\u{0}null\n.txt", "tabandnull.txt"),
        ("invoice\u{202e}fdp.txt", "invoicefdp.txt"),
        ("  .hidden.md ", "hidden.md"),
        ("100%25 sure?#&+.txt", "100%25 sure?#&+.txt"),
        ("e\u{301}te\u{301}.txt", "été.txt"),
        ("שלום עולם.txt", "שלום עולם.txt"),
        ("'; DROP TABLE files; --.txt", "'; DROP TABLE files; --.txt"),
    ];
    for (n, (sent, stored)) in cases.iter().enumerate() {
        assert_eq!(client.upload(sent, format!("Walrus number {n} eats clams.")), *stored);
    }
    // No file was written to the paths in the names.
    assert!(!server.data_folder().join("../x.txt").exists() && !server.data_folder().join("x.txt").exists());
    let mut expected: Vec<&str> = cases.iter().map(|(_, stored)| *stored).collect();
    expected.sort_unstable();
    assert_eq!(client.file_names(), expected);

    let run = client.index();
    assert_eq!((&run["stats"]["indexed"], &run["stats"]["failed"]), (&cases.len().into(), &0.into()), "{run:#}");
    let found = client.search_workspace("walrus");
    let hits = found["results"].as_array().unwrap();
    assert_eq!(hits.len(), cases.len());
    for hit in hits {
        // The URL of a hit resolves to its document.
        let read = client.document(json!({ "canonical_url": hit["canonical_url"] })).ok();
        assert_eq!(read["doc"]["doc_id"], hit["doc_id"]);
    }
    for (n, (_, stored)) in cases.iter().enumerate() {
        assert_eq!(delete(&client, stored), json!(true), "{stored}");
        assert_eq!(client.file_names().len(), cases.len() - n - 1);
    }
    assert_eq!(client.search_workspace("walrus")["results"], json!([]));
}

fn delete(client: &Client, name: &str) -> serde_json::Value {
    client.delete(&format!("/v1/files/{}", utf8_percent_encode(name, NON_ALPHANUMERIC))).ok()["deleted"].clone()
}

fn names_with_equal_sanitized_form_are_one_file(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let names = ["étude.txt", "e\u{301}tude.txt", "../étude.txt", " étude.txt "];
    for (version, name) in names.into_iter().enumerate() {
        assert_eq!(client.upload(name, format!("Walrus version {version}.")), "étude.txt");
    }
    // Names are case-sensitive.
    client.upload("Étude.txt", "Walrus capital.");
    assert_eq!(client.file_names(), ["Étude.txt", "étude.txt"]);
    assert_eq!(client.index()["stats"]["indexed"], 2);
    let found = client.search_workspace("walrus version");
    assert_eq!(found["integration_results"]["total"], 2);
    assert!(found["results"][0]["snippet"].as_str().unwrap().contains("version 3"), "{found:#}");
    assert_eq!(delete(&client, "e\u{301}tude.txt"), json!(false), "a delete requires the name as listed");
    assert_eq!(delete(&client, "étude.txt"), json!(true));
    assert_eq!(client.file_names(), ["Étude.txt"]);
    let too_long = "x".repeat(513);
    client.delete(&format!("/v1/files/{too_long}")).error(400, "validation_error");
    client.delete("/v1/files/%ff.txt").error(400, "validation_error");
}
