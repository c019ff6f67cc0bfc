//! Slots for workers: which documents are read at a time.
//!
//! Each lane has slots for documents that are quick and slots for those that are not. Every document begins in a quick slot. One
//! that becomes slow moves to a slow slot if one is free. Otherwise it stays until another document of its organization, or of one
//! with fewer slots, waits for a quick slot, and then gives way: a document waits for the quick time of others, never for all of
//! their time.

use std::time::Duration;

use admission::{FairSemaphore, Limits, Overloaded, Permit};
use model::OrganizationId;
use tokio::sync::Notify;

use crate::options::WorkerOptions;
use crate::turn::Lane;

/// Interval at which a slow document in a quick slot looks for others that wait.
const CHECK: Duration = Duration::from_millis(50);
/// Pages of one organization that wait for a worker. Each holds its bytes.
const MAX_WAITING_PAGES: usize = 64;

/// Slots of both lanes.
pub struct Lanes {
    pages: Slots,
    runs: Slots,
}

/// Slots of one lane.
pub struct Slots {
    quick: FairSemaphore,
    slow: FairSemaphore,
    /// Number of both.
    all: u32,
    /// Maximum wait for a slot.
    max_wait: Option<Duration>,
}

impl Lanes {
    pub fn new(options: &WorkerOptions) -> Self {
        Self { pages: Slots::new(options, Some(options.max_page_wait)), runs: Slots::new(options, None) }
    }

    pub fn slots(&self, lane: Lane) -> &Slots {
        match lane {
            Lane::Pages => &self.pages,
            Lane::Runs | Lane::PostponedRuns => &self.runs,
        }
    }

    /// Returns the number of slots in use.
    pub fn busy(&self) -> usize {
        (self.pages.busy() + self.runs.busy()) as usize
    }
}

impl Slots {
    fn new(options: &WorkerOptions, max_wait: Option<Duration>) -> Self {
        let max_wait_or_none = max_wait.unwrap_or(Duration::MAX);
        let slots = |count: usize, reserved: u32| {
            let per_organization = u32::try_from(count.max(1)).unwrap_or(u32::MAX);
            let permits = per_organization.saturating_add(reserved);
            let limits =
                Limits { permits, per_organization, max_waiting: MAX_WAITING_PAGES, max_wait: max_wait_or_none };
            (FairSemaphore::new(limits), permits)
        };
        // One organization leaves a quick slot to the others.
        let ((quick, quick_count), (slow, slow_count)) = (slots(options.workers, 1), slots(options.slow_workers, 0));
        Self { quick, slow, all: quick_count.saturating_add(slow_count), max_wait }
    }

    /// Waits for a quick slot.
    pub async fn quick(&self, organization: OrganizationId) -> Result<Permit, Overloaded> {
        self.wait(&self.quick, organization).await
    }

    /// Waits for a slow slot.
    pub async fn slow(&self, organization: OrganizationId) -> Result<Permit, Overloaded> {
        self.wait(&self.slow, organization).await
    }

    /// Holds the slot of a document that is being read, and that `slow` tells of once it is slow. Returns once the document must
    /// give way.
    pub async fn hold(&self, quick: Permit, organization: OrganizationId, slow: &Notify) {
        slow.notified().await;
        loop {
            if let Some(_slow) = self.slow.try_acquire(organization, 1) {
                drop(quick);
                return std::future::pending().await;
            }
            if self.quick.is_wanted(organization) {
                return;
            }
            tokio::time::sleep(CHECK).await;
        }
    }

    async fn wait(&self, slots: &FairSemaphore, organization: OrganizationId) -> Result<Permit, Overloaded> {
        let Some(max_wait) = self.max_wait else { return Ok(slots.wait(organization, 1).await) };
        slots.acquire_within(organization, 1, max_wait).await
    }

    fn busy(&self) -> u32 {
        self.all.saturating_sub(self.quick.available()).saturating_sub(self.slow.available())
    }
}
