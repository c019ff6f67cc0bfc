use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use rate_limit::{Decision, MemoryLimiter, RateLimitError, RateLimiter, SharedCounter, window_end, window_of};
use redis::io::tcp::TcpSettings;
use redis::{Client, ConnectionInfo, IntoConnectionInfo};
use time::OffsetDateTime;
use tokio::task::JoinHandle;

use crate::connection::{ConnectionKeeper, RESPONSE_TIMEOUT};
use crate::error::{CountError, RedisUrlError};
use crate::script::{Count, Counter};

/// Handling of requests while Redis is down.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum OnFailure {
    /// Allow them.
    #[default]
    Open,
    /// Fail them.
    Closed,
}

#[derive(Clone)]
pub struct RedisLimiterOptions {
    /// `redis://`, `rediss://` (TLS with the system's certificate authorities) or `unix://`. The path is the database
    /// number.
    pub url: String,
    /// Prefix of every key.
    pub prefix: String,
    pub on_failure: OnFailure,
}

impl fmt::Debug for RedisLimiterOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url: _, prefix, on_failure } = self;
        let mut shown = f.debug_struct("RedisLimiterOptions");
        shown.field("prefix", prefix).field("on_failure", on_failure).finish_non_exhaustive()
    }
}

/// Rate limiter with counters shared by all instances on one Redis.
pub struct RedisLimiter {
    connection: Arc<ConnectionKeeper>,
    counter: Arc<Counter>,
    on_failure: OnFailure,
    /// Requests allowed without Redis, for an accurate `remaining`.
    fallback: MemoryLimiter,
    uncounted: AtomicU64,
    keeper_task: JoinHandle<()>,
}

impl RedisLimiter {
    /// Starts to connect in the background; an unreachable Redis is not an error. Must be called on a tokio runtime
    /// that outlives the limiter.
    ///
    /// # Errors
    /// Invalid URL.
    pub fn new(options: RedisLimiterOptions) -> Result<Self, RedisUrlError> {
        let RedisLimiterOptions { url, prefix, on_failure } = options;
        let client = client(&url)?;
        let (connection, counter) = (Arc::new(ConnectionKeeper::new()), Arc::new(Counter::new(prefix)));
        let keeper_task = tokio::spawn(Arc::clone(&connection).run(client, Arc::clone(&counter)));
        let (fallback, uncounted) = (MemoryLimiter::new(), AtomicU64::new(0));
        Ok(Self { connection, counter, on_failure, fallback, uncounted, keeper_task })
    }

    /// Returns the number of outages so far.
    pub fn outages(&self) -> u64 {
        self.connection.outages()
    }

    /// Returns the number of requests allowed or failed without being counted.
    pub fn uncounted(&self) -> u64 {
        self.uncounted.load(Ordering::Relaxed)
    }

    async fn count(&self, key: &str, limit: u32, window: i64) -> Result<Count, CountError> {
        let mut connection = self.connection.get().await?;
        match self.counter.count(&mut connection.redis, key, limit, window).await {
            // Retry once on a new connection, because Redis closes idle ones. If only the response was lost, the
            // request is counted twice, which errs on the side of the limit.
            Err(error) if error.is_connection_dropped() => self.connection.mark_dropped(&connection),
            result => return Ok(result?),
        }
        let mut connection = self.connection.get().await?;
        Ok(self.counter.count(&mut connection.redis, key, limit, window).await?)
    }

    async fn without_count(
        &self,
        error: CountError,
        key: &str,
        limit: u32,
        now: OffsetDateTime,
    ) -> Result<Decision, RateLimitError> {
        self.uncounted.fetch_add(1, Ordering::Relaxed);
        metrics::counter!("retrieval_rate_limit_uncounted_total").increment(1);
        match self.on_failure {
            OnFailure::Open => {
                // A limit of 0 needs no count.
                let decision = self.fallback.take(key, limit, now).await?;
                Ok(Decision { allowed: limit > 0, ..decision })
            }
            OnFailure::Closed => Err(RateLimitError(error.into())),
        }
    }
}

#[async_trait]
impl RateLimiter for RedisLimiter {
    async fn take(&self, key: &str, limit: u32, now: OffsetDateTime) -> Result<Decision, RateLimitError> {
        let counted = tokio::time::timeout(RESPONSE_TIMEOUT, self.count(key, limit, window_of(now))).await;
        match counted.unwrap_or(Err(CountError::Timeout(RESPONSE_TIMEOUT))) {
            Ok(Count { allowed, spent, window }) => {
                Ok(Decision { allowed, limit, remaining: limit.saturating_sub(spent), reset_at: window_end(window) })
            }
            Err(error) => {
                // `Down` is known already, and the connection may be restored by now.
                if !matches!(error, CountError::Down) {
                    self.connection.mark_failed(&error);
                }
                self.without_count(error, key, limit, now).await
            }
        }
    }

    fn shared_counter(&self) -> Option<SharedCounter> {
        Some(self.connection.shared_counter())
    }
}

impl Drop for RedisLimiter {
    fn drop(&mut self) {
        self.keeper_task.abort();
    }
}

fn client(url: &str) -> Result<Client, RedisUrlError> {
    // The library's categories are fixed texts; its details may quote the URL.
    let unreadable = |error: redis::RedisError| RedisUrlError::Unreadable(error.category().to_owned());
    if url.contains('#') {
        return Err(RedisUrlError::Fragment);
    }
    let info: ConnectionInfo = url.into_connection_info().map_err(unreadable)?;
    if matches!(info.addr(), redis::ConnectionAddr::TcpTls { .. }) {
        // The library uses the process-wide crypto provider. A provider installed earlier stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    Client::open(info.set_tcp_settings(TcpSettings::default().set_nodelay(true))).map_err(unreadable)
}
