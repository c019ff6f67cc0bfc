use async_trait::async_trait;
use time::{Duration, OffsetDateTime};

/// Counts requests against a limit per second.
#[async_trait]
pub trait RateLimiter: Send + Sync {
    /// Spends one token of `key` in the window of `now`.
    ///
    /// The contract, which [`crate::conformance`] checks:
    /// - Of all calls for one key in one window, exactly the first `limit` are allowed, however many callers, threads
    ///   and instances there are. A refused call spends nothing.
    /// - `remaining` is what is left after this call; 0 when refused.
    /// - Keys do not influence each other.
    /// - The limit is the caller's and may differ from call to call: what counts is how much was spent before.
    /// - `now` may be a little older than the latest window seen (callers read the clock before they wait for a
    ///   lock); such a call counts in the latest window.
    async fn take(&self, key: &str, limit: u32, now: OffsetDateTime) -> Result<Decision, RateLimitError>;

    /// Whether the counter that instances share can be reached; `None` where nothing is shared.
    fn shared_counter_is_up(&self) -> Option<bool> {
        None
    }
}

/// What became of one request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Decision {
    pub allowed: bool,
    /// Requests per second, as asked for.
    pub limit: u32,
    /// Requests left in the window after this one.
    pub remaining: u32,
    /// When the next window starts: a whole second.
    pub reset_at: OffsetDateTime,
}

/// The counter could not be reached; whether to let the request through is the caller's choice.
#[derive(Debug, thiserror::Error)]
#[error("the rate-limit counter is unavailable")]
pub struct RateLimitError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// The window that a time falls into: whole seconds since the Unix epoch, rounded down.
pub fn window_of(now: OffsetDateTime) -> i64 {
    now.unix_timestamp_nanos().div_euclid(1_000_000_000) as i64
}

/// When the window ends and the next one starts.
pub fn window_end(window: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(window).unwrap_or(OffsetDateTime::UNIX_EPOCH).saturating_add(Duration::SECOND)
}
