//! Real server, used by each test under its own prefix.

use std::ops::Deref;

use engine::{Change, Filters, FirstStageRequest, IndexDocument, SearchEngine};
use engine_qdrant::{QdrantEngine, QdrantOptions};
use model::{Collection, DocId, IndexName};
use qdrant_client::Qdrant;
use uuid::Uuid;

/// Engine whose collections are deleted on drop.
pub struct Server {
    engine: QdrantEngine,
    pub options: QdrantOptions,
}

impl Server {
    /// Returns an engine without indexes; `None` if no server is configured.
    pub fn from_environment() -> Option<Self> {
        let url = std::env::var("TEST_QDRANT_URL").ok().filter(|url| !url.is_empty())?;
        let api_key = std::env::var("TEST_QDRANT_KEY").ok().filter(|key| !key.is_empty());
        let options = QdrantOptions { api_key, prefix: format!("test-{}-", Uuid::new_v4().simple()), ..options(url) };
        let engine = QdrantEngine::new(options.clone()).expect("a client");
        Some(Self { engine, options })
    }

    pub async fn with_indexes() -> Option<Self> {
        let server = Self::from_environment()?;
        server.mark_rebuilt(IndexName::ALL).await.expect("the indexes are created");
        Some(server)
    }

    pub fn client(&self) -> Qdrant {
        let mut config = Qdrant::from_url(&self.options.url).skip_compatibility_check();
        config.api_key = self.options.api_key.clone();
        config.build().expect("a client")
    }

    /// Deletes all collections under this prefix, as an operator might by mistake.
    pub async fn delete_collections(&self) {
        self.delete_collections_with("").await;
    }

    /// Deletes the collections under this prefix whose names contain a text.
    pub async fn delete_collections_with(&self, text: &str) {
        let client = self.client();
        let Ok(listed) = client.list_collections().await else { return };
        for collection in listed.collections {
            if collection.name.starts_with(&self.options.prefix) && collection.name.contains(text) {
                // A failure is ignored: `drop` cannot report errors.
                let _ = client.delete_collection(collection.name).await;
            }
        }
    }
}

impl Deref for Server {
    type Target = QdrantEngine;

    fn deref(&self) -> &QdrantEngine {
        &self.engine
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
                runtime.block_on(self.delete_collections());
            });
        });
    }
}

pub fn options(url: String) -> QdrantOptions {
    QdrantOptions { url, api_key: None, prefix: String::new(), shards: 1, replicas: 1 }
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
