use async_trait::async_trait;
use time::{Duration, OffsetDateTime};

/// Rate limiter with a limit per key and second.
#[async_trait]
pub trait RateLimiter: Send + Sync {
    /// Spends one token of `key` in the window of `now`.
    ///
    /// Contract, checked by [`crate::conformance`]:
    /// - Of all calls for one key in one window, exactly the first `limit` are allowed, with any number of callers,
    ///   threads and instances. A denied call spends nothing.
    /// - `remaining` is the number of tokens after this call; 0 if denied.
    /// - Keys are independent.
    /// - The limit may differ from call to call; it is compared with the number of tokens spent before.
    /// - `now` may be slightly older than the latest window, because callers read the clock before they wait for a
    ///   lock. Such a call counts in the latest window.
    async fn take(&self, key: &str, limit: u32, now: OffsetDateTime) -> Result<Decision, RateLimitError>;

    /// Returns the state of the shared counter, or `None` if there is none.
    fn shared_counter(&self) -> Option<SharedCounter> {
        None
    }
}

/// State of a counter that several instances share.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SharedCounter {
    /// An attempt to connect is in progress, at startup or after the peer closed the connection.
    Connecting,
    Up,
    /// Unreachable, with the reason, which contains no credentials.
    Down(String),
}

/// Result of a rate limit check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Decision {
    pub allowed: bool,
    /// Requests per second, as passed by the caller.
    pub limit: u32,
    /// Requests left in the window after this one.
    pub remaining: u32,
    /// Start of the next window: a whole second.
    pub reset_at: OffsetDateTime,
}

/// The counter is unreachable. The caller decides whether to allow the request.
#[derive(Debug, thiserror::Error)]
#[error("the rate-limit counter is unavailable")]
pub struct RateLimitError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// Returns the window of a time: whole seconds since the Unix epoch, rounded down.
pub fn window_of(now: OffsetDateTime) -> i64 {
    now.unix_timestamp_nanos().div_euclid(1_000_000_000) as i64
}

/// Returns the end of the window, which is the start of the next one.
pub fn window_end(window: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(window).unwrap_or(OffsetDateTime::UNIX_EPOCH).saturating_add(Duration::SECOND)
}
