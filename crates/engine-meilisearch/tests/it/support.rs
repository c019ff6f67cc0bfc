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
        let client = reqwest::Client::new();
        let authorized = |request: reqwest::RequestBuilder| match &self.options.api_key {
            Some(key) => request.bearer_auth(key),
            None => request,
        };
        let listed = authorized(client.get(format!("{}/indexes?limit=10000", self.options.url))).send().await;
        let Ok(listed) = listed else { return };
        let listed: serde_json::Value =
            serde_json::from_str(&listed.text().await.unwrap_or_default()).unwrap_or_default();
        for uid in listed["results"].as_array().into_iter().flatten().filter_map(|index| index["uid"].as_str()) {
            if uid.starts_with(&self.options.prefix) {
                // A failure is ignored: `drop` cannot report errors.
                let _ = authorized(client.delete(format!("{}/indexes/{uid}", self.options.url))).send().await;
            }
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
