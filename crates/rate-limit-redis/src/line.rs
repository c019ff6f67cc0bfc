//! The connection: opened, watched and opened again in the background, so that no request waits for one that is away.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisResult};
use tokio::sync::watch;

use crate::error::CountError;
use crate::script::Counter;

/// What a request waits at most, a reconnection within it included. On a network of one site an answer takes under a
/// millisecond.
pub const ANSWER: Duration = Duration::from_millis(250);
/// To resolve, connect and greet, in the background. What follows must be as quick as for a request.
const CONNECT: Duration = Duration::from_secs(1);
/// Between two attempts, and after a failure: a Redis that hangs costs a few requests a second, not every request.
const PAUSE: Duration = Duration::from_millis(500);
/// Commands that may wait to be written; further ones wait for their place, within their limit.
const QUEUE: usize = 1024;

pub struct Line {
    state: watch::Sender<State>,
    outages: AtomicU64,
}

enum State {
    /// At the start, or just lost: the first attempt is under way, and worth a short wait.
    Connecting,
    Up(Connection),
    /// It failed. Nobody waits until the keeper has got through.
    Down {
        since: Instant,
    },
}

#[derive(Clone)]
pub struct Connection {
    /// Counts up, so that what failed on an old connection is not held against the new one.
    number: u64,
    pub redis: MultiplexedConnection,
}

impl Line {
    pub fn new() -> Self {
        Self { state: watch::Sender::new(State::Connecting), outages: AtomicU64::new(0) }
    }

    /// The connection, waiting while there may be one at any moment.
    pub async fn connection(&self) -> Result<Connection, CountError> {
        let mut state = self.state.subscribe();
        let known = state.wait_for(|state| !matches!(state, State::Connecting)).await;
        match known.as_deref() {
            Ok(State::Up(connection)) => Ok(connection.clone()),
            Ok(State::Connecting | State::Down { .. }) | Err(_) => Err(CountError::Away),
        }
    }

    pub fn is_up(&self) -> bool {
        matches!(*self.state.borrow(), State::Up(_))
    }

    pub fn outages(&self) -> u64 {
        self.outages.load(Ordering::Relaxed)
    }

    /// The other side closed it: a restart, or Redis tidying up. An attempt at once may well succeed.
    pub fn dropped(&self, lost: &Connection) {
        self.state.send_if_modified(|state| {
            let is_current = matches!(state, State::Up(current) if current.number == lost.number);
            if is_current {
                *state = State::Connecting;
            }
            is_current
        });
    }

    /// It does not do its work: left alone for a while.
    pub fn failed(&self, why: &CountError) {
        let begins = self.state.send_if_modified(|state| {
            let begins = !matches!(state, State::Down { .. });
            if begins {
                *state = State::Down { since: Instant::now() };
            }
            begins
        });
        if begins {
            self.outages.fetch_add(1, Ordering::Relaxed);
            metrics::counter!("retrieval_rate_limit_outages_total").increment(1);
            let cause = std::error::Error::source(why).map(ToString::to_string).unwrap_or_default();
            tracing::warn!(error = %why, cause, "the shared rate limit is not counted: Redis is away");
        }
    }

    fn opened(&self, connection: Connection) {
        if let State::Down { since } = self.state.send_replace(State::Up(connection)) {
            tracing::info!(after = ?since.elapsed(), "the shared rate limit is counted again: Redis is back");
        }
    }

    /// Keeps the line up, for as long as it is polled.
    pub async fn keep(self: Arc<Self>, client: Client, counter: Arc<Counter>) {
        let mut state = self.state.subscribe();
        let mut number = 0;
        loop {
            let is_down = match state.wait_for(|state| !matches!(state, State::Up(_))).await {
                Ok(state) => matches!(*state, State::Down { .. }),
                Err(_) => return,
            };
            if is_down {
                tokio::time::sleep(PAUSE).await;
            }
            match open(&client, &counter).await {
                Ok(redis) => {
                    number += 1;
                    self.opened(Connection { number, redis });
                }
                Err(error) => self.failed(&error.into()),
            }
        }
    }
}

async fn open(client: &Client, counter: &Counter) -> RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(CONNECT))
        .set_response_timeout(Some(ANSWER))
        .set_pipeline_buffer_size(QUEUE);
    let mut redis = client.get_multiplexed_async_connection_with_config(&config).await?;
    counter.prove(&mut redis).await?;
    Ok(redis)
}
