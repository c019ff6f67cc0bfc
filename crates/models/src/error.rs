use std::error::Error;

/// Failure of a model operation. Callers continue without the model.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("the model endpoint timed out")]
    Timeout,
    /// A recent call timed out; the endpoint gets no requests until the cooldown ends.
    #[error("the model endpoint timed out recently and is skipped for now")]
    CoolingDown,
    #[error("the model endpoint is unreachable")]
    Unreachable(#[source] Box<dyn Error + Send + Sync>),
    #[error("the model endpoint answered with status {0}")]
    Status(u16),
    #[error("invalid response from the model endpoint: {0}")]
    InvalidResponse(String),
}
