use model::{DocId, RunStats, Timestamp};

use crate::documents::NewDocument;
use crate::rows::FileChanges;

/// Result of processing one file in a run. It is stored in one transaction with the run's counters, so both agree after
/// a crash.
#[derive(Clone, Debug)]
pub struct FileResult {
    pub object_key: String,
    pub doc_id: DocId,
    pub changes: FileChanges,
    pub content: FileContent,
    /// Increments of the run's counters.
    pub counts: RunStats,
}

impl FileResult {
    /// Returns the time before the file was read; `None` if the result does not state it.
    pub(crate) fn read_at(&self) -> Option<Timestamp> {
        match &self.content {
            FileContent::Replace(document) => Some(document.capture.captured_at),
            FileContent::Remove | FileContent::Keep => None,
        }
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
