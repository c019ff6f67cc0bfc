use diesel::prelude::*;
use model::{DocId, FileOutcome, OrganizationId, SyncId, Timestamp};

use crate::schema::files;
use crate::types::row;

row! {
    /// A name that an organization may upload to. Whether the object exists is storage's word.
    #[derive(Clone, Debug, Insertable, Queryable, Selectable)]
    #[diesel(table_name = files, treat_none_as_default_value = false)]
    pub struct File {
        pub object_key: String,
        pub organization_id: OrganizationId,
        pub name: String,
        pub doc_id: DocId,
        pub content_type: Option<String>,
        pub created_at: Timestamp,
        /// What storage said of the object when it was last read to its end.
        pub processed_etag: Option<String>,
        pub processed_size: Option<i64>,
        pub outcome: Option<FileOutcome>,
        /// Why it failed.
        pub reason: Option<String>,
        pub last_run_id: Option<SyncId>,
        /// When its owner deleted it; `None` again once a new upload is asked for.
        pub withdrawn_at: Option<Timestamp>,
    }
}

impl File {
    /// Whether an object of this age is what its owner deleted, and not a later upload.
    pub fn is_withdrawn(&self, last_modified: Timestamp) -> bool {
        self.withdrawn_at.is_some_and(|at| last_modified <= at)
    }
}

/// What became of a deletion.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Withdrawal {
    /// Whether there was a document to hide.
    pub hidden: bool,
    /// Whether a run waits that will see to the rest.
    pub queued: bool,
}

row! {
    /// What a run learned of one file.
    #[derive(AsChangeset, Clone, Debug)]
    #[diesel(table_name = files, treat_none_as_null = true)]
    pub struct FileChanges {
        pub processed_etag: Option<String>,
        pub processed_size: Option<i64>,
        pub outcome: Option<FileOutcome>,
        pub reason: Option<String>,
        pub last_run_id: Option<SyncId>,
    }
}
