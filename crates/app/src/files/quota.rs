//! Quota of files per organization, enforced without counting rows for each upload.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use docstore::Docstore;
use model::OrganizationId;
use moka::sync::Cache;

use crate::error::Result;

/// Lifetime of a cached count. Files that other instances register meanwhile may exceed the quota.
const CACHE_TTL: Duration = Duration::from_secs(10);
const CACHED_ORGANIZATIONS: u64 = 10_000;

/// Cached file counts of organizations that are uploading. Counting a hundred thousand rows takes milliseconds, too long to
/// repeat for each of as many uploads.
pub(crate) struct FileQuota(Cache<OrganizationId, Arc<AtomicU64>>);

impl FileQuota {
    pub fn new() -> Self {
        Self(Cache::builder().max_capacity(CACHED_ORGANIZATIONS).time_to_live(CACHE_TTL).build())
    }

    /// Reserves a place for a new file. Returns false if the organization already has `max_files`.
    pub async fn reserve(&self, store: &Docstore, organization_id: OrganizationId, max_files: u64) -> Result<bool> {
        if let Some(count) = self.0.get(&organization_id)
            && count.fetch_add(1, Ordering::Relaxed) < max_files
        {
            return Ok(true);
        }
        // Count again before rejecting: files may have been deleted since the cached count.
        let count = u64::try_from(store.count_files(organization_id).await?).unwrap_or(0);
        if count >= max_files {
            return Ok(false);
        }
        self.0.insert(organization_id, Arc::new(AtomicU64::new(count + 1)));
        Ok(true)
    }
}
