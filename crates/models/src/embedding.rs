//! Vectors of texts.

use async_trait::async_trait;

use crate::ModelError;

/// Role of a text. Many models embed questions and passages differently.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TextKind {
    Query,
    Document,
}

/// Model that embeds texts. Implementations are cheap to share (`Arc<dyn Embedder>`).
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Returns the vector of each text, in the order of the texts.
    ///
    /// Vectors have finite components and the length 1, and all vectors of one embedder have the same number of components.
    /// Implementations cut texts that are too long for the model, divide long lists into batches, and enforce their own
    /// timeout.
    ///
    /// # Errors
    /// `ModelError` when the vector of any text is missing or malformed.
    async fn embed(&self, kind: TextKind, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError>;

    /// Returns the number of components, or `None` until an endpoint has told it by its first answer.
    fn dimensions(&self) -> Option<usize>;

    /// Returns the name of the model with everything that changes its vectors, such as prefixes. Vectors of different versions
    /// cannot be compared. It does not reveal the endpoint.
    fn version(&self) -> &str;

    /// Returns `true` unless the last call failed.
    fn is_healthy(&self) -> bool;
}
