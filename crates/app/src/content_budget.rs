//! Memory and computation for stored contents, shared fairly between organizations.

use std::time::Duration;

use admission::{Compute, FairSemaphore, Limits, Permit, Stop};
use docstore::{LoadedPart, WantedParts};
use model::{CaptureId, OrganizationId};

use crate::error::Result;
use crate::shares::Shares;
use crate::{App, Error};

/// Contents in memory for all requests, in kibibytes.
const KIBIBYTES: u32 = 256 << 10;

/// Parts in one query for a whole content: bounds the memory that it needs twice.
const PARTS_PER_QUERY: usize = 64;

/// Bytes that one computation reads: about 5 ms of analysis, after which others have their turn.
const STEP_BYTES: usize = 128 << 10;

/// Bytes of contents beyond which a request computes in the background: about 20 ms of analysis.
const LONG_BYTES: usize = 512 << 10;

/// Bytes that one request reads of long contents to choose what it returns.
#[derive(Clone, Copy, Debug)]
pub struct ReadLimits {
    /// By one search: to quote from, and in each collection to check an exact match.
    pub search_bytes: usize,
    /// By a read with a query. Shorter contents are compared whole.
    pub selection_bytes: usize,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { search_bytes: 2 << 20, selection_bytes: 1 << 20 }
    }
}

/// Permits for the contents that requests hold in memory, the turns to read them, and the threads that compute on them.
pub struct ContentBudget {
    kibibytes: FairSemaphore,
    readers: FairSemaphore,
    short: Compute,
    long: Compute,
}

impl ContentBudget {
    pub fn new(shares: &Shares) -> Self {
        // Requests were admitted before, so that the queue is short and refuses nothing. No organization takes all memory
        // with long documents, so that the next small search of another need not wait for their end.
        let limits = Limits {
            per_organization: KIBIBYTES - KIBIBYTES / 4,
            ..Limits::shared(KIBIBYTES, usize::MAX, Duration::MAX)
        };
        // Reading a long content keeps a core busy. Half of them are left for short requests, whose threads have the same priority.
        let readers = u32::try_from(shares.cores().div_ceil(2)).unwrap_or(u32::MAX);
        Self {
            kibibytes: FairSemaphore::new(limits),
            readers: FairSemaphore::new(Limits::shared(readers, usize::MAX, Duration::MAX)),
            short: shares.compute().clone(),
            long: shares.long_compute().clone(),
        }
    }

    /// Waits until this many bytes may be loaded. A caller must not reserve again while it holds the permit: two callers
    /// could wait for each other.
    pub async fn reserve(&self, organization_id: OrganizationId, bytes: usize) -> Permit {
        let weight = u32::try_from(bytes.div_ceil(1024)).unwrap_or(KIBIBYTES).clamp(1, KIBIBYTES);
        self.kibibytes.wait(organization_id, weight).await
    }

    /// Computes when it is the organization's turn; in the background for a request that reads many `bytes` of contents.
    pub async fn compute<T: Send + 'static>(
        &self,
        organization_id: OrganizationId,
        bytes: usize,
        work: impl FnOnce(&Stop) -> T + Send + 'static,
    ) -> Result<T> {
        let compute = if bytes > LONG_BYTES { &self.long } else { &self.short };
        compute.run(organization_id, work).await.map_err(Error::internal)
    }
}

impl App {
    /// Loads parts of long contents when it is the organization's turn.
    pub(crate) async fn load_parts(
        &self,
        organization_id: OrganizationId,
        wanted: Vec<WantedParts>,
    ) -> Result<Vec<LoadedPart>> {
        let _turn = self.contents.readers.wait(organization_id, 1).await;
        Ok(self.store.load_parts(organization_id, wanted).await?)
    }

    /// Loads parts of one long content in order, and passes each to `add`.
    pub(crate) async fn load_in_order(
        &self,
        organization_id: OrganizationId,
        capture_id: CaptureId,
        parts: &[usize],
        mut add: impl FnMut(LoadedPart),
    ) -> Result<()> {
        for chunk in parts.chunks(PARTS_PER_QUERY) {
            let wanted = vec![WantedParts { capture_id, parts: chunk.to_vec() }];
            let mut loaded = self.load_parts(organization_id, wanted).await?;
            loaded.sort_unstable_by_key(|part| part.part);
            loaded.into_iter().for_each(&mut add);
        }
        Ok(())
    }

    /// Computes for a front end when it is the organization's turn; in the background for many `bytes`.
    ///
    /// # Errors
    /// `Internal` if the work panics, or the process is shutting down.
    pub async fn compute_for<T: Send + 'static>(
        &self,
        organization_id: OrganizationId,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.contents.compute(organization_id, bytes, move |_| work()).await
    }
}

/// Groups items into computations of about [`STEP_BYTES`] each.
pub fn steps<T>(items: impl IntoIterator<Item = T>, bytes: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let mut steps: Vec<Vec<T>> = Vec::new();
    let mut left = 0;
    for item in items {
        let length = bytes(&item);
        match steps.last_mut() {
            Some(step) if length <= left => step.push(item),
            _ => {
                steps.push(vec![item]);
                left = STEP_BYTES;
            }
        }
        left = left.saturating_sub(length);
    }
    steps
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use uuid::Uuid;

    use super::*;
    use crate::shares::ShareLimits;

    const SHARE: usize = 192 << 20;

    fn organization(number: u128) -> OrganizationId {
        OrganizationId(Uuid::from_u128(number))
    }

    #[tokio::test]
    async fn an_organization_with_long_documents_leaves_memory_to_others() {
        let budget = ContentBudget::new(&Shares::new(&ShareLimits::for_cores(1)));
        let (heavy, other) = (organization(1), organization(2));
        let held = budget.reserve(heavy, SHARE).await;
        let mut next = Box::pin(budget.reserve(heavy, 1 << 20));
        assert!((&mut next).now_or_never().is_none(), "it has its share");
        assert!(budget.reserve(other, 1 << 20).now_or_never().is_some());
        drop(held);
        assert!(next.now_or_never().is_some());
        assert!(budget.reserve(heavy, SHARE + 1).now_or_never().is_some(), "a single request may exceed the share");
    }
}
