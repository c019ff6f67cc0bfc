use std::sync::Arc;

use api_types::validation::parse_uuid;
use api_types::{SearchRequest, SearchResponse};
use app::{App, Viewer, Work};
use model::SessionId;
use openapi::{Input, operations};
use uuid::Uuid;

use crate::call::Context;
use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::memory::Answer;
use crate::search::request;
use crate::search::response::{Page, ShapedPage};

impl Endpoint for operations::Search {
    async fn handle(context: &Context, input: Input<Self>) -> Result<SearchResponse, Failure> {
        search(context, input.body, async |shaped: &ShapedPage| shaped.response()).await
    }

    async fn handle_to_json(context: &Context, input: Input<Self>) -> Result<Answer, Failure> {
        search(context, input.body, async |shaped: &ShapedPage| context.hold(shaped.body()?).await).await
    }
}

/// Searches, shapes the answer, and converts it with `convert`. A search without an answer is refunded, whether it fails, cannot
/// meet its budget, or its client disconnects.
async fn search<T>(
    context: &Context,
    mut body: SearchRequest,
    convert: impl AsyncFnOnce(&ShapedPage) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let session_id = context.session(body.session_id.take());
    // The header and the body were validated, so the id is well-formed.
    let session = SessionId(parse_uuid(&session_id).unwrap_or_else(Uuid::new_v4));
    let (request, shaping) = request::convert(body, session, context.state.now())?;
    let search = |service: Arc<App>, viewer: Viewer| async move { service.search(&viewer, request).await };
    let mut outcome = context.run(Work::Search, search).await?;
    let charge = outcome.charge.take();
    let page = Page {
        schema: context.schema::<SearchResponse>(),
        request_id: context.request_id,
        session_id,
        access: context.access.clone(),
        outcome,
        shaping,
    };
    let answer = match page.shape() {
        Ok(shaped) => convert(&shaped).await,
        Err(failure) => Err(failure),
    };
    match charge {
        Some(charge) if answer.is_ok() => charge.keep(),
        Some(charge) => charge.refund().await,
        None => {}
    }
    answer
}
