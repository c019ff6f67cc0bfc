//! An external Meilisearch as the index.
//!
//! The tests are skipped without `ACCEPT_INDEX_URL` (and `ACCEPT_INDEX_KEY`); the summary of `cargo xtask test` reports
//! that.

use crate::external_index::{self, Backend, Index};
use crate::support::Database;

on_both_databases!(lost_index_is_rebuilt, unreachable_meilisearch_fails_within_two_seconds);

static MEILISEARCH: Backend =
    Backend { name: "meilisearch", url_variable: "ACCEPT_INDEX_URL", key_variable: "ACCEPT_INDEX_KEY", delete };

fn delete(index: &Index) {
    for name in ["web-v4", "workspace-v4"] {
        let mut request = ureq::delete(format!("{}/indexes/{}{name}", index.upstream, index.prefix));
        if let Some(key) = &index.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let _ = request.call();
    }
}

fn lost_index_is_rebuilt(database: Database) {
    external_index::lost_index_is_rebuilt(&MEILISEARCH, database);
}

fn unreachable_meilisearch_fails_within_two_seconds(database: Database) {
    external_index::unreachable_index_fails_within_two_seconds(&MEILISEARCH, database);
}
