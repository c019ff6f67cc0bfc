//! Generation of text from a prompt.

use async_trait::async_trait;
use serde_json::Value;

pub use crate::tokens::Tokens;

use crate::ModelError;

/// Prompt with the requested form of the answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GenerationRequest {
    /// Instructions. May be empty.
    pub system: String,
    /// Task and material.
    pub user: String,
    /// JSON Schema of the answer. It guides the model and guarantees nothing: callers validate the text.
    pub schema: Option<Value>,
    /// True if the schema is the same for all callers. If it is rejected, the endpoint is at fault, not the schema.
    pub is_own_schema: bool,
    /// Maximum number of generated tokens, reasoning included. A lower limit of the generator takes precedence.
    pub max_tokens: u32,
}

/// Answer of a model.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Generation {
    /// Text without the model's reasoning; never empty.
    pub text: String,
    /// `None` if the endpoint reports no usage.
    pub tokens: Option<Tokens>,
    /// True if the text ends at the limit of tokens.
    pub truncated: bool,
}

/// Model that generates text. Implementations are cheap to share (`Arc<dyn Generator>`).
#[async_trait]
pub trait Generator: Send + Sync {
    /// Returns the model's name as shown to callers of the service. It does not reveal the endpoint.
    fn id(&self) -> &str;

    /// Returns the maximum number of tokens that it generates per call, reasoning included.
    fn max_tokens(&self) -> u32;

    /// Generates one answer. Implementations enforce their own timeout.
    ///
    /// # Errors
    /// `ModelError` when there is no text.
    async fn generate(&self, request: &GenerationRequest) -> Result<Generation, ModelError>;
}
