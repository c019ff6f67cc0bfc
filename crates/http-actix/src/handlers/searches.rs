use actix_web::{HttpRequest, HttpResponse, web};
use api_types::validation::parse_uuid;
use app::Permission;
use openapi::operations;
use uuid::Uuid;

use crate::call::Call;
use crate::endpoint::{Endpoint, answer};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::search::{request, response::Page};

const SEARCH: Endpoint = Endpoint::of(&operations::SEARCH, Permission::SearchRead);

pub(crate) async fn search(request: HttpRequest, payload: web::Payload) -> HttpResponse {
    answer(&SEARCH, request, payload, run_search).await
}

async fn run_search(mut call: Call) -> Result<Reply, Failure> {
    let mut body: api_types::SearchRequest = call.read().await?;
    let session_id = call.session(body.session_id.take());
    // Well-formed: the door and the body's validation have seen to it.
    let session = parse_uuid(&session_id).unwrap_or_else(Uuid::new_v4);
    let (request, shaping) = request::convert(body, session, call.state.now())?;
    let outcome = call.run(|service, viewer| async move { service.search(&viewer, request).await }).await?;
    let large = shaping.max_chars.is_some();
    let page = Page {
        schema: call.schema("SearchResponse"),
        request_id: call.request_id,
        session_id,
        access: call.access.clone(),
        outcome,
        shaping,
    };
    // Fitting a budget serializes the answer some ten times: too long for a thread that serves connections.
    let written = if large {
        call.state.runtime.spawn_blocking(move || page.into_body()).await.map_err(Failure::internal)?
    } else {
        page.into_body()
    };
    Ok(Reply::ok(written?))
}
