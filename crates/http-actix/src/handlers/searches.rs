use api_types::validation::parse_uuid;
use api_types::{SearchRequest, SearchResponse};
use openapi::{Input, operations};
use uuid::Uuid;

use crate::call::Context;
use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::search::{request, response::Page};

impl Endpoint for operations::Search {
    async fn handle(context: &Context, input: Input<Self>) -> Result<SearchResponse, Failure> {
        search(context, input.body).await
    }
}

async fn search(context: &Context, mut body: SearchRequest) -> Result<SearchResponse, Failure> {
    let session_id = context.session(body.session_id.take());
    // The header and the body were validated, so the id is well-formed.
    let session = parse_uuid(&session_id).unwrap_or_else(Uuid::new_v4);
    let (request, shaping) = request::convert(body, session, context.state.now())?;
    let outcome = context.run(|service, viewer| async move { service.search(&viewer, request).await }).await?;
    let large = shaping.max_chars.is_some();
    let page = Page {
        schema: context.schema::<SearchResponse>(),
        request_id: context.request_id,
        session_id,
        access: context.access.clone(),
        outcome,
        shaping,
    };
    // Fitting a budget serializes the response about ten times: too long for a thread that serves connections.
    if large {
        context.state.runtime.spawn_blocking(move || page.into_response()).await.map_err(Failure::internal)?
    } else {
        page.into_response()
    }
}
