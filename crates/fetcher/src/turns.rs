//! Politeness: who may send a request to a host, and when.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

/// From so many hosts on, those that nobody waits for are forgotten.
const MAX_IDLE_HOSTS: usize = 1024;

/// The queues before the hosts.
pub(crate) struct Turns {
    hosts: Mutex<HashMap<String, Arc<Host>>>,
    /// Requests to one host at a time.
    concurrent: usize,
}

struct Host {
    name: String,
    slots: Arc<Semaphore>,
    /// When the next request may start.
    next_start: Mutex<Instant>,
}

/// Holds a place at a host, until it is dropped.
pub(crate) struct Turn {
    _slot: Option<OwnedSemaphorePermit>,
    /// Keeps the host from being forgotten.
    host: Arc<Host>,
}

impl Turn {
    /// Whether this is a place at `host`.
    pub fn is_at(&self, host: &str) -> bool {
        self.host.name == host
    }
}

impl Turns {
    pub fn new(concurrent: usize) -> Self {
        Self { hosts: Mutex::default(), concurrent }
    }

    /// Waits for a place at `host`, and until the request before has started at least its own `delay` ago.
    pub async fn take(&self, host: &str, delay: Duration) -> Turn {
        let host = self.host(host);
        // Never closed, so there is always a permit to come.
        let slot = Arc::clone(&host.slots).acquire_owned().await.ok();
        let now = Instant::now();
        let start = {
            let mut next_start = host.next_start.lock().unwrap_or_else(PoisonError::into_inner);
            let start = (*next_start).max(now);
            *next_start = start + delay;
            start
        };
        // A timer takes a millisecond even for no time at all.
        if start > now {
            sleep_until(start).await;
        }
        Turn { _slot: slot, host }
    }

    fn host(&self, name: &str) -> Arc<Host> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(host) = hosts.get(name) {
            return Arc::clone(host);
        }
        if hosts.len() >= MAX_IDLE_HOSTS {
            let now = Instant::now();
            hosts.retain(|_, host| Arc::strong_count(host) > 1 || !host.is_rested(now));
        }
        let host = Arc::new(Host {
            name: name.to_owned(),
            slots: Arc::new(Semaphore::new(self.concurrent)),
            next_start: Mutex::new(Instant::now()),
        });
        hosts.insert(name.to_owned(), Arc::clone(&host));
        host
    }
}

impl Host {
    fn is_rested(&self, now: Instant) -> bool {
        *self.next_start.lock().unwrap_or_else(PoisonError::into_inner) <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_millis(100);

    #[tokio::test(start_paused = true)]
    async fn requests_to_one_host_keep_their_distance() {
        let turns = Turns::new(10);
        let start = Instant::now();
        for expected in [0, 100, 200] {
            turns.take("a", DELAY).await;
            assert_eq!(start.elapsed(), Duration::from_millis(expected));
        }
        turns.take("b", DELAY).await;
        assert_eq!(start.elapsed(), Duration::from_millis(200));
    }

    #[tokio::test(start_paused = true)]
    async fn only_so_many_are_at_one_host() {
        let turns = Turns::new(2);
        let first = turns.take("a", Duration::ZERO).await;
        let _second = turns.take("a", Duration::ZERO).await;
        assert!(tokio::time::timeout(DELAY, turns.take("a", Duration::ZERO)).await.is_err());
        drop(first);
        assert!(tokio::time::timeout(DELAY, turns.take("a", Duration::ZERO)).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn hosts_nobody_waits_for_are_forgotten() {
        let turns = Turns::new(1);
        let held = turns.take("held", Duration::ZERO).await;
        for number in 0..3 * MAX_IDLE_HOSTS {
            turns.take(&format!("{number}"), Duration::ZERO).await;
        }
        let known = turns.hosts.lock().map(|hosts| hosts.len()).unwrap_or_default();
        assert!(known <= MAX_IDLE_HOSTS, "{known}");
        assert!(tokio::time::timeout(DELAY, turns.take("held", DELAY)).await.is_err(), "still held");
        drop(held);
    }
}
