//! Quotas of files and bytes, and the measurement of what counts against them.
//!
//! A file counts the size that its upload declares, from presigning on. Once the URL has expired, it counts its object. A deleted file
//! counts, too, while its URL may bring it back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use blobs::{BlobError, BlobErrorKind, BlobStore};
use docstore::{Docstore, File, MeasuredObject, MeasuredUpload, Registration, ReplacedUpload, StorageQuotas};
use futures_util::StreamExt;
use ingest::clock::from_date_time;
use model::{Clock, OrganizationId, Timestamp};

use crate::error::{Quota, Result};
use crate::{App, Error};

/// Interval between measurements of files whose upload URLs have expired.
const INTERVAL: Duration = Duration::from_secs(60);
/// Files measured at a time.
const BATCH: i64 = 500;
/// Maximum number of batches that are measured to register a file. A batch takes up to three seconds if the storage needs 50 ms per file;
/// the periodic measurement does the rest.
const MAX_BATCHES: usize = 4;
/// Time after which an object is looked at again that storage refuses to measure.
const POSTPONED: Duration = Duration::from_hours(1);
/// Time after which an object is looked at again that storage was too busy to measure. The file counts its declared size until then.
const POSTPONED_IF_BUSY: Duration = Duration::from_mins(2);
/// Concurrent requests to storage.
const CONCURRENT: usize = 8;

impl App {
    /// Registers a file for upload within the quotas of its organization. Returns the upload under another name that it replaces.
    ///
    /// # Errors
    /// `QuotaExceeded` if the organization has no room for it, even after its expired uploads were measured, at most `MAX_BATCHES` batches.
    pub(super) async fn register_file(&self, file: File) -> Result<Option<ReplacedUpload>> {
        let (max_files, max_bytes) = (self.options.max_files_per_organization, self.options.max_bytes_per_organization);
        let quotas = StorageQuotas {
            files: i64::try_from(max_files).unwrap_or(i64::MAX),
            bytes: max_bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX)),
        };
        let (organization_id, size) = (file.organization_id, unsigned(file.bytes));
        let mut registration = self.store.register_file(file.clone(), quotas).await?;
        for _ in 0..MAX_BATCHES {
            if matches!(registration, Registration::Registered { .. })
                || settle(&self.store, self.blobs.as_ref(), Some(organization_id), self.clock.now()).await? == 0
            {
                break;
            }
            registration = self.store.register_file(file.clone(), quotas).await?;
        }
        match registration {
            Registration::Registered { replaced } => Ok(replaced),
            Registration::TooManyFiles(totals) => {
                Err(Error::QuotaExceeded(Quota::Files { used: unsigned(totals.files), limit: max_files }))
            }
            Registration::TooManyBytes(totals) => Err(Error::QuotaExceeded(Quota::Bytes {
                size,
                used: unsigned(totals.bytes),
                limit: max_bytes.unwrap_or(u64::MAX),
            })),
        }
    }

    /// Refuses work that stores files or research runs while the disk is almost full.
    ///
    /// # Errors
    /// `QuotaExceeded`.
    pub fn require_disk_space(&self) -> Result<()> {
        if self.free_space.is_low() { Err(Error::QuotaExceeded(Quota::Disk)) } else { Ok(()) }
    }
}

pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Measures files whose upload URLs have expired, periodically. Safe to run on several instances at once.
pub(crate) async fn settle_expired_uploads(store: Docstore, blobs: Arc<dyn BlobStore>, clock: Arc<dyn Clock>) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        loop {
            match settle(&store, blobs.as_ref(), None, clock.now()).await {
                Ok(settled) if settled as i64 >= BATCH => {}
                Ok(_) => break,
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "measuring uploaded files failed");
                    break;
                }
            }
        }
    }
}

/// Uploads of an organization, after a look at their objects.
#[derive(Default)]
struct Outcomes {
    measured: Vec<MeasuredUpload>,
    /// Keys of objects that could not be measured.
    failed: Vec<(String, BlobError)>,
}

/// Returns the time after which an object is looked at again that could not be measured.
fn postponed_by(error: &BlobError) -> Duration {
    if error.kind == BlobErrorKind::Unavailable { POSTPONED_IF_BUSY } else { POSTPONED }
}

/// Measures a batch of files, of one organization or all. Returns the number measured. Those that cannot be measured come again later:
/// the same ones would make up each batch.
///
/// # Errors
/// `Unavailable` if storage is, whichever object is asked for; then none is postponed.
async fn settle(
    store: &Docstore,
    blobs: &dyn BlobStore,
    organization_id: Option<OrganizationId>,
    now: Timestamp,
) -> Result<usize> {
    let expired = store.list_expired_uploads(organization_id, now, BATCH).await?;
    let measuring = futures_util::stream::iter(expired).map(|file| async move {
        let object = blobs.head(&file.object_key).await;
        (file, object)
    });
    let mut looked: Vec<_> = measuring.buffer_unordered(CONCURRENT).collect().await;
    let is_outage =
        looked.iter().all(|(_, object)| matches!(object, Err(error) if error.kind == BlobErrorKind::Unavailable));
    if is_outage && let Some((_, Err(error))) = looked.pop() {
        return Err(error.into());
    }
    let mut by_organization: BTreeMap<OrganizationId, Outcomes> = BTreeMap::new();
    for (file, object) in looked {
        let outcomes = by_organization.entry(file.organization_id).or_default();
        match object {
            Ok(object) => {
                let object = object.map(|object| MeasuredObject {
                    bytes: i64::try_from(object.size).unwrap_or(i64::MAX),
                    uploaded_at: from_date_time(object.last_modified),
                    etag: object.etag,
                });
                outcomes.measured.push(MeasuredUpload { object_key: file.object_key, object });
            }
            Err(error) => outcomes.failed.push((file.object_key, error)),
        }
    }
    let mut settled = 0;
    for (organization_id, Outcomes { measured, failed }) in by_organization {
        settled += measured.len();
        store.settle_uploads(organization_id, measured, now).await?;
        if let Some((_, error)) = failed.first() {
            let error = error as &dyn std::error::Error;
            tracing::warn!(%organization_id, files = failed.len(), error, "uploaded files cannot be measured");
        }
        let mut by_delay: BTreeMap<Duration, Vec<String>> = BTreeMap::new();
        for (object_key, error) in failed {
            by_delay.entry(postponed_by(&error)).or_default().push(object_key);
        }
        for (delay, object_keys) in by_delay {
            store.postpone_uploads(organization_id, object_keys, now, now + delay).await?;
        }
    }
    Ok(settled)
}
