use model::{DocId, FileStatus, SyncId};
use retrieval_core::url;

use super::list::PageRequest;
use crate::cursor::List;
use crate::error::Result;
use crate::{App, Error, Viewer};

/// Outcome of one file in a run.
#[derive(Clone, Debug)]
pub struct OutcomeView {
    pub name: String,
    pub doc_id: DocId,
    pub status: FileStatus,
    /// Reason of a failure: a code, a colon and a message.
    pub reason: Option<String>,
}

#[derive(Clone, Debug)]
pub struct OutcomesPage {
    pub sync_id: SyncId,
    pub files: Vec<OutcomeView>,
    /// `None` on the last page.
    pub next_cursor: Option<String>,
}

impl App {
    /// Returns a page of the outcomes of the files that a run has processed so far, sorted by name.
    ///
    /// # Errors
    /// `SyncNotFound` for a malformed or unknown id; `Invalid` for a cursor that is not of this list.
    pub async fn list_outcomes(&self, viewer: &Viewer, sync_id: &str, page: PageRequest) -> Result<OutcomesPage> {
        let organization_id = viewer.organization_id;
        let sync_id: SyncId = sync_id.parse().map_err(|_| Error::SyncNotFound)?;
        self.store.find_run(organization_id, sync_id).await?.ok_or(Error::SyncNotFound)?;
        let after = page.after(List::Outcomes)?;
        let mut rows = self.store.list_run_files(organization_id, sync_id, after, page.rows()).await?;
        let next_cursor = page.cut(List::Outcomes, &mut rows, |file| &file.name);
        let outcome = |file: docstore::RunFile| OutcomeView {
            doc_id: url::document_id(&url::workspace_url(organization_id, &file.name)),
            name: file.name,
            status: file.outcome.into(),
            reason: file.reason,
        };
        Ok(OutcomesPage { sync_id, files: rows.into_iter().map(outcome).collect(), next_cursor })
    }
}
