//! Feedback on results.

use docstore::Feedback;
use model::{DocId, FeedbackEvent, FeedbackId, OrganizationId, PassageId, SearchId, SessionId};
use uuid::Uuid;

use crate::error::Result;
use crate::{App, Error, Viewer};

/// A validated feedback event.
#[derive(Clone, Debug)]
pub struct FeedbackRequest {
    pub event: FeedbackEvent,
    pub search_id: Option<SearchId>,
    pub doc_id: Option<DocId>,
    pub passage_id: Option<PassageId>,
    pub session_id: SessionId,
    pub comment: Option<String>,
    pub query: Option<String>,
    pub rank: Option<u32>,
    pub client_model: Option<String>,
}

impl App {
    /// Stores a feedback event. After `stale_result` the next read by the viewer's organization fetches the page; the shared
    /// document changes only if its operator acts on the feedback.
    ///
    /// # Errors
    /// `SearchNotFound` or `DocumentNotFound` if the id is unknown to the viewer's organization.
    pub async fn submit_feedback(&self, viewer: &Viewer, request: FeedbackRequest) -> Result<FeedbackId> {
        let organization_id = viewer.organization_id;
        if let Some(search_id) = request.search_id
            && self.store.find_search(organization_id, search_id).await?.is_none()
        {
            return Err(Error::SearchNotFound);
        }
        if let Some(doc_id) = request.doc_id
            && !self.may_read(organization_id, doc_id).await?
        {
            return Err(Error::DocumentNotFound);
        }
        let feedback_id = FeedbackId(Uuid::now_v7());
        let row = Feedback {
            feedback_id,
            organization_id,
            identity: viewer.identity.rate_key(),
            session_id: request.session_id,
            event_type: request.event,
            search_id: request.search_id,
            doc_id: request.doc_id,
            passage_id: request.passage_id,
            comment: request.comment,
            query: request.query,
            result_rank: request.rank.map(|rank| i32::try_from(rank).unwrap_or(i32::MAX)),
            client_model: request.client_model,
            created_at: self.clock.now(),
        };
        let stale = request.doc_id.filter(|_| request.event == FeedbackEvent::StaleResult);
        self.store.record_feedback(row, stale).await?;
        Ok(feedback_id)
    }

    /// Returns true if this instance lets the organization read the document by its id.
    async fn may_read(&self, organization_id: OrganizationId, doc_id: DocId) -> Result<bool> {
        if self.store.find_granted_document(organization_id, doc_id).await?.is_some() {
            return Ok(true);
        }
        let is_unrecorded = self.unrecorded_grants.contains(organization_id, doc_id);
        Ok(is_unrecorded && self.store.read_document(organization_id, doc_id).await?.is_some())
    }
}
