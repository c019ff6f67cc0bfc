use actix_web::{HttpRequest, HttpResponse, web};
use api_types::validation::parse_uuid;
use api_types::{SearchRequest, SearchResponse};
use model::{Scope, SessionId};
use openapi::operations;
use uuid::Uuid;

use crate::call::{Call, Context};
use crate::endpoint::{Endpoint, answer};
use crate::failure::Failure;
use crate::metered;
use crate::reply::Reply;
use crate::search::{request, response::Page};

const SEARCH: Endpoint = Endpoint::of(&operations::SEARCH, Scope::SearchRead);

pub(crate) async fn search(request: HttpRequest, payload: web::Payload) -> HttpResponse {
    answer(&SEARCH, request, payload, run_search).await
}

async fn run_search(mut call: Call) -> Result<Reply, Failure> {
    let body = call.read().await?;
    let mut response = perform(&call.context, body).await?;
    Ok(Reply::ok(metered::serialize(&mut response)?))
}

/// The operation itself. The answer does not state its length yet.
pub(crate) async fn perform(context: &Context, mut body: SearchRequest) -> Result<SearchResponse, Failure> {
    let session_id = context.session(body.session_id.take());
    // Well-formed: the door and the body's validation have seen to it.
    let session = SessionId(parse_uuid(&session_id).unwrap_or_else(Uuid::new_v4));
    let (request, shaping) = request::convert(body, session, context.state.now())?;
    let outcome = context.run(|service, viewer| async move { service.search(&viewer, request).await }).await?;
    let large = shaping.max_chars.is_some();
    let page = Page {
        schema: context.schema("SearchResponse"),
        request_id: context.request_id,
        session_id,
        access: context.access.clone(),
        outcome,
        shaping,
    };
    // Fitting a budget serializes the answer some ten times: too long for a thread that serves connections.
    if large {
        context.state.runtime.spawn_blocking(move || page.into_response()).await.map_err(Failure::internal)?
    } else {
        page.into_response()
    }
}
