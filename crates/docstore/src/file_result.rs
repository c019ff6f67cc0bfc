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
    /// New content; `None` for an unreadable file, whose stored document is deleted.
    pub document: Option<NewDocument>,
    /// Increments of the run's counters.
    pub counts: RunStats,
}
