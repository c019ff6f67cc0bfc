//! Changes of the counters of a run.

use model::{FileOutcome, RunStats};

use crate::file_result::FileResult;
use crate::rows::FileChanges;

/// Changes of the counters of a run; negative numbers subtract.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RunCounts {
    pub fetched: i64,
    pub indexed: i64,
    pub failed: i64,
    pub skipped_unsupported: i64,
    pub deleted: i64,
    pub bytes: i64,
}

impl RunCounts {
    /// Adds a result, which replaces the outcome that the run has recorded for the file: after a takeover a run reads some files again.
    /// `fetched` and `bytes` count every reading. A repeated result, whose changes are `stored` already, adds nothing.
    pub fn add(&mut self, result: &FileResult, stored: Option<&FileChanges>, recorded: Option<FileOutcome>) {
        let changes = &result.changes;
        let RunStats { enumerated: _, fetched, indexed, failed, skipped_unsupported, deleted, bytes } = result.counts;
        // The changes of a file whose document is still removed are forgotten, but not its outcome in the run.
        let is_forgotten = |stored: &FileChanges| recorded == changes.outcome && *stored == changes.to_be_read_again();
        let is_repeated = stored.is_some_and(|stored| stored == changes || is_forgotten(stored));
        if !is_repeated {
            self.fetched += signed(fetched);
            self.bytes += signed(bytes);
        }
        // A deletion after the result was recorded has cleared the stored changes.
        if !is_repeated || recorded != changes.outcome {
            self.deleted += signed(deleted);
        }
        self.indexed += signed(indexed);
        self.failed += signed(failed);
        self.skipped_unsupported += signed(skipped_unsupported);
        match recorded {
            Some(FileOutcome::Indexed) => self.indexed -= 1,
            Some(FileOutcome::Failed) => self.failed -= 1,
            Some(FileOutcome::SkippedUnsupported) => self.skipped_unsupported -= 1,
            None => {}
        }
    }
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
