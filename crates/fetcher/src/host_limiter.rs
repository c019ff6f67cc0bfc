//! Politeness: concurrency limit and request delay per host. Organizations take turns at a host.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use admission::{FairSemaphore, Limits, Overloaded, Permit};
use model::OrganizationId;
use tokio::time::Instant;

use crate::schedule::{Schedule, Slot};

/// Number of tracked hosts from which idle ones are evicted.
const MAX_IDLE_HOSTS: usize = 1024;

/// Bounds of the time after which a request may be tried again whose start was too far away.
pub(crate) const SHORTEST_RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_mins(1);

/// Rate limiter per host.
pub(crate) struct HostLimiter {
    hosts: Mutex<HashMap<String, Arc<Host>>>,
    /// Concurrent requests and queue of each host.
    limits: Limits,
}

struct Host {
    name: String,
    permits: FairSemaphore,
    schedule: Mutex<Schedule>,
}

/// Permit for requests to one host, released on drop.
pub(crate) struct HostPermit {
    _permit: Permit,
    /// Prevents the eviction of the host.
    host: Arc<Host>,
}

impl HostPermit {
    /// Returns true if the permit is for `host`.
    pub fn is_for(&self, host: &str) -> bool {
        self.host.name == host
    }

    /// Takes the next start of a request to the host, `delay` before that of any later one.
    ///
    /// # Errors
    /// The start is further away than `max_wait`. It is left to others.
    pub fn take_start(&self, delay: Duration, max_wait: Duration) -> Result<Start, Overloaded> {
        let taken = self.host.schedule().take(delay, Instant::now(), max_wait);
        // When all starts that are taken now have passed.
        let refused = |wait: Duration| Overloaded { retry_after: wait.clamp(SHORTEST_RETRY, LONGEST_RETRY) };
        let slot = taken.map_err(refused)?;
        Ok(Start { host: Arc::clone(&self.host), slot, is_sent: false })
    }
}

/// Start of a request to a host. Dropping it gives it back, unless the request was sent.
pub(crate) struct Start {
    host: Arc<Host>,
    slot: Slot,
    is_sent: bool,
}

impl Start {
    pub fn at(&self) -> Instant {
        self.slot.start
    }

    /// Confirms a start whose time has come. Returns false if another request was sent meanwhile, so that this start is too late:
    /// drop it, and take another.
    pub fn confirm(&mut self) -> bool {
        let confirmed = self.host.schedule().confirm(self.slot, Instant::now());
        if let Some(slot) = confirmed {
            self.slot = slot;
        }
        confirmed.is_some()
    }

    /// Keeps the delay to the next start.
    pub fn sent(mut self) {
        self.is_sent = true;
    }
}

impl Drop for Start {
    fn drop(&mut self) {
        let mut schedule = self.host.schedule();
        match self.is_sent {
            true => schedule.sent(self.slot, Instant::now()),
            false => schedule.give_back(self.slot),
        }
    }
}

impl HostLimiter {
    pub fn new(limits: Limits) -> Self {
        Self { hosts: Mutex::default(), limits }
    }

    /// Waits for a permit for `host`, for at most the wait of the limits.
    pub async fn acquire(&self, host: &str, organization: OrganizationId) -> Result<HostPermit, Overloaded> {
        let host = self.host(host);
        let permit = host.permits.acquire_within(organization, 1, self.limits.max_wait).await?;
        Ok(HostPermit { _permit: permit, host })
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
            permits: FairSemaphore::new(self.limits),
            schedule: Mutex::new(Schedule::new(Instant::now())),
        });
        hosts.insert(name.to_owned(), Arc::clone(&host));
        host
    }
}

impl Host {
    fn schedule(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_idle(&self, now: Instant) -> bool {
        self.schedule().is_idle(now)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const DELAY: Duration = Duration::from_millis(100);

    fn limiter(concurrent: u32) -> HostLimiter {
        HostLimiter::new(Limits::shared(concurrent, 10, Duration::MAX))
    }

    async fn acquire(limiter: &HostLimiter, host: &str, delay: Duration) -> Option<HostPermit> {
        let permit = limiter.acquire(host, OrganizationId(Default::default())).await.ok()?;
        let mut start = permit.take_start(delay, Duration::MAX).ok()?;
        if start.at() > Instant::now() {
            tokio::time::sleep_until(start.at()).await;
        }
        assert!(start.confirm());
        start.sent();
        Some(permit)
    }

    #[tokio::test(start_paused = true)]
    async fn requests_to_one_host_are_delayed() {
        let limiter = limiter(10);
        let start = Instant::now();
        for expected in [0, 100, 200] {
            acquire(&limiter, "a", DELAY).await;
            assert_eq!(start.elapsed(), Duration::from_millis(expected));
        }
        acquire(&limiter, "b", DELAY).await;
        assert_eq!(start.elapsed(), Duration::from_millis(200));
    }

    #[tokio::test(start_paused = true)]
    async fn aborted_requests_do_not_delay_others() {
        let limiter = limiter(10);
        let start = Instant::now();
        acquire(&limiter, "a", DELAY).await;
        for _ in 0..100 {
            assert!(acquire(&limiter, "a", DELAY).now_or_never().is_none());
        }
        acquire(&limiter, "a", DELAY).await;
        assert_eq!(start.elapsed(), DELAY);
    }

    #[tokio::test(start_paused = true)]
    async fn requests_to_one_host_are_limited() {
        let limiter = limiter(2);
        let first = acquire(&limiter, "a", Duration::ZERO).await;
        let _second = acquire(&limiter, "a", Duration::ZERO).await;
        assert!(tokio::time::timeout(DELAY, acquire(&limiter, "a", Duration::ZERO)).await.is_err());
        drop(first);
        assert!(tokio::time::timeout(DELAY, acquire(&limiter, "a", Duration::ZERO)).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn idle_hosts_are_evicted() {
        let limiter = limiter(1);
        let held = acquire(&limiter, "held", Duration::ZERO).await;
        for number in 0..3 * MAX_IDLE_HOSTS {
            acquire(&limiter, &format!("{number}"), Duration::ZERO).await;
        }
        let known = limiter.hosts.lock().map(|hosts| hosts.len()).unwrap_or_default();
        assert!(known <= MAX_IDLE_HOSTS, "{known}");
        assert!(tokio::time::timeout(DELAY, acquire(&limiter, "held", DELAY)).await.is_err(), "still held");
        drop(held);
    }
}
