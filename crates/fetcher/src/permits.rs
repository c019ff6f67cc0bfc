//! Permits of a fetch: one of its host, then one of the whole fetcher. In this order a slow host costs the other hosts nothing.

use std::time::Duration;

use admission::{FairSemaphore, Limits, Overloaded, Permit};
use model::OrganizationId;

use crate::host_limiter::{HostLimiter, HostPermit};
use crate::options::FetcherOptions;

/// Limits on concurrent fetches. Organizations take turns.
pub(crate) struct Permits {
    hosts: HostLimiter,
    fetches: FairSemaphore,
    /// Maximum wait for a permit of the fetcher.
    max_wait: Duration,
}

impl Permits {
    pub fn new(options: &FetcherOptions) -> Self {
        let max_wait = options.time_limits.wait;
        let limits = |permits: usize, per_organization: usize| Limits {
            permits: u32::try_from(permits).unwrap_or(u32::MAX),
            per_organization: u32::try_from(per_organization).unwrap_or(u32::MAX),
            max_waiting: options.max_waiting,
            max_wait,
        };
        let (host, all) = (options.politeness.concurrent, options.max_concurrent);
        Self {
            hosts: HostLimiter::new(limits(host, host - host / 4)),
            fetches: FairSemaphore::new(limits(all, all.div_ceil(3))),
            max_wait,
        }
    }

    /// Waits for a permit of the host.
    pub async fn host(&self, host: &str, organization: OrganizationId) -> Result<HostPermit, Overloaded> {
        self.hosts.acquire(host, organization).await
    }

    /// Waits for a permit of the fetcher.
    pub async fn fetch(&self, organization: OrganizationId) -> Result<Permit, Overloaded> {
        self.fetches.acquire_within(organization, 1, self.max_wait).await
    }
}
