//! Search engines for measurements.

use super::client::Client;
use crate::services::meilisearch;
use anyhow::Context;
use serde_json::Value;
use std::time::SystemTime;

/// Prefix of the names of our indexes on a private server.
const PREFIX: &str = "bench-";

/// Search engine of the server.
pub enum Engine {
    Embedded,
    Meilisearch(Meilisearch),
    /// External Qdrant that has only our collections.
    Qdrant {
        url: String,
        key: String,
    },
}

/// External Meilisearch. Our indexes are removed on drop unless they are kept.
pub struct Meilisearch {
    url: String,
    key: String,
    prefix: String,
    keep: bool,
}

impl Engine {
    /// Returns the embedded engine, and the Meilisearch of the environment if set.
    pub fn available() -> Vec<Self> {
        // Unique per run, because runs may share the server.
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default().as_millis();
        let prefix = format!("bench-{}-{now}-", std::process::id());
        let meilisearch = meilisearch::address()
            .map(|url| Self::Meilisearch(Meilisearch { url, key: meilisearch::key(), prefix, keep: false }));
        [Self::Embedded].into_iter().chain(meilisearch).collect()
    }

    /// Returns an external Meilisearch that has only our indexes.
    pub fn meilisearch(url: &str, key: &str) -> Self {
        let [url, key, prefix] = [url, key, PREFIX].map(str::to_owned);
        Self::Meilisearch(Meilisearch { url, key, prefix, keep: true })
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Meilisearch(_) => "meilisearch",
            Self::Qdrant { .. } => "qdrant",
        }
    }

    /// Returns the prefix of its index names.
    pub fn prefix(&self) -> &str {
        match self {
            Self::Embedded => "",
            Self::Meilisearch(Meilisearch { prefix, .. }) => prefix,
            Self::Qdrant { .. } => PREFIX,
        }
    }

    /// Sets the prefix of its indexes and keeps them on drop.
    pub fn keep(&mut self, kept_prefix: &str) {
        if let Self::Meilisearch(Meilisearch { prefix, keep, .. }) = self {
            kept_prefix.clone_into(prefix);
            *keep = true;
        }
    }

    /// Returns the server settings for this engine.
    pub fn settings(&self) -> String {
        let (url, key) = match self {
            Self::Embedded => return String::new(),
            Self::Meilisearch(Meilisearch { url, key, .. }) | Self::Qdrant { url, key } => (url.as_str(), key.as_str()),
        };
        // JSON strings are valid TOML strings.
        let [backend, url, key, prefix] = [self.name(), url, key, self.prefix()].map(Value::from);
        format!("[index]\nbackend = {backend}\nurl = {url}\napi_key = {key}\nprefix = {prefix}\n")
    }
}

impl Meilisearch {
    fn remove_indexes(&self) -> anyhow::Result<()> {
        let client = Client::new(self.url.trim_end_matches('/'), &self.key);
        let listed: Value = serde_json::from_slice(&client.get("/indexes?limit=1000")?)?;
        let indexes = listed["results"].as_array().context("no `results` in the list of indexes")?;
        for name in indexes.iter().filter_map(|index| index["uid"].as_str()) {
            if name.starts_with(&self.prefix) {
                client.delete(&format!("/indexes/{name}"))?;
            }
        }
        Ok(())
    }
}

impl Drop for Meilisearch {
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        if let Err(error) = self.remove_indexes() {
            eprintln!("warning: indexes `{}*` may remain in `{}`: {error:#}", self.prefix, self.url);
        }
    }
}
