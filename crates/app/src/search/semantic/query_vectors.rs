//! Vectors of queries.

use std::sync::Arc;

use model::OrganizationId;
use models::ModelError;
use models::embedding::{Embedder, TextKind, is_unknown};
use retrieval_core::chars;
use retrieval_core::embeddings::QuantizedVector;

use super::super::second_stage::FailureLog;

/// Queries whose vectors are kept: some 2 kB each with 1,000 components.
const CACHED: u64 = 10_000;

/// Characters of a query that the model reads. It would cut the rest.
const MAX_CHARS: usize = 2_000;

/// Vector of a query; `None` if the model knows nothing of it.
pub type QueryVector = Option<Arc<QuantizedVector>>;

/// Embeds queries, and remembers the vectors of recent ones.
pub struct QueryVectors {
    embedder: Arc<dyn Embedder>,
    /// By organization: the time of an answer must not tell what others searched for.
    cache: moka::sync::Cache<(OrganizationId, String), QueryVector>,
    failures: FailureLog,
}

impl QueryVectors {
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, cache: moka::sync::Cache::new(CACHED), failures: FailureLog::default() }
    }

    /// Returns the vector of a query.
    ///
    /// # Errors
    /// The model fails or takes too long, which is logged here.
    pub async fn of(&self, organization_id: OrganizationId, query: &str) -> Result<QueryVector, ModelError> {
        let text = chars::truncate(query.trim(), MAX_CHARS);
        let key = (organization_id, text.to_owned());
        if let Some(vector) = self.cache.get(&key) {
            return Ok(vector);
        }
        match self.embed(text).await {
            Ok(vector) => {
                let vector = vector.map(Arc::new);
                self.cache.insert(key, vector.clone());
                Ok(vector)
            }
            Err(error) => {
                self.failures.record(&error, "embedding a query failed: searches are lexical only");
                Err(error)
            }
        }
    }

    async fn embed(&self, text: &str) -> Result<Option<QuantizedVector>, ModelError> {
        let vectors = self.embedder.embed(TextKind::Query, &[text.to_owned()]).await?;
        if vectors.first().is_some_and(|vector| is_unknown(vector)) {
            return Ok(None);
        }
        let vector = vectors.first().and_then(|vector| QuantizedVector::quantize(vector));
        vector
            .map(Some)
            .ok_or_else(|| ModelError::InvalidResponse("the vector of the query has no direction".to_owned()))
    }
}
