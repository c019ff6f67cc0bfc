//! What agents say of results.

use docstore::{Feedback, Id};
use ingest::clock::now_ms;
use uuid::Uuid;

use crate::error::Result;
use crate::{App, Error, Viewer};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FeedbackEvent {
    ResultHelpful,
    ResultNotHelpful,
    PassageUsed,
    ReadAbandoned,
    DuplicateResult,
    StaleResult,
    SpamOrLowQuality,
    MissingExpectedSource,
    UnsafeOrPolicyIssue,
}

impl FeedbackEvent {
    /// The name on the wire and in the docstore.
    pub fn as_str(self) -> &'static str {
        match self {
            FeedbackEvent::ResultHelpful => "result_helpful",
            FeedbackEvent::ResultNotHelpful => "result_not_helpful",
            FeedbackEvent::PassageUsed => "passage_used",
            FeedbackEvent::ReadAbandoned => "read_abandoned",
            FeedbackEvent::DuplicateResult => "duplicate_result",
            FeedbackEvent::StaleResult => "stale_result",
            FeedbackEvent::SpamOrLowQuality => "spam_or_low_quality",
            FeedbackEvent::MissingExpectedSource => "missing_expected_source",
            FeedbackEvent::UnsafeOrPolicyIssue => "unsafe_or_policy_issue",
        }
    }
}

#[derive(Clone, Debug)]
pub struct FeedbackRequest {
    pub event: FeedbackEvent,
    pub search_id: Option<Uuid>,
    pub doc_id: Option<Uuid>,
    pub passage_id: Option<Uuid>,
    pub session_id: Uuid,
    pub comment: Option<String>,
    pub query: Option<String>,
    pub rank: Option<u32>,
    pub client_model: Option<String>,
}

impl App {
    /// Stores the event. A search or document that the organization does not own is not found.
    pub async fn submit_feedback(&self, viewer: &Viewer, request: FeedbackRequest) -> Result<Uuid> {
        let organization_id = viewer.organization_id;
        if let Some(search_id) = request.search_id
            && self.store.find_search(organization_id, search_id).await?.is_none()
        {
            return Err(Error::SearchNotFound);
        }
        if let Some(doc_id) = request.doc_id
            && self.store.find_granted_document(organization_id, doc_id).await?.is_none()
        {
            return Err(Error::DocumentNotFound);
        }
        let feedback_id = Uuid::now_v7();
        let row = Feedback {
            feedback_id: Id(feedback_id),
            organization_id: Id(organization_id),
            identity: viewer.identity.rate_key(),
            session_id: Id(request.session_id),
            event_type: request.event.as_str().to_owned(),
            search_id: request.search_id.map(Id),
            doc_id: request.doc_id.map(Id),
            passage_id: request.passage_id.map(Id),
            comment: request.comment,
            query: request.query,
            result_rank: request.rank.map(|rank| i32::try_from(rank).unwrap_or(i32::MAX)),
            client_model: request.client_model,
            created_at: now_ms(),
        };
        self.store.record_feedback(row).await?;
        if let (FeedbackEvent::StaleResult, Some(doc_id)) = (request.event, request.doc_id) {
            self.store.mark_stale(organization_id, doc_id, now_ms()).await?;
        }
        Ok(feedback_id)
    }
}
