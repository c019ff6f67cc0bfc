use std::error::Error;

use crate::tokens::Tokens;

/// Failure of a model operation. Callers continue without the model.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("the model endpoint timed out")]
    Timeout,
    /// A recent call failed; the endpoint gets no requests until the cooldown ends.
    #[error("the model endpoint failed recently and is skipped for now")]
    CoolingDown,
    #[error("the model endpoint is unreachable")]
    Unreachable(#[source] Box<dyn Error + Send + Sync>),
    #[error("the model endpoint answered with status {0}")]
    Status(u16),
    #[error("invalid response from the model endpoint: {0}")]
    InvalidResponse(String),
    /// The model or a filter of its provider declined to answer.
    #[error("the model refused to answer")]
    Refused { tokens: Option<Tokens> },
    /// The answer contains no text besides reasoning. `truncated` is true if the limit of tokens was reached.
    #[error("the model returned no text{}", if *truncated { " within the limit of tokens" } else { "" })]
    Empty { truncated: bool, tokens: Option<Tokens> },
}

impl ModelError {
    /// Returns the usage of an answer without text, if the endpoint reported one.
    pub fn tokens(&self) -> Option<Tokens> {
        match self {
            Self::Refused { tokens } | Self::Empty { tokens, .. } => *tokens,
            Self::Timeout | Self::CoolingDown | Self::Unreachable(_) | Self::Status(_) | Self::InvalidResponse(_) => {
                None
            }
        }
    }
}
