use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The caller's rate-limit state after this request.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Access {
    /// The limit of the credential and what is left of it.
    pub rate_limit: RateLimit,
}

/// Mirrors the `X-RateLimit-*` headers of the same response.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct RateLimit {
    /// Requests per second that the credential may make.
    #[schemars(range(min = 1))]
    pub limit_rps: i64,
    /// Requests left in the active one-second window.
    #[schemars(range(min = 0))]
    pub remaining: i64,
    /// When the next window starts (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub reset_at: String,
}

/// What this request cost.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Usage {
    /// Requests counted for this call: 1.
    #[schemars(range(min = 1))]
    pub requests: i64,
    /// Exact length in bytes of the uncompressed body that carries this block.
    #[schemars(range(min = 0))]
    pub bytes_returned: i64,
}
