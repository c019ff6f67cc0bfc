use std::ops::{AddAssign, Sub};
use std::time::Duration;

use diesel::prelude::*;
use model::{DocId, FileOutcome, OrganizationId, SyncId, Timestamp};

use crate::schema::{files, run_files};
use crate::types::{Strings, row};

/// Precision of the times of uploads, which storage states in whole seconds.
pub(crate) const UPLOAD_PRECISION: Duration = Duration::from_secs(1);

row! {
    /// File name registered for upload. The object itself may not exist yet; object storage is authoritative.
    #[derive(Clone, Debug, Insertable, Queryable, Selectable)]
    #[diesel(table_name = files, treat_none_as_default_value = false)]
    pub struct File {
        pub object_key: String,
        pub organization_id: OrganizationId,
        pub name: String,
        pub doc_id: DocId,
        pub content_type: Option<String>,
        pub created_at: Timestamp,
        /// ETag of the object when it was last processed completely.
        pub processed_etag: Option<String>,
        /// Size of the object in bytes when it was last processed completely.
        pub processed_size: Option<i64>,
        pub outcome: Option<FileOutcome>,
        /// Reason of a failure.
        pub reason: Option<String>,
        /// Last run that read the file. `None` for a file that no run has read since it was registered for the first time, or anew after its
        /// deletion.
        pub last_run_id: Option<SyncId>,
        /// Time at which the owner deleted the file; reset to `None` when a new upload is registered, or a later object is measured.
        pub withdrawn_at: Option<Timestamp>,
        /// Bytes that the file counts: the larger of its object and of an upload that may still come.
        pub bytes: i64,
        /// End of the last upload URL; `None` once the object was measured after it.
        pub upload_expires_at: Option<Timestamp>,
        /// Labels of the owner. `None` in a registration keeps those of the file.
        pub labels: Option<Strings>,
        /// Time of the outcome.
        pub processed_at: Option<Timestamp>,
        /// Name as sent with the last upload, before it was sanitized.
        pub original_name: Option<String>,
        /// ETag of the object that the last deletion found, empty if it found none; `None` if it is unknown.
        pub withdrawn_etag: Option<String>,
    }
}

row! {
    /// Outcome of one file in one run.
    #[derive(Clone, Debug, Insertable, PartialEq, Queryable, Selectable)]
    #[diesel(table_name = run_files, treat_none_as_default_value = false)]
    pub struct RunFile {
        pub sync_id: SyncId,
        pub name: String,
        pub organization_id: OrganizationId,
        pub outcome: FileOutcome,
        /// Reason of a failure.
        pub reason: Option<String>,
        pub processed_at: Timestamp,
    }
}

/// Files and bytes of one organization, with uploads that may still come.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Queryable)]
pub struct StorageTotals {
    /// Files, without deleted ones that no upload may bring back.
    pub files: i64,
    pub bytes: i64,
}

impl StorageTotals {
    /// Returns what one file counts. A deleted file is counted as long as it counts bytes.
    pub(crate) fn of_file(withdrawn_at: Option<Timestamp>, bytes: i64) -> Self {
        Self { files: i64::from(withdrawn_at.is_none() || bytes > 0), bytes }
    }
}

impl AddAssign for StorageTotals {
    fn add_assign(&mut self, other: Self) {
        self.files += other.files;
        self.bytes += other.bytes;
    }
}

impl Sub for StorageTotals {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { files: self.files - other.files, bytes: self.bytes - other.bytes }
    }
}

/// Measurement of a file's object.
#[derive(Clone, Debug)]
pub struct MeasuredUpload {
    pub object_key: String,
    /// `None` without an object.
    pub object: Option<MeasuredObject>,
}

/// Object of a file, as storage describes it.
#[derive(Clone, Debug)]
pub struct MeasuredObject {
    pub bytes: i64,
    pub uploaded_at: Timestamp,
    pub etag: String,
}

/// Quotas of one organization.
#[derive(Clone, Copy, Debug)]
pub struct StorageQuotas {
    pub files: i64,
    /// `None`: no quota.
    pub bytes: Option<i64>,
}

