use actix_web::{HttpRequest, HttpResponse, web};
use api_types::SearchRequest;
use api_types::validation::parse_uuid;
use app::Permission;
use model::SessionId;
use openapi::operations;
use uuid::Uuid;

use crate::call::{Call, Context};
use crate::endpoint::{Endpoint, answer};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::search::request;
use crate::search::response::{Page, ShapedPage};

const SEARCH: Endpoint = Endpoint::of(&operations::SEARCH, Permission::SearchRead);

pub(crate) async fn search(request: HttpRequest, payload: web::Payload) -> HttpResponse {
    answer(&SEARCH, request, payload, run_search).await
}

async fn run_search(mut call: Call) -> Result<Reply, Failure> {
    let body = call.read().await?;
    Ok(Reply::ok(perform(&call.context, body).await?.body()?))
}

/// Searches and shapes the answer.
pub(crate) async fn perform(context: &Context, mut body: SearchRequest) -> Result<ShapedPage, Failure> {
    let session_id = context.session(body.session_id.take());
    // The header and the body were validated, so the id is well-formed.
    let session = SessionId(parse_uuid(&session_id).unwrap_or_else(Uuid::new_v4));
    let (request, shaping) = request::convert(body, session, context.state.now())?;
    let outcome = context.run(|service, viewer| async move { service.search(&viewer, request).await }).await?;
    let page = Page {
        schema: context.schema("SearchResponse"),
        request_id: context.request_id,
        session_id,
        access: context.access.clone(),
        outcome,
        shaping,
    };
    page.shape()
}
