use std::sync::Arc;
use std::time::Duration;

/// Failure of a provider.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ProviderError {
    #[error("the provider timed out")]
    Timeout,
    #[error("the provider is unreachable")]
    Unreachable(#[source] Arc<dyn std::error::Error + Send + Sync>),
    /// The quota is used up for now. `retry_after` is the delay that the provider asks for.
    #[error("the provider's rate limit is reached")]
    RateLimited { retry_after: Option<Duration> },
    /// The credentials or the request are refused, which retries do not change.
    #[error("the provider refuses the request with status {status}: {hint}")]
    Refused { status: u16, hint: &'static str },
    #[error("the provider answered with status {0}")]
    Status(u16),
    #[error("invalid response from the provider: {0}")]
    InvalidResponse(String),
}

impl ProviderError {
    /// All reasons.
    pub const REASONS: [&str; 6] =
        ["timeout", "unreachable", "rate_limited", "refused", "http_status", "invalid_response"];

    /// Returns a stable snake_case name, for warnings and metrics.
    pub fn reason(&self) -> &'static str {
        match self {
            ProviderError::Timeout => "timeout",
            ProviderError::Unreachable(_) => "unreachable",
            ProviderError::RateLimited { .. } => "rate_limited",
            ProviderError::Refused { .. } => "refused",
            ProviderError::Status(_) => "http_status",
            ProviderError::InvalidResponse(_) => "invalid_response",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_listed() {
        let errors = [
            ProviderError::Timeout,
            ProviderError::Unreachable(Arc::new(std::io::Error::other("gone"))),
            ProviderError::RateLimited { retry_after: None },
            ProviderError::Refused { status: 401, hint: "look" },
            ProviderError::Status(500),
            ProviderError::InvalidResponse("text".to_owned()),
        ];
        assert_eq!(errors.map(|error| error.reason()), ProviderError::REASONS);
    }
}
