//! Real server, used by each test under its own prefix.

use std::ops::Deref;

use engine::{Change, Filters, FirstStageRequest, IndexDocument, SearchEngine};
use engine_meilisearch::{MeilisearchEngine, MeilisearchOptions};
use model::{Collection, DocId, IndexName};
use uuid::Uuid;

/// Engine whose indexes are deleted on drop.
pub struct Server {
    engine: MeilisearchEngine,
    pub options: MeilisearchOptions,
}

impl Server {
    /// Returns an engine without indexes; `None` if no server is configured.
    pub fn from_environment() -> Option<Self> {
        let url = std::env::var("ACCEPT_INDEX_URL").ok().filter(|url| !url.is_empty())?;
        let api_key = std::env::var("ACCEPT_INDEX_KEY").ok().filter(|key| !key.is_empty());
        let options = MeilisearchOptions { url, api_key, prefix: format!("test-{}-", Uuid::new_v4().simple()) };
        let engine = MeilisearchEngine::new(options.clone()).expect("a client");
        Some(Self { engine, options })
    }

    pub async fn with_indexes() -> Option<Self> {
        let server = Self::from_environment()?;
        server.mark_rebuilt(IndexName::ALL).await.expect("the indexes are created");
        Some(server)
    }

    /// Deletes all indexes under this prefix, as an operator might by mistake.
    pub async fn delete_indexes(&self) {
        for name in ["web-v2", "workspace-v2", "generations-v2"] {
            let url = format!("{}/indexes/{}{name}", self.options.url, self.options.prefix);
            let mut request = reqwest::Client::new().delete(url);
            if let Some(key) = &self.options.api_key {
                request = request.bearer_auth(key);
            }
            // A failure is ignored: the index may not exist, and `drop` cannot report errors.
            let _ = request.send().await;
        }
    }
}

impl Deref for Server {
    type Target = MeilisearchEngine;

    fn deref(&self) -> &MeilisearchEngine {
        &self.engine
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
                runtime.block_on(self.delete_indexes());
            });
        });
    }
}

pub fn put(number: u128, body: &str) -> Change {
    Change::Put(Box::new(IndexDocument {
        body: body.to_owned(),
        ..IndexDocument::new(DocId(Uuid::from_u128(number)), Collection::Web)
    }))
}

pub fn request(text: &str) -> FirstStageRequest {
    FirstStageRequest {
        collection: Collection::Web,
        texts: vec![text.to_owned()],
        exact_phrase: false,
        rerank_text: None,
        filters: Filters::default(),
        limit: 10,
    }
}
