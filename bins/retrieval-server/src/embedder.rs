//! The model that embeds passages and queries.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use app::readiness::HostCheck;
use models::embedding::Embedder;
use models_http::{HttpEmbedder, HttpEmbedderOptions};
use models_local::{LocalEmbedder, LocalEmbedderOptions};
use settings::{Embed, EmbedBackend, Settings};

/// Timeout of a batch of passages. Nobody waits for it.
const DOCUMENT_TIMEOUT: Duration = Duration::from_secs(30);
/// Delay before the first retry of a batch.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// Returns the configured model; `None` if there is none. A local one is loaded.
pub async fn open(settings: &Settings) -> anyhow::Result<Option<Arc<dyn Embedder>>> {
    let embed = &settings.embed;
    match embed.backend {
        EmbedBackend::None => Ok(None),
        EmbedBackend::Http => Ok(Some(Arc::new(http(embed)?))),
        EmbedBackend::Local => {
            let (dir, options) = (embed.dir.clone(), local_options(embed));
            let opened = tokio::task::spawn_blocking(move || LocalEmbedder::open(&dir, options));
            Ok(Some(Arc::new(opened.await?.context("embed.dir")?)))
        }
    }
}

/// Returns the client of the configured endpoint, without connecting.
pub fn http(embed: &Embed) -> anyhow::Result<HttpEmbedder> {
    let options = HttpEmbedderOptions {
        url: embed.url.clone(),
        model: embed.model.clone(),
        api_key: Some(embed.api_key.expose().to_owned()).filter(|key| !key.is_empty()),
        dimensions: count(embed.dimensions),
        query_prefix: embed.query_prefix.clone(),
        document_prefix: embed.document_prefix.clone(),
        batch: count(embed.batch),
        timeout: Duration::from_millis(embed.timeout_ms),
        document_timeout: DOCUMENT_TIMEOUT,
        retry_delay: RETRY_DELAY,
    };
    HttpEmbedder::new(options).context("embed.url or embed.api_key")
}

fn local_options(embed: &Embed) -> LocalEmbedderOptions {
    LocalEmbedderOptions {
        dimensions: count(embed.dimensions),
        query_prefix: embed.query_prefix.clone(),
        document_prefix: embed.document_prefix.clone(),
        batch: count(embed.batch),
        timeout: Duration::from_millis(embed.timeout_ms),
        threads: 0,
    }
}

fn count(setting: u32) -> usize {
    usize::try_from(setting).unwrap_or(usize::MAX)
}

/// Returns the entry of the readiness report: the outcome of the last call, of which a failure counts for a minute. A probe would put
/// load on the model. Not required, since searches work without it.
pub fn host_check(embedder: &Arc<dyn Embedder>) -> HostCheck {
    let embedder = Arc::clone(embedder);
    let check = move || -> Result<Option<String>, String> {
        if embedder.is_healthy() { Ok(None) } else { Err("the last call failed".to_owned()) }
    };
    HostCheck { name: "embed", required: false, check: Arc::new(check) }
}
