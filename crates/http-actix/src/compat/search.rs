use std::time::Instant;

use actix_web::http::StatusCode;
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use api_types::SearchResult;
use api_types::validation::first_violation;
use app::Deadline;
use compat::{ForeignSearch, Hit, Moment};
use model::Scope;

use super::read;
use super::request::{self, ForeignPath};
use crate::admission;
use crate::call::Context;
use crate::failure::Failure;
use crate::handlers::searches;
use crate::json;
use crate::memory::Gathered;
use crate::reply::Reply;
use crate::search::computed;
use crate::search::response::ShapedPage;

/// Answers a search whose request is a JSON body.
pub(super) async fn post<T: ForeignPath + ForeignSearch>(request: HttpRequest, payload: Payload) -> HttpResponse {
    request::post::<T>(request, payload, answer).await
}

/// Answers a search whose request is a query string.
pub(super) async fn get<T: ForeignPath + ForeignSearch>(request: HttpRequest, payload: Payload) -> HttpResponse {
    request::get::<T>(request, payload, answer).await
}

/// Searches, reads the documents that the answer contains, and answers. The search is charged once, with its answer.
pub(super) async fn answer<T: ForeignPath + ForeignSearch>(
    context: &Context,
    asked: T,
    started: Instant,
) -> Result<Reply, Failure> {
    let started_at = context.state.now();
    let plan = asked.plan(started_at)?;
    if asked.reads_documents() {
        admission::require(&context.viewer, Some(Scope::DocumentRead))?;
    }
    let workspace = context.state.app.has_index().then_some(context.viewer.organization_id.0);
    let search = plan.search(workspace);
    if let Some(violation) = first_violation(&search) {
        return Err(Failure::invalid(violation.field, violation.message));
    }
    // Of the search and its documents.
    let deadline = context.deadline();
    let (reply, charge) = searches::charged_search(context, search, async |page: ShapedPage| {
        let memory = context.gather();
        let bytes_found = page.page.bytes();
        let found = computed::response(context, page).await?;
        let hits = with_documents(context, &asked, plan.select(found), deadline, &memory).await;
        let moment = Moment { started_at, elapsed: started.elapsed(), request_id: context.request_id };
        let bytes = bytes_found + memory.bytes();
        let body = context.compute_if_large(bytes, move || asked.answer(hits, moment)).await?;
        let body = json::to_vec_of(context, bytes, body).await?;
        Ok(Reply::serialized(StatusCode::OK, memory.into_answer(body).await?))
    })
    .await?;
    Ok(reply.charged(charge))
}

/// Reads the documents of the hits. A document that cannot be read does not fail the search.
async fn with_documents<T: ForeignPath + ForeignSearch>(
    context: &Context,
    asked: &T,
    results: Vec<SearchResult>,
    deadline: Deadline,
    memory: &Gathered<'_>,
) -> Vec<Hit> {
    let groups = results.iter().map(|result| asked.reads(result)).collect();
    let documents = read::all(context, T::FOREIGN.name, groups, None, deadline, memory).await;
    let hits = results.into_iter().zip(documents);
    hits.map(|(result, documents)| Hit { result, documents: read::outcomes(documents) }).collect()
}
