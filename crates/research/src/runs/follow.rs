use std::sync::Arc;

use app::{Error, Result, Viewer};
use model::{OrganizationId, ResearchId};
use tokio::sync::watch;

use super::waiting::Place;
use super::{Research, RunEvent};

/// Events read at a time.
const BATCH: i64 = 200;

/// Reader of the events of a run, up to its last one.
pub struct Follower {
    research: Arc<Research>,
    organization_id: OrganizationId,
    research_id: ResearchId,
    /// Sequence of the last event that was returned.
    after: i64,
    is_over: bool,
    changed: watch::Receiver<()>,
    _place: Place,
}

impl Research {
    /// Follows a run from the event after a sequence.
    ///
    /// # Errors
    /// `ResearchNotFound`; `ResearchReaders` if too many requests of the organization follow runs.
    pub async fn follow(self: &Arc<Self>, viewer: &Viewer, research_id: ResearchId, after: i64) -> Result<Follower> {
        let organization_id = viewer.organization_id;
        let limit = self.options.waiting_per_organization;
        let place = self.waiting.enter(organization_id).ok_or(Error::ResearchReaders { limit })?;
        // Subscribed before the first look, so that no change in between is lost.
        let changed = self.changes.subscribe(research_id);
        self.store.find_research_status(organization_id, research_id).await?.ok_or(Error::ResearchNotFound)?;
        let research = Arc::clone(self);
        Ok(Follower { research, organization_id, research_id, after, is_over: false, changed, _place: place })
    }
}

impl Follower {
    /// Returns the next events; empty after the last event, or once the run is deleted. Safe to drop and call again.
    pub async fn next(&mut self) -> Result<Vec<RunEvent>> {
        let Self { organization_id, research_id, .. } = *self;
        let store = &self.research.store;
        while !self.is_over {
            let found = store.list_research_events(organization_id, research_id, self.after, BATCH).await?;
            let found: Vec<RunEvent> = found.into_iter().map(RunEvent::from).collect();
            if let Some(last) = found.last() {
                self.after = last.sequence;
                self.is_over = last.is_last();
                return Ok(found);
            }
            match store.find_research_status(organization_id, research_id).await? {
                // Its events may have been stored since the first look.
                Some((status, last)) if status.is_terminal() && last > self.after => {}
                Some((status, _)) if !status.is_terminal() => {
                    let _ = tokio::time::timeout(self.research.options.poll, self.changed.changed()).await;
                }
                Some(_) | None => self.is_over = true,
            }
        }
        Ok(Vec::new())
    }
}
