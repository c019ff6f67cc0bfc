use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use rate_limit::{Decision, MemoryLimiter, RateLimitError, RateLimiter, window_end, window_of};
use redis::io::tcp::TcpSettings;
use redis::{Client, ConnectionInfo, IntoConnectionInfo};
use time::OffsetDateTime;
use tokio::task::JoinHandle;

use crate::error::{CountError, RedisUrlError};
use crate::line::{ANSWER, Line};
use crate::script::{Count, Counter};

/// What becomes of requests while Redis is away.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum OnFailure {
    /// They are let through.
    #[default]
    Open,
    /// They fail.
    Closed,
}

#[derive(Clone)]
pub struct RedisLimiterOptions {
    /// `redis://`, `rediss://` (TLS, checked by the authorities that the system trusts) or `unix://`. Its path is the
    /// number of the database.
    pub url: String,
    /// Before every key.
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

/// Counts that all instances on one Redis share.
pub struct RedisLimiter {
    line: Arc<Line>,
    counter: Arc<Counter>,
    on_failure: OnFailure,
    /// What this instance let through by itself, for an honest `remaining`.
    alone: MemoryLimiter,
    uncounted: AtomicU64,
    keeper: JoinHandle<()>,
}

impl RedisLimiter {
    /// Starts to connect and does not wait for it: a Redis that is away is no error. Must be called on a tokio runtime,
    /// which must live as long as this.
    ///
    /// # Errors
    /// The address is none.
    pub fn new(options: RedisLimiterOptions) -> Result<Self, RedisUrlError> {
        let RedisLimiterOptions { url, prefix, on_failure } = options;
        let client = client(&url)?;
        let (line, counter) = (Arc::new(Line::new()), Arc::new(Counter::new(prefix)));
        let keeper = tokio::spawn(Arc::clone(&line).keep(client, Arc::clone(&counter)));
        let (alone, uncounted) = (MemoryLimiter::new(), AtomicU64::new(0));
        Ok(Self { line, counter, on_failure, alone, uncounted, keeper })
    }

    /// How often Redis went away so far.
    pub fn outages(&self) -> u64 {
        self.line.outages()
    }

    /// Requests so far that were let through, or failed, without being counted.
    pub fn uncounted(&self) -> u64 {
        self.uncounted.load(Ordering::Relaxed)
    }

    async fn count(&self, key: &str, limit: u32, window: i64) -> Result<Count, CountError> {
        let mut connection = self.line.connection().await?;
        match self.counter.count(&mut connection.redis, key, limit, window).await {
            // Once more on a new connection: Redis closes those that were idle. A count whose answer was lost is
            // repeated and spends two, which errs on the side of the limit.
            Err(error) if error.is_connection_dropped() => self.line.dropped(&connection),
            done => return Ok(done?),
        }
        let mut connection = self.line.connection().await?;
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
                let decision = self.alone.take(key, limit, now).await?;
                Ok(Decision { allowed: limit > 0, ..decision })
            }
            OnFailure::Closed => Err(RateLimitError(error.into())),
        }
    }
}

#[async_trait]
impl RateLimiter for RedisLimiter {
    async fn take(&self, key: &str, limit: u32, now: OffsetDateTime) -> Result<Decision, RateLimitError> {
        let counted = tokio::time::timeout(ANSWER, self.count(key, limit, window_of(now))).await;
        match counted.unwrap_or(Err(CountError::Late(ANSWER))) {
            Ok(Count { allowed, spent, window }) => {
                Ok(Decision { allowed, limit, remaining: limit.saturating_sub(spent), reset_at: window_end(window) })
            }
            Err(error) => {
                // That it was away is no news, and by now it may be back.
                if !matches!(error, CountError::Away) {
                    self.line.failed(&error);
                }
                self.without_count(error, key, limit, now).await
            }
        }
    }

    fn shared_counter_is_up(&self) -> Option<bool> {
        Some(self.line.is_up())
    }
}

impl Drop for RedisLimiter {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

fn client(url: &str) -> Result<Client, RedisUrlError> {
    // The reasons of the library are fixed texts; what it appends to them may quote the address.
    let unreadable = |error: redis::RedisError| RedisUrlError::Unreadable(error.category().to_owned());
    if url.contains('#') {
        return Err(RedisUrlError::Fragment);
    }
    let info: ConnectionInfo = url.into_connection_info().map_err(unreadable)?;
    if matches!(info.addr(), redis::ConnectionAddr::TcpTls { .. }) {
        // The library takes the process's own choice of cryptography. Another that was made before stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    Client::open(info.set_tcp_settings(TcpSettings::default().set_nodelay(true))).map_err(unreadable)
}
