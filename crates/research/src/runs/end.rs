use ::webhooks::research_ended;
use app::{Error, Result, Viewer};
use model::ResearchId;

use super::{Research, RunView};

impl Research {
    /// Cancels a run and its step in progress. A run that has ended stays as it is. Returns the run.
    ///
    /// # Errors
    /// `ResearchNotFound` for an unknown run, and for runs of other organizations.
    pub async fn cancel(&self, viewer: &Viewer, research_id: ResearchId) -> Result<RunView> {
        let (organization_id, now) = (viewer.organization_id, self.clock.now());
        let expires_at = now + self.options.retention;
        let found = self.store.cancel_research(organization_id, research_id, expires_at, now, research_ended).await?;
        if !found {
            return Err(Error::ResearchNotFound);
        }
        self.interrupt(research_id);
        self.get(viewer, research_id).await
    }

    /// Deletes a run with everything that is stored of it. Cancels it first if it has not ended.
    ///
    /// # Errors
    /// As [`Research::cancel`].
    pub async fn delete(&self, viewer: &Viewer, research_id: ResearchId) -> Result<()> {
        let now = self.clock.now();
        if !self.store.delete_research(viewer.organization_id, research_id, now, research_ended).await? {
            return Err(Error::ResearchNotFound);
        }
        self.interrupt(research_id);
        Ok(())
    }
}
