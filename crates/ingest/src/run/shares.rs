//! Shares of the runs in what a process has: memory, extraction of slow files, writes.

use std::time::Duration;

use admission::{FairSemaphore, Limits, Permit};
use model::OrganizationId;

/// Bytes per permit.
const UNIT: u64 = 1 << 20;
/// Share of the memory that one organization holds at most: 1 in this number.
const MEMORY_SHARE: u32 = 4;
/// Postponed files that are in progress at a time, in addition to the bytes of others: an organization's slow files must not use up
/// the share of its quick ones. Further ones wait without holding bytes.
const POSTPONED: u32 = 4;

/// Permits of all runs.
pub struct Shares {
    bytes: FairSemaphore,
    postponed: FairSemaphore,
    writes: FairSemaphore,
}

impl Shares {
    pub fn new(max_bytes: u64) -> Self {
        let units = u32::try_from(max_bytes / UNIT).unwrap_or(u32::MAX).max(1);
        let limits = |permits, per_organization| {
            FairSemaphore::new(Limits { permits, per_organization, max_waiting: usize::MAX, max_wait: Duration::MAX })
        };
        Self {
            bytes: limits(units, units.div_ceil(MEMORY_SHARE)),
            postponed: limits(POSTPONED, POSTPONED / 2),
            // One write at a time: others, such as those of searches, wait for at most one batch of files.
            writes: limits(1, 1),
        }
    }

    /// Waits for the memory or disk space of a file or of its text.
    pub async fn bytes(&self, organization: OrganizationId, bytes: u64) -> Permit {
        let units = u32::try_from(bytes / UNIT + 1).unwrap_or(u32::MAX);
        self.bytes.wait(organization, units).await
    }

    /// Waits for the turn of a postponed file.
    pub async fn postponed(&self, organization: OrganizationId) -> Permit {
        self.postponed.wait(organization, 1).await
    }

    /// Waits for the turn of a write.
    pub async fn write(&self, organization: OrganizationId) -> Permit {
        self.writes.wait(organization, 1).await
    }
}
