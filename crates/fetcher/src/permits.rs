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
            hosts: HostLimiter::new(limits(host, share_of_host(host))),
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

/// Returns how many of the `concurrent` requests to a host one organization may have: three quarters, rounded down. Of fewer than four
/// it may have all: one permit is more than a quarter of them.
fn share_of_host(concurrent: usize) -> usize {
    if concurrent < 4 { concurrent } else { concurrent - concurrent.div_ceil(4) }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use uuid::Uuid;

    use super::*;

    /// Returns the permits of a host that the organization gets without waiting.
    fn take(permits: &Permits, organization: u128) -> Vec<HostPermit> {
        let organization = OrganizationId(Uuid::from_u128(organization));
        std::iter::from_fn(|| permits.host("h.test", organization).now_or_never()?.ok()).collect()
    }

    #[tokio::test]
    async fn organization_has_three_quarters_of_a_host_at_most() {
        for (concurrent, expected) in [(1, 1), (2, 2), (3, 3), (4, 3), (5, 3), (6, 4), (7, 5), (8, 6), (100, 75)] {
            let mut options = FetcherOptions::new("example-bot", "1.0", None);
            options.politeness.concurrent = concurrent;
            let permits = Permits::new(&options);
            let first = take(&permits, 1);
            assert_eq!(first.len(), expected, "of {concurrent}");
            assert_eq!(take(&permits, 2).len(), concurrent - expected, "the rest of {concurrent}");
        }
    }
}
