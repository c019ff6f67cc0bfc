//! Rating of texts against a query.

use async_trait::async_trait;

use crate::ModelError;

/// Model that rates texts against a query. Implementations are cheap to share (`Arc<dyn Reranker>`).
#[async_trait]
pub trait Reranker: Send + Sync {
    /// Returns the relevance of each text to the query, in the order of the texts.
    ///
    /// Scores are finite, higher is better, and they are comparable within one call only. Implementations enforce their
    /// own timeout.
    ///
    /// # Errors
    /// `ModelError` when the scores of any text are missing.
    async fn score(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, ModelError>;

    /// Returns the model's name as shown in search responses. It does not reveal the endpoint.
    fn version(&self) -> &str;

    /// Returns `true` unless the last call failed, less than a minute ago ([`health`](crate::health)).
    fn is_healthy(&self) -> bool;
}
