//! Meilisearch, if the environment names one; it is never installed or started.

use super::{Provided, Running, Service};

const ADDRESS: &str = "ACCEPT_INDEX_URL";
const KEY: &str = "ACCEPT_INDEX_KEY";

/// External Meilisearch, named by `ACCEPT_INDEX_URL` and `ACCEPT_INDEX_KEY`.
pub struct Meilisearch;

impl Service for Meilisearch {
    fn name(&self) -> &'static str {
        "Meilisearch"
    }

    fn provide(&self) -> Provided {
        match address() {
            // The tests inherit the variables from our environment.
            Some(url) => Provided::Running(Running { how: url, environment: vec![], _guard: None }),
            None => Provided::Absent { reason: format!("{ADDRESS} is not set") },
        }
    }

    fn required_in_ci(&self) -> bool {
        false
    }
}

/// Returns its URL from the environment.
pub fn address() -> Option<String> {
    std::env::var(ADDRESS).ok().filter(|url| !url.is_empty())
}

/// Returns its API key; empty if it needs none.
pub fn key() -> String {
    std::env::var(KEY).unwrap_or_default()
}
