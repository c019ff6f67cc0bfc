use actix_web::{HttpRequest, HttpResponse, web};
use api_types::validation::parse_uuid;
use api_types::{EventType, FeedbackResponse};
use app::feedback::FeedbackRequest;
use model::{DocId, FeedbackEvent, PassageId, Scope, SearchId, SessionId};
use openapi::operations;
use uuid::Uuid;

use crate::call::{Call, Context};
use crate::endpoint::{Endpoint, answer};
use crate::failure::Failure;
use crate::metered;
use crate::reply::Reply;

const SUBMIT: Endpoint = Endpoint::of(&operations::SUBMIT_FEEDBACK, Scope::FeedbackWrite);

pub(crate) async fn submit_feedback(request: HttpRequest, payload: web::Payload) -> HttpResponse {
    answer(&SUBMIT, request, payload, run_submit).await
}

async fn run_submit(mut call: Call) -> Result<Reply, Failure> {
    let body = call.read().await?;
    let mut response = perform(&call.context, body).await?;
    Ok(Reply::ok(metered::serialize(&mut response)?))
}

/// The operation itself. The answer does not state its length yet.
pub(crate) async fn perform(
    context: &Context,
    mut body: api_types::FeedbackRequest,
) -> Result<FeedbackResponse, Failure> {
    let session_id = context.session(body.session_id.take());
    let request = feedback_request(body, &session_id);
    let feedback_id =
        context.run(|service, viewer| async move { service.submit_feedback(&viewer, request).await }).await?;
    Ok(FeedbackResponse {
        schema: context.schema("FeedbackResponse"),
        request_id: context.request_id,
        session_id,
        accepted: true,
        feedback_id: feedback_id.0,
        access: context.access.clone(),
        usage: context.usage(),
    })
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
        // Checked when it was read, or made here.
        session_id: SessionId(parse_uuid(session_id).unwrap_or_else(Uuid::new_v4)),
        comment: body.comment,
        query: body.query,
        rank: body.rank.and_then(|rank| u32::try_from(rank).ok()),
        client_model: body.agent_context.client_model,
    }
}
