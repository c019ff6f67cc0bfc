//! An external Meilisearch as the index.
//!
//! The tests are skipped without `ACCEPT_INDEX_URL` (and `ACCEPT_INDEX_KEY`); the summary of `cargo xtask test` reports
//! that.

use uuid::Uuid;

use crate::external_index;
use crate::support::{Database, Proxy, Server};

on_both_databases!(lost_index_is_rebuilt, unreachable_meilisearch_fails_within_two_seconds);

/// Indexes in Meilisearch, reached through a proxy, and deleted on drop.
struct Index {
    proxy: Proxy,
    upstream: String,
    key: Option<String>,
    prefix: String,
}

impl Index {
    fn of_environment() -> Option<Self> {
        let upstream = std::env::var("ACCEPT_INDEX_URL").ok().filter(|url| !url.is_empty())?;
        let key = std::env::var("ACCEPT_INDEX_KEY").ok().filter(|key| !key.is_empty());
        let prefix = format!("e2e-{}-", Uuid::new_v4().simple());
        let proxy = Proxy::start(upstream.trim_start_matches("http://").trim_end_matches('/'));
        Some(Self { proxy, upstream, key, prefix })
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

    fn delete(&self) {
        for name in ["web-v2", "workspace-v2"] {
            let mut request = ureq::delete(format!("{}/indexes/{}{name}", self.upstream, self.prefix));
            if let Some(key) = &self.key {
                request = request.header("Authorization", format!("Bearer {key}"));
            }
            let _ = request.call();
        }
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        self.delete();
    }
}

fn lost_index_is_rebuilt(database: Database) {
    let Some(index) = Index::of_environment() else { return };
    external_index::is_rebuilt_when_lost(&index.server(database), || index.delete());
}

fn unreachable_meilisearch_fails_within_two_seconds(database: Database) {
    let Some(index) = Index::of_environment() else { return };
    external_index::fails_within_two_seconds_while_unreachable(&index.server(database), &index.proxy);
}
