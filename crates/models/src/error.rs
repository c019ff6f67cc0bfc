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
    /// Returns the usage of a call without text: zero if no model answered, `None` if it is unknown.
    pub fn tokens(&self) -> Option<Tokens> {
        match self {
            Self::Refused { tokens } | Self::Empty { tokens, .. } => *tokens,
            // Timeouts of a gateway: the model behind it may have worked.
            Self::Timeout | Self::Status(408 | 504 | 524) | Self::InvalidResponse(_) => None,
            Self::CoolingDown | Self::Unreachable(_) | Self::Status(_) => Some(Tokens::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_no_model_answered_use_no_tokens() {
        for status in [400, 401, 404, 429, 500, 503] {
            assert_eq!(ModelError::Status(status).tokens(), Some(Tokens::default()), "{status}");
        }
        assert_eq!(ModelError::CoolingDown.tokens(), Some(Tokens::default()));
        assert_eq!(ModelError::Unreachable("it is away".into()).tokens(), Some(Tokens::default()));
        for unknown in [ModelError::Timeout, ModelError::Status(504), ModelError::InvalidResponse(String::new())] {
            assert_eq!(unknown.tokens(), None, "{unknown}");
        }
    }
}
