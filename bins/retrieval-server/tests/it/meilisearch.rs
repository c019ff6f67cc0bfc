//! An external Meilisearch as the index.
//!
//! The tests are skipped without `ACCEPT_INDEX_URL` (and `ACCEPT_INDEX_KEY`); the summary of `cargo xtask test` reports
//! that.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Client, Database, Line, Proxy, Server, until};

on_both_databases!(lost_index_is_rebuilt, unreachable_meilisearch_fails_within_two_seconds);

/// Proxy between the service and Meilisearch, with indexes of its own.
struct Connection {
    proxy: Proxy,
    upstream: String,
    key: Option<String>,
    prefix: String,
}

impl Connection {
    fn open() -> Option<Self> {
        let upstream = std::env::var("ACCEPT_INDEX_URL").ok().filter(|url| !url.is_empty())?;
        let key = std::env::var("ACCEPT_INDEX_KEY").ok().filter(|key| !key.is_empty());
        let proxy = Proxy::start(upstream.trim_start_matches("http://").trim_end_matches('/'));
        Some(Self { proxy, upstream, key, prefix: format!("e2e-{}-", Uuid::new_v4().simple()) })
    }

    fn server(&self, database: Database) -> Server {
        let settings = format!(
            "[index]\nbackend = \"meilisearch\"\nurl = {:?}\napi_key = {:?}\nprefix = {:?}\n",
            self.proxy.url(),
            self.key.as_deref().unwrap_or_default(),
            self.prefix
        );
        Server::start_with(database, &settings)
    }

    fn delete_indexes(&self) {
        for name in ["web-v2", "workspace-v2"] {
            let mut request = ureq::delete(format!("{}/indexes/{}{name}", self.upstream, self.prefix));
            if let Some(key) = &self.key {
                request = request.header("Authorization", format!("Bearer {key}"));
            }
            let _ = request.call();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.delete_indexes();
    }
}

fn fill(server: &Server) -> Client {
    let client = server.tenant("acme");
    server.import(&[
        json!({ "url": "https://example.com/a", "title": "Walrus", "text": "The walrus eats clams." }),
        json!({ "url": "https://docs.example.com/b", "text": "A walrus was seen at the observatory." }),
    ]);
    client.upload("own.txt", "A walrus of our own.");
    client.index();
    client
}

fn found(client: &Client) -> usize {
    let scope = json!({ "indexes": ["web", "workspace"], "workspace_id": client.organization });
    client.search("walrus", json!({ "scope": scope })).ok()["results"].as_array().map_or(0, Vec::len)
}

fn lost_index_is_rebuilt(database: Database) {
    let Some(connection) = Connection::open() else { return };
    let server = connection.server(database);
    let client = fill(&server);
    assert_eq!(found(&client), 3);
    let exact = json!({ "filters": { "exact_match": true } });
    let phrase = client.search("walrus eats clams", exact).ok();
    assert_eq!(phrase["results"].as_array().unwrap().len(), 1, "{phrase:#}");
    let rebuilt = server.command(&["index", "rebuild", "--index", "web"]).lines();
    assert_eq!(rebuilt, [json!({ "index": "web", "documents": 2 })]);
    assert_eq!(found(&client), 3);

    connection.delete_indexes();
    until("the lost index is rebuilt", Duration::from_secs(60), || {
        let scope = json!({ "indexes": ["web", "workspace"], "workspace_id": client.organization });
        let reply = client.search("walrus", json!({ "scope": scope }));
        let complete = |answer: &Value| answer["results"].as_array().is_some_and(|results| results.len() == 3);
        match reply.status {
            200 => complete(&reply.ok()).then_some(()),
            _ => {
                reply.error(502, "provider_unavailable");
                None
            }
        }
    });
}

fn unreachable_meilisearch_fails_within_two_seconds(database: Database) {
    let Some(connection) = Connection::open() else { return };
    let server = connection.server(database);
    let client = fill(&server);
    connection.proxy.set(Line::Silent);
    for _ in 0..2 {
        let started = Instant::now();
        client.search("walrus", json!({})).error(502, "provider_unavailable");
        assert!(started.elapsed() < Duration::from_millis(2_500), "{:?}", started.elapsed());
    }
    connection.proxy.set(Line::Open);
    until("searches work again", Duration::from_secs(20), || {
        (client.search("walrus", json!({})).status == 200).then_some(())
    });
    assert_eq!(found(&client), 3);
}
