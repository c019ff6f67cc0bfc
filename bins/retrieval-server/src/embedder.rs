//! The model that embeds passages and queries.

use std::sync::Arc;

use anyhow::bail;
use models::embedding::Embedder;
use settings::{EmbedBackend, Settings};

/// Returns the configured model; `None` if there is none.
#[expect(clippy::unused_async, reason = "models are loaded")]
pub async fn open(settings: &Settings) -> anyhow::Result<Option<Arc<dyn Embedder>>> {
    match settings.embed.backend {
        EmbedBackend::None => Ok(None),
        EmbedBackend::Http | EmbedBackend::Local => bail!("embed.backend: no embedding model is supported"),
    }
}
