//! Meilisearch: where an address is given, otherwise not at all; we install and start none.

use super::{Provided, Running, Service};

/// A Meilisearch that somebody else runs, named by `ACCEPT_INDEX_URL` (and `ACCEPT_INDEX_KEY`).
pub struct Meilisearch;

impl Service for Meilisearch {
    fn name(&self) -> &'static str {
        "Meilisearch"
    }

    fn provide(&self) -> Provided {
        match std::env::var("ACCEPT_INDEX_URL") {
            // The tests inherit the variables from our own environment.
            Ok(url) if !url.is_empty() => Provided::Running(Running { how: url, environment: vec![], _guard: None }),
            _ => Provided::Absent { reason: "ACCEPT_INDEX_URL is not set".to_owned() },
        }
    }

    fn required_in_ci(&self) -> bool {
        false
    }
}
