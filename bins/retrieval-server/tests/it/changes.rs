//! Replaced, unchanged and deleted files.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Client, Database, Server, until};

on_both_databases!(
    replaced_file_keeps_its_document_id,
    incremental_run_reads_only_changed_files,
    deleted_file_disappears_immediately,
    automatic_run_counts_deleted_files,
    files_deleted_during_a_run_are_removed,
);

fn stats(run: &Value, names: [&str; 4]) -> [u64; 4] {
    assert_eq!(run["state"], "completed", "{run:#}");
    names.map(|name| run["stats"][name].as_u64().unwrap())
}

fn replaced_file_keeps_its_document_id(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    client.upload("policy.txt", "Refunds within thirty days of the purchase zebra.");
    client.upload("other.txt", "Nothing of interest.");
    client.index();
    let before = client.search_workspace("refunds zebra")["results"][0].clone();

    client.upload("policy.txt", "Refunds within ninety days of the purchase zebra.");
    let run = client.index();
    assert_eq!(stats(&run, ["enumerated", "fetched", "indexed", "failed"]), [2, 1, 1, 0], "{run:#}");
    let found = client.search_workspace("refunds zebra");
    let after = &found["results"][0];
    assert_eq!(after["doc_id"], before["doc_id"]);
    assert!(after["passages"][0]["text"].as_str().unwrap().contains("ninety"), "{after:#}");
    assert_ne!(after["passages"][0]["passage_id"], before["passages"][0]["passage_id"]);
    assert_ne!(after["metadata"]["content_digest"], before["metadata"]["content_digest"]);
    assert_eq!(found["integration_results"]["total"], 1, "{found:#}");
    assert_eq!(client.search_workspace("thirty")["results"], json!([]));
    let read = client.document(json!({ "doc_id": before["doc_id"] })).ok();
    assert!(read["content"]["text"].as_str().unwrap().contains("ninety"), "{read:#}");
    assert_eq!(client.file_names(), ["other.txt", "policy.txt"]);
}

fn incremental_run_reads_only_changed_files(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    for n in 0..3 {
        client.upload(&format!("{n}.txt"), format!("Walrus number {n}."));
    }
    let counts = ["enumerated", "fetched", "indexed", "failed"];
    assert_eq!(stats(&client.index(), counts), [3, 3, 3, 0]);
    let first = client.search_workspace("walrus number");
    let unchanged = client.index();
    assert_eq!(stats(&unchanged, counts), [3, 0, 0, 0]);
    assert_eq!(unchanged["stats"]["bytes"], 0);
    let full = client.finish_run(&client.start_run("full"));
    assert_eq!(stats(&full, counts), [3, 3, 3, 0]);
    let again = client.search_workspace("walrus number");
    let ids = |found: &Value| -> Vec<Value> {
        found["results"].as_array().unwrap().iter().map(|hit| hit["passages"][0]["passage_id"].clone()).collect()
    };
    assert_eq!(ids(&first), ids(&again), "same content, same ids, same order");
}

fn assert_gone(client: &Client, name: &str, words: &str, doc_id: &Value) {
    let found = client.search_workspace(words);
    assert_eq!(found["results"], json!([]), "{found:#}");
    client.document(json!({ "doc_id": doc_id })).error(404, "document_not_found");
    client.document(json!({ "canonical_url": client.workspace_url(name) })).error(404, "document_not_found");
    client
        .post("/v1/feedback", &json!({ "event_type": "stale_result", "doc_id": doc_id }))
        .error(404, "document_not_found");
    assert!(!client.file_names().contains(&name.to_owned()));
}

fn deleted_file_disappears_immediately(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    client.upload("secret.txt", "The walrus protocol starts at midnight.");
    client.upload("kept.txt", "The observatory opens after sunset.");
    client.index();
    let doc_id = client.search_workspace("walrus protocol")["results"][0]["doc_id"].clone();

    assert_eq!(client.delete("/v1/files/secret.txt").ok()["deleted"], true);
    assert_gone(&client, "secret.txt", "walrus protocol", &doc_id);
    assert_eq!(client.delete("/v1/files/secret.txt").ok()["deleted"], false);
    assert_eq!(client.delete("/v1/files/never.txt").ok()["deleted"], false);

    // It stays deleted after the automatic run and a full one.
    let full = client.finish_run(&client.start_run("full"));
    assert_eq!(stats(&full, ["enumerated", "indexed", "failed", "deleted"])[..3], [1, 1, 0]);
    assert_gone(&client, "secret.txt", "walrus protocol", &doc_id);
    assert_eq!(client.search_workspace("observatory")["results"].as_array().unwrap().len(), 1);

    // The name can be reused by a new file.
    client.upload("secret.txt", "The walrus protocol was cancelled.");
    assert_eq!(stats(&client.index(), ["enumerated", "fetched", "indexed", "failed"]), [2, 1, 1, 0]);
    let found = client.search_workspace("walrus protocol");
    assert!(found["results"][0]["snippet"].as_str().unwrap().contains("cancelled"), "{found:#}");
}

/// The response to a delete has no id of the automatic run. While another run is in flight the automatic one is queued,
/// and a start joins it and returns its id.
fn automatic_run_counts_deleted_files(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    let mut round = 0;
    until("a delete is answered while a run is in flight", Duration::from_secs(60), || {
        client.upload("doomed.txt", format!("The walrus protocol, version {round}."));
        client.index();
        upload_filler(&client, round);
        round += 1;
        let busy = client.start_run("incremental");
        assert_eq!(client.delete("/v1/files/doomed.txt").ok()["deleted"], true);
        let automatic = client.start_run("incremental");
        let queued = automatic != busy && client.run_status(&busy)["completed_at"].is_null();
        let deleted = [&busy, &automatic].map(|run| client.finish_run(run)["stats"]["deleted"].clone());
        if !queued {
            return None;
        }
        // Counted once: by the run in flight if it had not reached the file yet.
        assert!(deleted == [0, 1] || deleted == [1, 0], "{deleted:?}");
        (deleted == [0, 1]).then_some(())
    });
}

const FILLER: usize = 40;

fn upload_filler(client: &Client, round: usize) {
    for n in 0..FILLER {
        client.upload(&format!("{n}.txt"), format!("Filler {n} of round {round}. ").repeat(200));
    }
}

fn files_deleted_during_a_run_are_removed(database: Database) {
    let server = Server::start(database);
    let client = server.tenant("acme");
    upload_filler(&client, 0);
    let run = client.start_run("incremental");
    until("the run has begun", Duration::from_secs(10), || {
        (client.run_status(&run)["state"] != "queued").then_some(())
    });
    for n in (0..FILLER).step_by(2) {
        assert_eq!(client.delete(&format!("/v1/files/{n}.txt")).ok()["deleted"], true);
    }
    assert_eq!(client.finish_run(&run)["state"], "completed");
    // Joins or follows the automatic run.
    client.index();
    let found = client.search_workspace("filler");
    assert_eq!(found["integration_results"]["total"], FILLER / 2);
    for hit in found["results"].as_array().unwrap() {
        let name = hit["canonical_url"].as_str().unwrap().rsplit('/').next().unwrap();
        let number: usize = name.strip_suffix(".txt").unwrap().parse().unwrap();
        assert_eq!(number % 2, 1, "{name} was deleted");
    }
    let last = client.index();
    assert_eq!(last["stats"]["deleted"], 0, "{last:#}");
}
