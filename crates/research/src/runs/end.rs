use ::webhooks::research_ended;
use app::refunds::refund_searches;
use app::{Error, Result, Viewer};
use docstore::StoreError;
use model::{OrganizationId, ResearchId};

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
        // Its worker may have died, and no other one takes an ended run over.
        if viewer.billed
            && let Err(error) = self.refund_unstored(organization_id, research_id).await
        {
            tracing::warn!(%research_id, error = &error as &dyn std::error::Error, "refunding a cancelled run failed");
        }
        self.get(viewer, research_id).await
    }

    /// Refunds the searches of a run whose outcome is not stored and never will be, once each. Those of a deleted run stay paid.
    pub(crate) async fn refund_unstored(
        &self,
        organization_id: OrganizationId,
        research_id: ResearchId,
    ) -> Result<(), StoreError> {
        let unstored = self.store.find_unstored_searches(organization_id, research_id).await?.unwrap_or_default();
        if !unstored.is_empty() {
            refund_searches(&self.store, organization_id, unstored, self.clock.now()).await?;
        }
        Ok(())
    }

    /// Deletes a run with its report and events, and cancels it first if it has not ended. Its recorded searches and pending webhook
    /// deliveries stay.
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
