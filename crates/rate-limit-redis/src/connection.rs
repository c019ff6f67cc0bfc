//! Connection to Redis, opened and reopened in the background so that requests do not wait during an outage.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rate_limit::SharedCounter;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisResult};
use tokio::sync::watch;

use crate::error::CountError;
use crate::script::Counter;

/// Maximum wait of a request, including a reconnect. Within a site a response takes less than a millisecond.
pub const RESPONSE_TIMEOUT: Duration = Duration::from_millis(250);
/// Timeout to resolve, connect and greet in the background. Later commands have the timeout of requests.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// Delay between two attempts and after a failure: a hanging Redis delays a few requests per second, not all.
const RETRY_DELAY: Duration = Duration::from_millis(500);
/// Interval of test counts on an open connection: without requests nothing else would notice an outage.
const PROBE_INTERVAL: Duration = Duration::from_secs(5);
/// Maximum number of queued commands. Further ones wait, within their timeout.
const QUEUE: usize = 1024;

pub struct ConnectionKeeper {
    state: watch::Sender<State>,
    outages: AtomicU64,
}

enum State {
    /// At startup, or just dropped: the first attempt is in progress and worth a short wait.
    Connecting,
    Up(Connection),
    /// Failed. Requests do not wait until the connection is restored.
    Down {
        since: Instant,
        /// Reason of the last failure.
        reason: String,
    },
}

#[derive(Clone)]
pub struct Connection {
    /// Increasing number, so that failures of an old connection do not affect the new one.
    number: u64,
    pub redis: MultiplexedConnection,
}

impl ConnectionKeeper {
    pub fn new() -> Self {
        Self { state: watch::Sender::new(State::Connecting), outages: AtomicU64::new(0) }
    }

    /// Returns the connection, waiting while the first attempt is in progress.
    pub async fn get(&self) -> Result<Connection, CountError> {
        let mut state = self.state.subscribe();
        let known = state.wait_for(|state| !matches!(state, State::Connecting)).await;
        match known.as_deref() {
            Ok(State::Up(connection)) => Ok(connection.clone()),
            Ok(State::Connecting | State::Down { .. }) | Err(_) => Err(CountError::Down),
        }
    }

    pub fn shared_counter(&self) -> SharedCounter {
        match &*self.state.borrow() {
            State::Connecting => SharedCounter::Connecting,
            State::Up(_) => SharedCounter::Up,
            State::Down { since: _, reason } => SharedCounter::Down(reason.clone()),
        }
    }

    pub fn outages(&self) -> u64 {
        self.outages.load(Ordering::Relaxed)
    }

    /// Marks the connection as closed by the peer, by a restart or an idle timeout. An immediate reconnect may succeed.
    pub fn mark_dropped(&self, lost: &Connection) {
        self.state.send_if_modified(|state| {
            let is_current = matches!(state, State::Up(current) if current.number == lost.number);
            if is_current {
                *state = State::Connecting;
            }
            is_current
        });
    }

    /// Marks Redis as down. It is not contacted until the keeper has reconnected.
    pub fn mark_failed(&self, error: &CountError) {
        let begins = self.state.send_if_modified(|state| {
            let begun = match state {
                State::Down { since, reason: _ } => Some(*since),
                State::Connecting | State::Up(_) => None,
            };
            *state = State::Down { since: begun.unwrap_or_else(Instant::now), reason: error.reason() };
            begun.is_none()
        });
        if begins {
            self.outages.fetch_add(1, Ordering::Relaxed);
            metrics::counter!("retrieval_rate_limit_outages_total").increment(1);
            let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
            tracing::warn!(error = %error, cause, "Redis is down, the shared rate limit is not counted");
        }
    }

    fn set_up(&self, connection: Connection) {
        if let State::Down { since, reason: _ } = self.state.send_replace(State::Up(connection)) {
            tracing::info!(after = ?since.elapsed(), "Redis is back, the shared rate limit is counted again");
        }
    }

    /// Connects and reconnects for as long as it is polled.
    pub async fn run(self: Arc<Self>, client: Client, counter: Arc<Counter>) {
        let mut number = 0;
        loop {
            self.watch(&counter).await;
            let is_down = matches!(*self.state.borrow(), State::Down { .. });
            if is_down {
                tokio::time::sleep(RETRY_DELAY).await;
            }
            match open(&client, &counter).await {
                Ok(redis) => {
                    number += 1;
                    self.set_up(Connection { number, redis });
                }
                Err(error) => self.mark_failed(&error.into()),
            }
        }
    }

    /// Probes the connection at intervals, and returns once it is not up. After a failed probe the reconnect finds the reason.
    async fn watch(&self, counter: &Counter) {
        let mut state = self.state.subscribe();
        while let Some(mut connection) = self.current() {
            let lost = state.wait_for(|state| !matches!(state, State::Up(_)));
            let is_lost = tokio::time::timeout(PROBE_INTERVAL, lost).await.is_ok();
            if !is_lost && counter.probe(&mut connection.redis).await.is_err() {
                self.mark_dropped(&connection);
            }
        }
    }

    fn current(&self) -> Option<Connection> {
        match &*self.state.borrow() {
            State::Up(connection) => Some(connection.clone()),
            State::Connecting | State::Down { .. } => None,
        }
    }
}

async fn open(client: &Client, counter: &Counter) -> RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(CONNECT_TIMEOUT))
        .set_response_timeout(Some(RESPONSE_TIMEOUT))
        .set_pipeline_buffer_size(QUEUE);
    let mut redis = client.get_multiplexed_async_connection_with_config(&config).await?;
    counter.probe(&mut redis).await?;
    Ok(redis)
}
