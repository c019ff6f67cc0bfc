use api_types::validation::parse_uuid;
use api_types::{EventType, FeedbackResponse};
use app::Work;
use app::feedback::FeedbackRequest;
use model::{DocId, FeedbackEvent, PassageId, SearchId, SessionId};
use openapi::{Input, operations};
use uuid::Uuid;

use crate::call::Context;
use crate::endpoint::Endpoint;
use crate::failure::Failure;

impl Endpoint for operations::SubmitFeedback {
    async fn handle(context: &Context, input: Input<Self>) -> Result<FeedbackResponse, Failure> {
        let mut body = input.body;
        let session_id = context.session(body.session_id.take());
        let request = feedback_request(body, &session_id);
        let feedback_id = context
            .run(Work::Small, |service, viewer| async move { service.submit_feedback(&viewer, request).await })
            .await?;
        Ok(FeedbackResponse {
            schema: context.schema::<FeedbackResponse>(),
            request_id: context.request_id,
            session_id,
            accepted: true,
            feedback_id: feedback_id.0,
            access: context.access.clone(),
            usage: context.usage(),
        })
    }
}

fn feedback_request(body: api_types::FeedbackRequest, session_id: &str) -> FeedbackRequest {
    let id = |text: Option<String>| text.as_deref().and_then(parse_uuid);
    FeedbackRequest {
        event: match body.event_type {
            EventType::ResultHelpful => FeedbackEvent::ResultHelpful,
            EventType::ResultNotHelpful => FeedbackEvent::ResultNotHelpful,
            EventType::PassageUsed => FeedbackEvent::PassageUsed,
            EventType::ReadAbandoned => FeedbackEvent::ReadAbandoned,
            EventType::DuplicateResult => FeedbackEvent::DuplicateResult,
            EventType::StaleResult => FeedbackEvent::StaleResult,
            EventType::SpamOrLowQuality => FeedbackEvent::SpamOrLowQuality,
            EventType::MissingExpectedSource => FeedbackEvent::MissingExpectedSource,
            EventType::UnsafeOrPolicyIssue => FeedbackEvent::UnsafeOrPolicyIssue,
        },
        search_id: id(body.search_id).map(SearchId),
        doc_id: id(body.doc_id).map(DocId),
        passage_id: id(body.passage_id).map(PassageId),
        // The header and the body were validated, so the id is well-formed.
        session_id: SessionId(parse_uuid(session_id).unwrap_or_else(Uuid::new_v4)),
        comment: body.comment,
        query: body.query,
        rank: body.rank.and_then(|rank| u32::try_from(rank).ok()),
        client_model: body.agent_context.client_model,
    }
}
