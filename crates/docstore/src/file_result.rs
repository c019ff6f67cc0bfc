use model::{DocId, RunStats, Timestamp};

use crate::documents::NewDocument;
use crate::rows::{DeletedObject, FileChanges};

/// Result of processing one file in a run. It is stored in one transaction with the run's counters, so both agree after
/// a crash.
#[derive(Clone, Debug)]
pub struct FileResult {
    pub object_key: String,
    pub doc_id: DocId,
    /// Modification time of the object that was read, or of the planned one if none was.
    pub uploaded_at: Timestamp,
    pub changes: FileChanges,
    pub content: FileContent,
    /// Increments of the run's counters.
    pub counts: RunStats,
}

impl FileResult {
    /// Returns true if the object is the one that the owner deleted, not a later upload. The object may exist for a while after that and
    /// be read, so the time of reading alone does not tell.
    pub(crate) fn is_withdrawn(&self, deleted: &DeletedObject) -> bool {
        let is_read_before = match &self.content {
            FileContent::Replace(document) => document.capture.captured_at <= deleted.at,
            FileContent::Remove | FileContent::Keep => true,
        };
        is_read_before || deleted.covers(self.uploaded_at, self.changes.processed_etag.as_deref())
    }

    /// Returns the result of the same file if it was deleted meanwhile.
    pub(crate) fn of_deleted(self) -> Self {
        let RunStats { fetched, bytes, .. } = self.counts;
        Self {
            changes: self.changes.to_be_read_again(),
            content: FileContent::Remove,
            counts: RunStats { fetched, bytes, deleted: 1, ..RunStats::default() },
            ..self
        }
    }
}

/// Effect of a file's result on its stored document.
#[derive(Clone, Debug)]
pub enum FileContent {
    Replace(Box<NewDocument>),
    /// The file is gone or unreadable: the stored document is deleted.
    Remove,
    /// Storage returned damaged bytes, which say nothing about the file: the stored document stays.
    Keep,
}
