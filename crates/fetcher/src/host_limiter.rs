//! Politeness: concurrency limit and request delay per host.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

/// Number of tracked hosts from which idle ones are evicted.
const MAX_IDLE_HOSTS: usize = 1024;

/// Rate limiter per host.
pub(crate) struct HostLimiter {
    hosts: Mutex<HashMap<String, Arc<Host>>>,
    /// Concurrent requests per host.
    concurrent: usize,
}

struct Host {
    name: String,
    permits: Arc<Semaphore>,
    /// Earliest start of the next request.
    next_start: Mutex<Instant>,
}

/// Permit for requests to one host, released on drop.
pub(crate) struct HostPermit {
    _permit: Option<OwnedSemaphorePermit>,
    /// Prevents the eviction of the host.
    host: Arc<Host>,
}

impl HostPermit {
    /// Returns true if the permit is for `host`.
    pub fn is_for(&self, host: &str) -> bool {
        self.host.name == host
    }
}

impl HostLimiter {
    pub fn new(concurrent: usize) -> Self {
        Self { hosts: Mutex::default(), concurrent }
    }

    /// Waits for a permit for `host`, and until its own `delay` has passed since the previous request started.
    pub async fn acquire(&self, host: &str, delay: Duration) -> HostPermit {
        let host = self.host(host);
        // The semaphore is never closed, so this never fails.
        let permit = Arc::clone(&host.permits).acquire_owned().await.ok();
        let now = Instant::now();
        let start = {
            let mut next_start = host.next_start.lock().unwrap_or_else(PoisonError::into_inner);
            let start = (*next_start).max(now);
            *next_start = start + delay;
            start
        };
        // A timer takes a millisecond even without a delay.
        if start > now {
            sleep_until(start).await;
        }
        HostPermit { _permit: permit, host }
    }

    fn host(&self, name: &str) -> Arc<Host> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(host) = hosts.get(name) {
            return Arc::clone(host);
        }
        if hosts.len() >= MAX_IDLE_HOSTS {
            let now = Instant::now();
            hosts.retain(|_, host| Arc::strong_count(host) > 1 || !host.is_idle(now));
        }
        let host = Arc::new(Host {
            name: name.to_owned(),
            permits: Arc::new(Semaphore::new(self.concurrent)),
            next_start: Mutex::new(Instant::now()),
        });
        hosts.insert(name.to_owned(), Arc::clone(&host));
        host
    }
}

impl Host {
    fn is_idle(&self, now: Instant) -> bool {
        *self.next_start.lock().unwrap_or_else(PoisonError::into_inner) <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY: Duration = Duration::from_millis(100);

    #[tokio::test(start_paused = true)]
    async fn requests_to_one_host_are_delayed() {
        let limiter = HostLimiter::new(10);
        let start = Instant::now();
        for expected in [0, 100, 200] {
            limiter.acquire("a", DELAY).await;
            assert_eq!(start.elapsed(), Duration::from_millis(expected));
        }
        limiter.acquire("b", DELAY).await;
        assert_eq!(start.elapsed(), Duration::from_millis(200));
    }

    #[tokio::test(start_paused = true)]
    async fn requests_to_one_host_are_limited() {
        let limiter = HostLimiter::new(2);
        let first = limiter.acquire("a", Duration::ZERO).await;
        let _second = limiter.acquire("a", Duration::ZERO).await;
        assert!(tokio::time::timeout(DELAY, limiter.acquire("a", Duration::ZERO)).await.is_err());
        drop(first);
        assert!(tokio::time::timeout(DELAY, limiter.acquire("a", Duration::ZERO)).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn idle_hosts_are_evicted() {
        let limiter = HostLimiter::new(1);
        let held = limiter.acquire("held", Duration::ZERO).await;
        for number in 0..3 * MAX_IDLE_HOSTS {
            limiter.acquire(&format!("{number}"), Duration::ZERO).await;
        }
        let known = limiter.hosts.lock().map(|hosts| hosts.len()).unwrap_or_default();
        assert!(known <= MAX_IDLE_HOSTS, "{known}");
        assert!(tokio::time::timeout(DELAY, limiter.acquire("held", DELAY)).await.is_err(), "still held");
        drop(held);
    }
}
