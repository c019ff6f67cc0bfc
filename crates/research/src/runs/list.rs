use app::{Result, Viewer};
use model::ResearchStatus;

use super::cursor;
use super::{Research, RunEntry};

/// Place, size and filter of a page of runs.
#[derive(Clone, Debug)]
pub struct ListQuery {
    pub status: Option<ResearchStatus>,
    /// `next_cursor` of the previous page; `None` for the first one.
    pub cursor: Option<String>,
    /// Maximum number of runs, at least 1.
    pub limit: usize,
}

/// A page of runs, newest first.
#[derive(Clone, Debug)]
pub struct RunsPage {
    pub runs: Vec<RunEntry>,
    /// `None` on the last page.
    pub next_cursor: Option<String>,
}

impl Research {
    /// Returns a page of the runs of the viewer's organization.
    ///
    /// # Errors
    /// `Invalid` for a cursor that is not of this list.
    pub async fn list(&self, viewer: &Viewer, query: ListQuery) -> Result<RunsPage> {
        let ListQuery { status, cursor, limit } = query;
        let before = cursor.as_deref().map(cursor::decode).transpose()?;
        // One more than the page has, to tell the last page.
        let rows = i64::try_from(limit).unwrap_or(i64::MAX - 1) + 1;
        let mut found = self.store.list_research(viewer.organization_id, status, before, rows).await?;
        let has_more = found.len() > limit;
        found.truncate(limit);
        let next_cursor =
            found.last().filter(|_| has_more).map(|last| cursor::encode((last.created_at, last.research_id)));
        Ok(RunsPage { runs: found.into_iter().map(RunEntry::from).collect(), next_cursor })
    }
}
