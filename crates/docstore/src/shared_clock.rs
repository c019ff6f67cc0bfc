//! Clock of all processes that use one database.

use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;

use model::{Clock, SystemClock, Timestamp};
use tokio::time::Instant;

use crate::Docstore;
use crate::error::Result;

/// Interval of comparisons with the server's clock.
const INTERVAL: Duration = Duration::from_secs(10);
/// Longest query whose time counts.
const MAX_ROUND_TRIP: Duration = Duration::from_secs(1);
/// Difference that is ignored, so that delays of the network do not move the clock.
const TOLERANCE: Duration = Duration::from_millis(100);

/// Clock that follows a PostgreSQL server, or the system's clock.
#[derive(Debug, Default)]
pub(crate) struct SharedClock(RwLock<Option<Measured>>);

/// Time of the server at an instant of this process.
#[derive(Clone, Copy, Debug)]
struct Measured {
    at: Instant,
    time: Timestamp,
}

impl Clock for SharedClock {
    fn now(&self) -> Timestamp {
        let measured = *self.0.read().unwrap_or_else(PoisonError::into_inner);
        measured.map_or_else(|| SystemClock.now(), |measured| measured.time + measured.at.elapsed())
    }
}

impl SharedClock {
    /// Takes over the server's time between two instants, unless it is that of this clock.
    fn adjust(&self, before: Instant, after: Instant, time: Timestamp) {
        let taken = after - before;
        let mut measured = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let ours = measured.map(|measured| measured.time + (before - measured.at));
        let differs = ours.is_none_or(|ours| ours.since(time).max(time.since(ours)) > TOLERANCE + taken);
        if differs && (taken <= MAX_ROUND_TRIP || measured.is_none()) {
            *measured = Some(Measured { at: before + taken / 2, time });
        }
    }
}

impl Docstore {
    /// Returns the clock that all processes of this database should use for what they store: leases, schedules, times. It is that of
    /// the system until [`follow_server_clock`](Self::follow_server_clock).
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock) as Arc<dyn Clock>
    }

    /// Makes the clock follow that of a PostgreSQL server from now on: instances whose own clocks differ would take each other's
    /// leases for expired. Does nothing for SQLite.
    pub async fn follow_server_clock(&self) -> Result<()> {
        // The first comparison is taken over whatever it took, so it must not include the time of connecting.
        self.server_time().await?;
        if !self.compare_clocks().await? {
            return Ok(());
        }
        let (clock, store) = (Arc::downgrade(&self.clock), self.clone_without_clock());
        self.runtime.spawn(follow(clock, store));
        Ok(())
    }

    /// Returns false without a server.
    async fn compare_clocks(&self) -> Result<bool> {
        let before = Instant::now();
        let Some(time) = self.server_time().await? else { return Ok(false) };
        self.clock.adjust(before, Instant::now(), time);
        Ok(true)
    }

    /// Returns a handle that does not keep the clock in use.
    fn clone_without_clock(&self) -> Self {
        Self { clock: Arc::default(), ..self.clone() }
    }
}

/// Compares the clocks until the clock is dropped. The clock goes on by itself while the server is unavailable.
async fn follow(clock: Weak<SharedClock>, store: Docstore) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        let Some(clock) = clock.upgrade() else { return };
        let store = Docstore { clock, ..store.clone() };
        if let Err(error) = store.compare_clocks().await {
            tracing::debug!(error = &error as &dyn std::error::Error, "the clock of the database is unknown");
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    const SERVER: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn close(clock: &SharedClock, time: Timestamp) -> bool {
        let now = clock.now();
        now.since(time).max(time.since(now)) < Duration::from_secs(5)
    }

    #[test]
    fn clock_follows_the_server_beyond_the_tolerance() {
        let clock = SharedClock::default();
        assert!(close(&clock, SystemClock.now()));
        let now = Instant::now();
        clock.adjust(now, now, SERVER);
        assert!(close(&clock, SERVER));
        let before = clock.0.read().unwrap().unwrap().time;
        clock.adjust(now, now, SERVER + TOLERANCE / 2);
        assert_eq!(clock.0.read().unwrap().unwrap().time, before, "a small difference does not count");
        clock.adjust(now, now, SERVER - Duration::from_secs(60));
        assert!(close(&clock, SERVER - Duration::from_secs(60)));
        clock.adjust(now, now + Duration::from_secs(3), SERVER);
        assert!(close(&clock, SERVER - Duration::from_secs(60)), "a slow query does not count");
    }
}
