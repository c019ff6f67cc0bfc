//! Requirements on a service with its index on another server.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Client, Database, Line, Proxy, Server, until};

/// Search engine on another server. Its tests are skipped without the environment variable of its URL.
pub struct Backend {
    pub name: &'static str,
    pub url_variable: &'static str,
    pub key_variable: &'static str,
    /// Deletes all indexes of a prefix.
    pub delete: fn(&Index),
}

/// Indexes of one prefix, reached through a proxy, and deleted on drop.
pub struct Index {
    backend: &'static Backend,
    proxy: Proxy,
    pub upstream: String,
    pub key: Option<String>,
    pub prefix: String,
}

impl Index {
    fn of_environment(backend: &'static Backend) -> Option<Self> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let (upstream, key) = (variable(backend.url_variable)?, variable(backend.key_variable));
        let prefix = format!("e2e-{}-", Uuid::new_v4().simple());
        let proxy = Proxy::start(upstream.trim_start_matches("http://").trim_end_matches('/'));
        Some(Self { backend, proxy, upstream, key, prefix })
    }

    fn server(&self, database: Database) -> Server {
        let (url, key) = (self.proxy.url(), self.key.as_deref().unwrap_or_default());
        let (backend, prefix) = (self.backend.name, &self.prefix);
        let settings =
            format!("[index]\nbackend = {backend:?}\nurl = {url:?}\napi_key = {key:?}\nprefix = {prefix:?}\n");
        Server::start_with(database, &settings)
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        (self.backend.delete)(self);
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

/// Rebuilds the index by command, and after it was deleted.
pub fn lost_index_is_rebuilt(backend: &'static Backend, database: Database) {
    let Some(index) = Index::of_environment(backend) else { return };
    let server = &index.server(database);
    let client = fill(server);
    assert_eq!(found(&client), 3);
    let exact = json!({ "filters": { "exact_match": true } });
    let phrase = client.search("walrus eats clams", exact).ok();
    assert_eq!(phrase["results"].as_array().unwrap().len(), 1, "{phrase:#}");
    let rebuilt = server.command(&["index", "rebuild", "--index", "web"]).lines();
    assert_eq!(rebuilt, [json!({ "index": "web", "documents": 2 })]);
    assert_eq!(found(&client), 3);

    (backend.delete)(&index);
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

pub fn unreachable_index_fails_within_two_seconds(backend: &'static Backend, database: Database) {
    let Some(index) = Index::of_environment(backend) else { return };
    let server = index.server(database);
    let client = fill(&server);
    index.proxy.set(Line::Silent);
    for _ in 0..2 {
        let started = Instant::now();
        client.search("walrus", json!({})).error(502, "provider_unavailable");
        assert!(started.elapsed() < Duration::from_millis(2_500), "{:?}", started.elapsed());
    }
    index.proxy.set(Line::Open);
    until("searches work again", Duration::from_secs(20), || {
        (client.search("walrus", json!({})).status == 200).then_some(())
    });
    assert_eq!(found(&client), 3);
}
