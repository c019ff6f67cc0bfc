//! Documents that are deleted or replaced while a run that cites them is about to write its report.

use std::sync::Arc;

use serde_json::{Value, json};
use test_support::chat::{ChatEndpoint, completion};

use super::research::gate::Gate;
use super::research::world::Tenant;
use crate::support::{Client, Database, Server};

on_both_databases!(
    deleted_file_is_not_cited,
    only_source_that_is_deleted_leaves_an_empty_report,
    removed_web_page_is_not_cited,
    replaced_file_is_cited_as_it_was_read,
);

const WORD: &str = "zbakedix";
const KEPT: &str = "The zbakedix pump takes lithium grease of class NLGI 2 at both bearings.";
const LOST: &str = "The seal of the zbakedix pump is replaced every 4,000 hours of operation.";

/// Server with a model whose call to write the report is held.
struct World {
    server: Server,
    tenant: Tenant,
    gate: Arc<Gate>,
    _chat: ChatEndpoint,
}

impl World {
    fn start(database: Database) -> Self {
        let gate = Arc::new(Gate::default());
        gate.hold(WORD, 0);
        let passing = Arc::clone(&gate);
        let chat = ChatEndpoint::start(move |_, request| match request.format() {
            None => {
                passing.pass(&request.body.to_string());
                completion(&format!("{KEPT} [1] {LOST} [2] Both are true [1][2]."))
            }
            Some(_) => completion("{}"),
        });
        let settings = format!("[generate]\nbackend = \"http\"\nurl = {:?}\nmodel = \"scripted\"\n", chat.url());
        let server = Server::start_with(database, &settings);
        let tenant = Tenant::create(&server);
        Self { server, tenant, gate, _chat: chat }
    }

    fn client(&self) -> &Client {
        &self.tenant.client
    }

    /// Runs until the report is about to be written, lets `change` happen, and returns the ended run.
    fn run(&self, scope: &Value, change: impl FnOnce()) -> Value {
        let query =
            format!("Which grease does the {WORD} pump take, and when is the seal of the {WORD} pump replaced?");
        let id = self.tenant.start_run(&json!({ "query": query, "depth": "standard", "scope": scope }));
        assert!(self.gate.is_held(WORD, || self.tenant.has_ended(&id)), "the report is written");
        change();
        self.gate.release();
        let run = self.tenant.check(&self.server, &id);
        assert_eq!(run["status"], "completed", "{run:#}");
        run
    }
}

fn cited_urls(run: &Value) -> Vec<&str> {
    let citations = run["output"]["citations"].as_array().unwrap().iter();
    citations.filter_map(|citation| citation["canonical_url"].as_str()).collect()
}

/// Asserts that nothing of a document is in a report, and that each mark has its citation.
fn assert_without(run: &Value, url: &str, text: &str) {
    let output = &run["output"];
    assert!(!cited_urls(run).contains(&url), "{output:#}");
    let written = output["text"].as_str().unwrap();
    assert!(!written.contains(text), "{written}");
    let known: Vec<String> =
        output["citations"].as_array().unwrap().iter().map(|citation| format!("[{}]", citation["n"])).collect();
    for n in 1..10 {
        let mark = format!("[{n}]");
        assert!(!written.contains(&mark) || known.contains(&mark), "{mark} names no citation: {written}");
    }
}

fn deleted_file_is_not_cited(database: Database) {
    let world = World::start(database);
    let client = world.client();
    client.upload("grease.txt", KEPT);
    client.upload("seals.txt", LOST);
    client.index();
    let run = world.run(&client.workspace_scope(), || {
        client.delete("/v1/files/seals.txt").ok();
    });
    assert_without(&run, &client.workspace_url("seals.txt"), "4,000 hours");
    assert!(cited_urls(&run).contains(&client.workspace_url("grease.txt").as_str()), "{run:#}");
}

fn only_source_that_is_deleted_leaves_an_empty_report(database: Database) {
    let world = World::start(database);
    let client = world.client();
    client.upload("seals.txt", LOST);
    client.index();
    let run = world.run(&client.workspace_scope(), || {
        client.delete("/v1/files/seals.txt").ok();
    });
    assert_without(&run, &client.workspace_url("seals.txt"), "4,000 hours");
    assert_eq!(cited_urls(&run), Vec::<&str>::new());
}

fn removed_web_page_is_not_cited(database: Database) {
    let world = World::start(database);
    let pages = [("https://pumps.example/grease", KEPT), ("https://pumps.example/seals", LOST)];
    world.server.import(&pages.map(|(url, text)| json!({ "url": url, "title": url, "text": text })));
    let run = world.run(&json!({ "indexes": ["web"] }), || {
        world.server.command(&["web", "remove", "https://pumps.example/seals"]).object();
    });
    assert_without(&run, "https://pumps.example/seals", "4,000 hours");
    assert!(cited_urls(&run).contains(&"https://pumps.example/grease"), "{run:#}");
}

/// The capture that was read is kept as evidence.
fn replaced_file_is_cited_as_it_was_read(database: Database) {
    let world = World::start(database);
    let client = world.client();
    client.upload("grease.txt", KEPT);
    client.upload("seals.txt", LOST);
    client.index();
    let run = world.run(&client.workspace_scope(), || {
        client.upload("seals.txt", "The seal of the zbakedix pump is never replaced.");
        client.index();
    });
    let url = client.workspace_url("seals.txt");
    assert!(cited_urls(&run).contains(&url.as_str()), "{run:#}");
}
