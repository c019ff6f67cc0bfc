#![doc = include_str!("../README.md")]

use std::error::Error;

use async_trait::async_trait;

/// A model behind the service. Implementations are cheap to share (`Arc<dyn Reranker>`).
#[async_trait]
pub trait Reranker: Send + Sync {
    /// How well each text answers the query, in the order of the texts: finite, higher is better, comparable inside one
    /// call only. Ends within a time of the implementation's own.
    async fn score(&self, query: &str, texts: &[String]) -> Result<Vec<f32>, RerankError>;

    /// Names the model in answers. Says nothing of where it is.
    fn version(&self) -> &str;

    /// Whether the last call was answered.
    fn is_well(&self) -> bool;
}

/// Why there are no scores. The caller goes on without.
#[derive(Debug, thiserror::Error)]
pub enum RerankError {
    #[error("the reranker did not answer within its time")]
    Late,
    /// A moment ago it was late; it is not asked again yet.
    #[error("the reranker was late a moment ago and is left alone")]
    LeftAlone,
    #[error("the reranker cannot be reached")]
    Unreachable(#[source] Box<dyn Error + Send + Sync>),
    #[error("the reranker answered with status {0}")]
    Status(u16),
    #[error("the reranker's answer makes no sense: {0}")]
    Nonsense(String),
}
