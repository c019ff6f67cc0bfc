use std::sync::Arc;

use ingest::EmbeddingWorker;
use model::Clock;
use models::embedding::Embedder;
use models::testing::TestEmbedder;

use crate::TestApp;

impl TestApp {
    /// Embeds all documents with this model, and returns once their vectors are in the index.
    pub async fn embed(&self, model: &Arc<TestEmbedder>) {
        let (embedder, clock) = (Arc::clone(model) as Arc<dyn Embedder>, Arc::clone(&self.clock) as Arc<dyn Clock>);
        let worker = EmbeddingWorker::new(self.store.clone(), embedder, clock);
        worker.adopt().await.unwrap();
        self.feeder.drain_all().await.unwrap();
        worker.drain().await.unwrap();
        self.feeder.drain_all().await.unwrap();
    }
}
