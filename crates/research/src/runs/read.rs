use std::time::Duration;

use app::{Error, Result, Viewer};
use model::ResearchId;
use tokio::time::{Instant, timeout_at};

use super::{Research, RunEvent, RunView};

impl Research {
    /// Returns a run of the viewer's organization.
    ///
    /// # Errors
    /// `ResearchNotFound` for an unknown run, and for runs of other organizations.
    pub async fn get(&self, viewer: &Viewer, research_id: ResearchId) -> Result<RunView> {
        let found = self.store.find_research(viewer.organization_id, research_id).await?;
        let (run, output) = found.ok_or(Error::ResearchNotFound)?;
        Ok(RunView::new(run, output.as_deref()))
    }

    /// Waits until a run has ended or is gone, at most for `time`. Does not wait if too many requests of the organization do.
    pub async fn wait_for_end(&self, viewer: &Viewer, research_id: ResearchId, time: Duration) -> Result<()> {
        let Some(_place) = self.waiting.enter(viewer.organization_id) else { return Ok(()) };
        let end = Instant::now() + time;
        // Subscribed before the first look, so that no change in between is lost.
        let mut changed = self.changes.subscribe(research_id);
        loop {
            let status = self.store.find_research_status(viewer.organization_id, research_id).await?;
            if status.is_none_or(|(status, _)| status.is_terminal()) || Instant::now() >= end {
                return Ok(());
            }
            // The sender is gone or the time is over: the next look decides.
            let _ = timeout_at(end.min(Instant::now() + self.options.poll), changed.changed()).await;
        }
    }

    /// Returns the events of a run after a sequence, at most `limit`.
    ///
    /// # Errors
    /// As [`Research::get`].
    pub async fn events(
        &self,
        viewer: &Viewer,
        research_id: ResearchId,
        after: i64,
        limit: i64,
    ) -> Result<Vec<RunEvent>> {
        let organization_id = viewer.organization_id;
        self.store.find_research_status(organization_id, research_id).await?.ok_or(Error::ResearchNotFound)?;
        let events = self.store.list_research_events(organization_id, research_id, after, limit).await?;
        Ok(events.into_iter().map(RunEvent::from).collect())
    }
}
