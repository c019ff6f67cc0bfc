//! An external Qdrant as the index.
//!
//! The tests are skipped without `TEST_QDRANT_URL` (and `TEST_QDRANT_KEY`); the summary of `cargo xtask test` reports that.

use qdrant_client::Qdrant;

use crate::external_index::{self, Backend, Index};
use crate::support::Database;

on_both_databases!(lost_index_is_rebuilt, unreachable_qdrant_fails_within_two_seconds);

static QDRANT: Backend =
    Backend { name: "qdrant", url_variable: "TEST_QDRANT_URL", key_variable: "TEST_QDRANT_KEY", delete };

fn delete(index: &Index) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut config = Qdrant::from_url(&index.upstream).skip_compatibility_check();
        config.api_key = index.key.clone();
        let client = config.build().unwrap();
        let Ok(listed) = client.list_collections().await else { return };
        for collection in listed.collections {
            if collection.name.starts_with(&index.prefix) {
                let _ = client.delete_collection(collection.name).await;
            }
        }
    });
}

fn lost_index_is_rebuilt(database: Database) {
    external_index::lost_index_is_rebuilt(&QDRANT, database);
}

fn unreachable_qdrant_fails_within_two_seconds(database: Database) {
    external_index::unreachable_index_fails_within_two_seconds(&QDRANT, database);
}
