//! `config check`: validates the settings.

use serde_json::json;
use settings::{EmbedBackend, IndexBackend, Settings, StorageBackend};

use crate::{certificates, compose, descriptors, embedder, logging, output, traces};

/// Validates what the settings alone cannot: values that only their adapters understand. No listener or
/// database is opened, and nothing is connected.
pub async fn config_check(settings: &Settings) -> Result<(), Vec<anyhow::Error>> {
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
    let errors: Vec<anyhow::Error> = [
        compose::location(settings).err(),
        index,
        storage,
        compose::limiter(settings).err(),
        compose::second_stage(settings).err(),
        embedder,
        compose::generator(settings).err(),
        compose::web_sources(settings).err(),
        compose::fetcher(settings).err(),
        compose::tokens(settings).err(),
        certificates::load(settings).err(),
        logging::filter(&settings.log).err(),
        traces::check(settings).err(),
        plan.err(),
    ]
    .into_iter()
    .flatten()
    .collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    output::json(&json!({ "valid": true }));
    Ok(())
}
