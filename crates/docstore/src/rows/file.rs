use diesel::prelude::*;

use crate::schema::files;
use crate::types::Id;

/// A name that an organization may upload to. Whether the object exists is storage's word.
#[derive(Clone, Debug, Identifiable, Insertable, Queryable, Selectable)]
#[diesel(table_name = files, primary_key(object_key), treat_none_as_default_value = false)]
pub struct File {
    pub object_key: String,
    pub organization_id: Id,
    pub name: String,
    pub doc_id: Id,
    pub content_type: Option<String>,
    pub created_at: i64,
    /// What storage said of the object when it was last read to its end.
    pub processed_etag: Option<String>,
    pub processed_size: Option<i64>,
    /// `FileOutcome::as_str`.
    pub outcome: Option<String>,
    /// Why it failed.
    pub reason: Option<String>,
    pub last_run_id: Option<Id>,
    /// When its owner deleted it; `None` again once a new upload is asked for.
    pub withdrawn_at: Option<i64>,
}

impl File {
    /// Whether an object of this age is what its owner deleted, and not a later upload.
    pub fn is_withdrawn(&self, last_modified: i64) -> bool {
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

/// What a run learned of one file.
#[derive(AsChangeset, Clone, Debug)]
#[diesel(table_name = files, treat_none_as_null = true)]
pub struct FileChanges {
    pub processed_etag: Option<String>,
    pub processed_size: Option<i64>,
    pub outcome: Option<String>,
    pub reason: Option<String>,
    pub last_run_id: Option<Id>,
}

/// How one file of a run ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FileOutcome {
    Indexed,
    Failed,
    SkippedUnsupported,
}

impl FileOutcome {
    pub fn as_str(self) -> &'static str {
        match self {
            FileOutcome::Indexed => "indexed",
            FileOutcome::Failed => "failed",
            FileOutcome::SkippedUnsupported => "skipped_unsupported",
        }
    }
}
