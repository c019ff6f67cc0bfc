//! An external Qdrant as the index.
//!
//! The tests are skipped without `TEST_QDRANT_URL` (and `TEST_QDRANT_KEY`); the summary of `cargo xtask test` reports that.

use qdrant_client::Qdrant;
use uuid::Uuid;

use crate::external_index;
use crate::support::{Database, Proxy, Server};

on_both_databases!(lost_index_is_rebuilt, unreachable_qdrant_fails_within_two_seconds);

/// Collections in Qdrant, reached through a proxy, and deleted on drop.
struct Index {
    proxy: Proxy,
    upstream: String,
    key: Option<String>,
    prefix: String,
}

impl Index {
    fn of_environment() -> Option<Self> {
        let upstream = std::env::var("TEST_QDRANT_URL").ok().filter(|url| !url.is_empty())?;
        let key = std::env::var("TEST_QDRANT_KEY").ok().filter(|key| !key.is_empty());
        let prefix = format!("e2e-{}-", Uuid::new_v4().simple());
        let proxy = Proxy::start(upstream.trim_start_matches("http://").trim_end_matches('/'));
        Some(Self { proxy, upstream, key, prefix })
    }

    fn server(&self, database: Database) -> Server {
        let settings = format!(
            "[index]\nbackend = \"qdrant\"\nurl = {:?}\napi_key = {:?}\nprefix = {:?}\n",
            self.proxy.url(),
            self.key.as_deref().unwrap_or_default(),
            self.prefix
        );
        Server::start_with(database, &settings)
    }

    fn delete(&self) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut config = Qdrant::from_url(&self.upstream).skip_compatibility_check();
            config.api_key = self.key.clone();
            let client = config.build().unwrap();
            let Ok(listed) = client.list_collections().await else { return };
            for collection in listed.collections {
                if collection.name.starts_with(&self.prefix) {
                    let _ = client.delete_collection(collection.name).await;
                }
            }
        });
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

fn unreachable_qdrant_fails_within_two_seconds(database: Database) {
    let Some(index) = Index::of_environment() else { return };
    external_index::fails_within_two_seconds_while_unreachable(&index.server(database), &index.proxy);
}
