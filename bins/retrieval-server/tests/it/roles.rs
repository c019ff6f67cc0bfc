//! Instances that only serve requests, and instances that only work.

use std::collections::BTreeSet;
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use test_support::crawl_site::CrawlSite;
use uuid::Uuid;

use crate::support::instances::{index, instance, store};
use crate::support::{Client, Database, Page, Server, until};

on_both_databases!(worker_does_what_the_api_leaves, api_and_worker_index_and_search);

const DEADLINE: Duration = Duration::from_secs(60);

fn tasks(server: &Server) -> BTreeSet<String> {
    let ready = Client::new(&server.operations(), None, Uuid::nil()).get("/readyz").ok();
    let tasks = ready["tasks"].as_array().unwrap().iter();
    tasks.map(|task| task["name"].as_str().unwrap().to_owned()).collect()
}

fn start(mut api: Server, mut worker: Server) -> (Server, Server) {
    api.command(&["migrate"]).object();
    // The worker prepares the indexes, without which the other is not ready.
    worker.resume();
    api.resume();
    (api, worker)
}

fn worker_does_what_the_api_leaves(database: Database) {
    let store = store();
    let sections = "[index]\nbackend = \"none\"\n[fetch]\nallow_networks = [\"127.0.0.0/8\"]\n";
    let api = instance(database, "api", &store.storage_address(), sections);
    let worker = instance(api.same_database(), "worker", &store.storage_address(), sections);
    let (api, worker) = start(api, worker);

    let own = ["usage_writer", "recorder", "ledger", "term_writer", "backlog", "readiness"];
    assert_eq!(tasks(&api), own.map(str::to_owned).into());
    let work = ["webhooks", "crawler", "refunds", "retention", "file_sizes", "removal", "usage_pruner"];
    assert!(tasks(&worker).is_superset(&work.map(str::to_owned).into()), "{:?}", tasks(&worker));

    let base = worker.base();
    assert!(TcpStream::connect(base.trim_start_matches("http://")).is_err(), "a worker serves no requests");
    let probe = Client::new(&worker.operations(), None, Uuid::nil());
    assert!(probe.get("/metrics").text.contains("retrieval_outbox_entries"));

    // What an instance leaves to others is known to its first scrape, too.
    let scrape = Client::new(&api.operations(), None, Uuid::nil()).get("/metrics").text;
    for series in [
        "retrieval_crawl_pages_total{outcome=\"listed\"} 0",
        "retrieval_files_total{outcome=\"failed\"} 0",
        "retrieval_indexed_documents_total{index=\"web\"} 0",
        "retrieval_webhook_attempts_total{outcome=\"failed\"} 0",
        "retrieval_task_panics_total{task=\"feeder\"} 0",
        "retrieval_task_panics_total{task=\"runner\"} 0",
    ] {
        assert!(scrape.lines().any(|line| line == series), "{series}:\n{scrape}");
    }

    api.tenant("acme").get("/v1/files").ok();
    let page = "<title>Tides</title><p>The moon moves the tides of the sea.</p>";
    let site = CrawlSite::start("127.0.0.3", |_| Page::html(page));
    api.command(&["web", "crawl", &site.url("/"), "--name", "tides", "--limit", "1"]);
    until("the worker has crawled", DEADLINE, || {
        let shown = api.command(&["web", "crawl-show", "tides"]).object();
        (shown["state"] == "completed").then_some(())
    });
}

/// Skipped without a Meilisearch, as the tests in `meilisearch.rs`.
fn api_and_worker_index_and_search(database: Database) {
    let Some(index) = index(&Uuid::new_v4().simple().to_string()) else { return };
    let store = store();
    let api = instance(database, "api", &store.storage_address(), &index);
    let worker = instance(api.same_database(), "worker", &store.storage_address(), &index);
    let (api, worker) = start(api, worker);
    assert!(tasks(&worker).is_superset(&["feeder", "runner", "research"].map(str::to_owned).into()));

    let client = api.tenant("acme");
    client.upload("tides.txt", "The moon moves the tides.");
    let sync_id = client.start_run("incremental");
    assert_eq!(client.finish_run(&sync_id)["stats"]["indexed"], 1);
    assert_eq!(client.search_workspace("tides")["results"].as_array().map(Vec::len), Some(1));

    // The waiting request is served by one instance and ends with the work of another one.
    let body = json!({ "query": "What moves the tides?", "scope": client.workspace_scope() });
    let created: Value = client.post("/v1/research", &body).json();
    let research_id = created["research_id"].as_str().unwrap_or_else(|| panic!("{created}"));
    let ended = client.get(&format!("/v1/research/{research_id}?wait_seconds=30")).ok();
    assert_eq!(ended["status"], "completed", "{ended}");
}

#[test]
fn embedded_backends_refuse_separate_roles() {
    for role in ["api", "worker"] {
        let server = Server::prepare(Database::sqlite(), "");
        let ended = server.command(&["serve", "--role", role]);
        assert_eq!(ended.code(), Some(1));
        assert!(ended.stderr.contains("index.backend") && ended.stderr.contains("`--role all`"), "{}", ended.stderr);
        assert!(!server.data_folder().exists(), "nothing was created");
    }
    let server = Server::prepare(Database::sqlite(), "");
    assert_eq!(server.command(&["serve", "--role", "leader"]).code(), Some(2));
}
