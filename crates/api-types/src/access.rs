use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The caller's rate-limit state after this request.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Access {
    /// Rate limit of the credential.
    pub rate_limit: RateLimit,
}

/// Rate-limit state, equal to the `X-RateLimit-*` headers of the response.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct RateLimit {
    /// Maximum requests per second of the credential.
    #[schemars(range(min = 1))]
    pub limit_rps: i64,
    /// Requests left in the current one-second window.
    #[schemars(range(min = 0))]
    pub remaining: i64,
    /// Start of the next window (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub reset_at: String,
}

/// Usage of this request.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Usage {
    /// Number of requests counted: 1.
    #[schemars(range(min = 1))]
    pub requests: i64,
    /// Exact length in bytes of the uncompressed body with this block.
    #[schemars(range(min = 0))]
    pub bytes_returned: i64,
}

impl AsMut<Usage> for Usage {
    fn as_mut(&mut self) -> &mut Usage {
        self
    }
}
