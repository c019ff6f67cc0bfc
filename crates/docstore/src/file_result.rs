use model::{DocId, RunStats};

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

/// Effect of a file's result on its stored document.
#[derive(Clone, Debug)]
pub enum FileContent {
    Replace(Box<NewDocument>),
    /// The file is gone or unreadable: the stored document is deleted.
    Remove,
    /// Storage returned damaged bytes, which say nothing about the file: the stored document stays.
    Keep,
}
