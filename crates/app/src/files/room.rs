//! How many files an organization has, without counting them for each upload.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use docstore::Docstore;
use model::OrganizationId;
use moka::sync::Cache;

use crate::error::Result;

/// What other instances register is seen after this long: by so much may the limit be passed.
const COUNTED_FOR: Duration = Duration::from_secs(10);
const ORGANIZATIONS: u64 = 10_000;

/// Counts of the organizations that upload at the moment. Counting a hundred thousand rows takes milliseconds, and an
/// organization that has them got them one upload at a time.
pub(crate) struct FileCounts(Cache<OrganizationId, Arc<AtomicU64>>);

impl FileCounts {
    pub fn new() -> Self {
        Self(Cache::builder().max_capacity(ORGANIZATIONS).time_to_live(COUNTED_FOR).build())
    }

    /// Counts a new file in, unless the organization has `most` already; whether it did.
    pub async fn take_place(&self, store: &Docstore, organization_id: OrganizationId, most: u64) -> Result<bool> {
        if let Some(count) = self.0.get(&organization_id)
            && count.fetch_add(1, Ordering::Relaxed) < most
        {
            return Ok(true);
        }
        // Files that were deleted meanwhile make room: nobody is refused on an old count.
        let count = u64::try_from(store.count_files(organization_id).await?).unwrap_or(0);
        if count >= most {
            return Ok(false);
        }
        self.0.insert(organization_id, Arc::new(AtomicU64::new(count + 1)));
        Ok(true)
    }
}
