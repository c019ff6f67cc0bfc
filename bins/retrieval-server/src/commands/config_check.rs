//! `config check`: validates the settings.

use serde_json::json;
use settings::{EmbedBackend, IndexBackend, Settings, SettingsError, StorageBackend};

use crate::{certificates, compose, descriptors, embedder, logging, output, traces};

/// Validates what the settings alone cannot: values that only their adapters understand. `invalid` are the errors of the settings.
/// No listener or database is opened, and nothing is connected.
///
/// # Errors
/// Returns `invalid` and the errors of the adapters, of which one says nothing about a value that is in `invalid`.
pub async fn config_check(settings: &Settings, invalid: Vec<SettingsError>) -> Result<(), Vec<anyhow::Error>> {
    let storage = match settings.storage.backend {
        StorageBackend::S3 => compose::external_storage(settings).err(),
        // Opens its listener, which a running server has.
        StorageBackend::Embedded => None,
    };
    let index = match settings.index.backend {
        IndexBackend::Meilisearch => compose::meilisearch(settings).err(),
        IndexBackend::Qdrant => compose::qdrant(settings).err(),
        IndexBackend::Embedded | IndexBackend::None => None,
    };
    let embedder = match settings.embed.backend {
        EmbedBackend::Http => embedder::http(&settings.embed).err(),
        EmbedBackend::None | EmbedBackend::Local => None,
    };
    let plan = descriptors::plan(settings, descriptors::limit());
    if let Ok(plan) = &plan
        && plan.lowered_by.is_some()
    {
        output::warn(&plan.to_string());
    }
    // With the keys that an adapter judges and the settings do, too.
    let adapters: [(&[&str], Option<anyhow::Error>); 14] = [
        (&["database.url"], compose::location(settings).err()),
        (&["index.url"], index),
        (&["storage.endpoint", "storage.public_endpoint", "storage.region", "storage.bucket"], storage),
        (&["rate_limit.url"], compose::limiter(settings).err()),
        (&["rerank.url"], compose::second_stage(settings).err()),
        (&["embed.url"], embedder),
        (&["generate.url"], compose::generator(settings).err()),
        (&["web.searxng", "web.brave", "web.http"], compose::web_sources(settings).err()),
        (&["fetch.contact", "fetch.timeout_ms", "fetch.max_bytes"], compose::fetcher(settings).err()),
        (&["auth.oauth"], compose::tokens(settings).err()),
        (&["server.tls_"], certificates::load(settings).err()),
        (&["log.filter"], logging::filter(&settings.log).err()),
        (&["telemetry.otlp_"], traces::check(settings).err()),
        (&["server.workers", "server.max_connections", "storage.max_connections"], plan.err()),
    ];
    let is_reported = |prefixes: &[&str]| {
        invalid.iter().filter_map(SettingsError::key).any(|key| prefixes.iter().any(|prefix| key.starts_with(prefix)))
    };
    let adapters: Vec<_> = adapters.into_iter().filter(|(keys, _)| !is_reported(keys)).collect();
    let mut errors: Vec<anyhow::Error> = invalid.into_iter().map(anyhow::Error::from).collect();
    errors.extend(adapters.into_iter().filter_map(|(_, error)| error));
    if !errors.is_empty() {
        return Err(errors);
    }
    output::json(&json!({ "valid": true }));
    Ok(())
}