impl StorageQuotas {
    /// No limits.
    pub const NONE: Self = Self { files: i64::MAX, bytes: None };
}

/// Outcome of registering a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Registration {
    Registered {
        /// Upload under another name that has the same sanitized name.
        replaced: Option<ReplacedUpload>,
    },
    /// The file would exceed the quota of files. Nothing changed.
    TooManyFiles(StorageTotals),
    /// The file would exceed the quota of bytes. Nothing changed.
    TooManyBytes(StorageTotals),
}

/// Earlier upload that a registration replaces.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReplacedUpload {
    pub original_name: String,
    /// End of its upload URL; `None` once the object was measured after it.
    pub upload_expires_at: Option<Timestamp>,
}

impl File {
    /// Builds the row of a file that is only registered: it has not been processed, and counts no bytes yet.
    pub fn registered(
        object_key: String,
        organization_id: OrganizationId,
        name: String,
        doc_id: DocId,
        created_at: Timestamp,
    ) -> Self {
        Self {
            object_key,
            organization_id,
            name,
            doc_id,
            content_type: None,
            created_at,
            processed_etag: None,
            processed_size: None,
            outcome: None,
            reason: None,
            last_run_id: None,
            withdrawn_at: None,
            bytes: 0,
            upload_expires_at: None,
            labels: None,
            processed_at: None,
            original_name: None,
            withdrawn_etag: None,
        }
    }

    /// Returns the labels of the owner.
    pub fn labels(&self) -> &[String] {
        self.labels.as_ref().map_or(&[], |labels| &labels.0)
    }

    /// Returns true if an object with this modification time and ETag is the one that the owner deleted, not a later upload.
    pub fn is_withdrawn(&self, uploaded_at: Timestamp, etag: &str) -> bool {
        // A deletion clears this ETag, and a run sets it for a later upload only. The run may have known the time more exactly.
        if self.processed_etag.as_deref() == Some(etag) {
            return false;
        }
        let deleted = self.withdrawn_at.map(|at| DeletedObject { at, etag: self.withdrawn_etag.clone() });
        deleted.is_some_and(|deleted| deleted.covers(uploaded_at, Some(etag)))
    }
}

/// Object of a file that its owner deleted.
#[derive(Clone, Debug)]
pub(crate) struct DeletedObject {
    /// Time of the deletion.
    pub at: Timestamp,
    /// Empty if there was no object; `None` if it is unknown.
    pub etag: Option<String>,
}

impl DeletedObject {
    /// Returns true for the deleted object or an earlier one, false for a later upload. Storage may state times in whole seconds: within the
    /// second of the deletion an object is later if its ETag is known to be another.
    pub(crate) fn covers(&self, uploaded_at: Timestamp, etag: Option<&str>) -> bool {
        let is_same_second = self.at.since(uploaded_at) < UPLOAD_PRECISION;
        let is_another = self.etag.as_deref().zip(etag).is_some_and(|(deleted, etag)| deleted != etag);
        uploaded_at <= self.at && !(is_same_second && is_another)
    }
}

/// Result of deleting a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Withdrawal {
    /// True if a document was hidden.
    pub hidden: bool,
    /// True if this deletion queued a run that will complete it.
    pub queued: bool,
    /// Time of an earlier deletion since which no upload was registered or measured.
    pub earlier: Option<Timestamp>,
}

row! {
    /// Columns that a run updates after processing a file.
    #[derive(AsChangeset, Clone, Debug, PartialEq, Queryable, Selectable)]
    #[diesel(table_name = files, treat_none_as_null = true)]
    pub struct FileChanges {
        pub processed_etag: Option<String>,
        pub processed_size: Option<i64>,
        pub outcome: Option<FileOutcome>,
        pub reason: Option<String>,
        pub last_run_id: Option<SyncId>,
    }
}

impl FileChanges {
    /// Returns the columns of a file that a run has processed in vain: the next run reads it again.
    pub(crate) fn to_be_read_again(&self) -> Self {
        let last_run_id = self.last_run_id;
        Self { processed_etag: None, processed_size: None, outcome: None, reason: None, last_run_id }
    }
}
