//! What a run hands in of the files it worked on.

use model::{DocId, RunStats};

use crate::documents::NewDocument;
use crate::rows::FileChanges;

/// The end of one file in one run: stored together with the run's counters, so that both agree whatever
/// dies in between.
#[derive(Clone, Debug)]
pub struct FileResult {
    pub object_key: String,
    pub doc_id: DocId,
    pub changes: FileChanges,
    /// The new content; `None` when the file could not be read, and then the old content goes too.
    pub document: Option<NewDocument>,
    /// What this file adds to the run's counters.
    pub counts: RunStats,
}
