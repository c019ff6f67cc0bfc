//! A Meilisearch that is stopped, slow, or restarted empty.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::program::{self, MEILISEARCH_KEY, Program};
use crate::support::{Client, Database, Line, Proxy, Server, until};

const FILES: usize = 30;
const RECOVERY: Duration = Duration::from_secs(60);

struct World {
    meilisearch: Program,
    proxy: Proxy,
    server: Server,
    client: Client,
}

impl World {
    /// Starts a server with indexed files; `None` without Meilisearch.
    fn start() -> Option<Self> {
        let meilisearch = program::meilisearch()?;
        let proxy = Proxy::start(&meilisearch.address());
        let index =
            format!("[index]\nbackend = \"meilisearch\"\nurl = {:?}\napi_key = {MEILISEARCH_KEY:?}\n", proxy.url());
        let server = Server::start_with(Database::sqlite(), &index);
        let client = server.tenant("acme");
        upload(&client, 0..FILES);
        client.index();
        Some(Self { meilisearch, proxy, server, client })
    }

    /// Asserts that everything is found once, and nothing else.
    #[track_caller]
    fn assert_found(&self, files: usize) {
        until("everything is found", RECOVERY, || (total(&self.client)? == files).then_some(()));
        for n in (0..files).step_by(7) {
            let body = json!({ "scope": self.client.workspace_scope(), "filters": { "exact_match": true } });
            let found = self.client.search(&format!("walrus number {n} eats"), body).ok();
            let urls: Vec<&str> =
                found["results"].as_array().unwrap().iter().filter_map(|hit| hit["canonical_url"].as_str()).collect();
            assert_eq!(urls, [self.client.workspace_url(&format!("{n}.txt"))]);
        }
    }
}

fn upload(client: &Client, numbers: std::ops::Range<usize>) {
    for n in numbers {
        client.upload(&format!("{n}.txt"), format!("The walrus number {n} eats clams."));
    }
}

/// Returns the number of documents that a search finds; `None` if it fails.
fn total(client: &Client) -> Option<usize> {
    let reply = client.search("walrus", json!({ "scope": client.workspace_scope(), "max_results": 50 }));
    (reply.status == 200).then(|| reply.json()["integration_results"]["total"].as_u64().unwrap() as usize)
}

#[test]
fn stopped_meilisearch_only_delays_the_index() {
    let Some(mut world) = World::start() else { return };
    upload(&world.client, FILES..FILES * 2);
    world.client.delete("/v1/files/0.txt").ok();
    upload(&world.client, 0..1);
    world.meilisearch.kill();
    let sync_id = world.client.start_run("incremental");
    let started = Instant::now();
    world
        .client
        .search("walrus", json!({ "scope": world.client.workspace_scope() }))
        .error(502, "provider_unavailable");
    assert!(started.elapsed() < Duration::from_millis(2_500), "{:?}", started.elapsed());
    std::thread::sleep(Duration::from_secs(3));
    // Behind the run of the deletion, or in progress itself.
    let state = world.client.run_status(&sync_id)["state"].clone();
    assert!(state == "queued" || state == "running", "{state}");
    // The server may be killed meanwhile, too.
    world.server.kill();
    world.server.spawn();
    world.meilisearch.resume();
    world.server.wait();
    assert_eq!(world.client.finish_run(&sync_id)["state"], "completed");
    world.assert_found(FILES * 2);
}

#[test]
fn meilisearch_killed_while_it_indexes_loses_nothing() {
    let Some(mut world) = World::start() else { return };
    upload(&world.client, FILES..FILES * 2);
    let sync_id = world.client.start_run("incremental");
    for kill in 0..3 {
        std::thread::sleep(Duration::from_millis(150 + kill * 250));
        world.meilisearch.kill();
        world.meilisearch.resume();
    }
    assert_eq!(world.client.finish_run(&sync_id)["state"], "completed");
    world.assert_found(FILES * 2);
}

#[test]
fn slow_meilisearch_fails_searches_in_time_and_loses_nothing() {
    let Some(world) = World::start() else { return };
    for line in [Line::Slow(Duration::from_millis(200)), Line::Slow(Duration::from_secs(3)), Line::Silent] {
        world.proxy.set(line);
        let started = Instant::now();
        let reply = world.client.search("walrus", json!({ "scope": world.client.workspace_scope() }));
        assert!(matches!(reply.status, 200 | 502), "{reply:#?}");
        assert!(started.elapsed() < Duration::from_millis(4_500), "{:?}", started.elapsed());
    }
    upload(&world.client, FILES..FILES * 2);
    let sync_id = world.client.start_run("incremental");
    std::thread::sleep(Duration::from_secs(2));
    world.proxy.set(Line::Slow(Duration::from_millis(50)));
    assert_eq!(world.client.finish_run(&sync_id)["state"], "completed");
    world.proxy.set(Line::Open);
    world.assert_found(FILES * 2);
}

#[test]
fn meilisearch_that_restarts_empty_is_filled_again() {
    let Some(mut world) = World::start() else { return };
    world.meilisearch.kill();
    fs::remove_dir_all(world.meilisearch.folder.path().join("data")).unwrap();
    world.meilisearch.resume();
    world.assert_found(FILES);
    // The other case: the index is lost while nobody searches, and a run finds out.
    world.meilisearch.kill();
    fs::remove_dir_all(world.meilisearch.folder.path().join("data")).unwrap();
    world.meilisearch.resume();
    upload(&world.client, FILES..FILES + 5);
    assert_eq!(world.client.index()["state"], "completed");
    world.assert_found(FILES + 5);
}
