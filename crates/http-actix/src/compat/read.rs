use std::time::{Duration, Instant};

use actix_web::http::StatusCode;
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use api_types::validation::first_violation;
use api_types::{DocumentRequest, DocumentResponse};
use app::Deadline;
use app::documents::ReadRequest;
use compat::{Answered, ForeignRead, Moment, ReadOutcome};

use super::request::{self, ForeignPath};
use crate::call::Context;
use crate::documents::{batch, request as wire};
use crate::failure::Failure;
use crate::handlers::documents;
use crate::json;
use crate::memory::Gathered;
use crate::reply::{Reply, log};

/// Time from the last read until the client has the answer.
const RESERVE: Duration = Duration::from_millis(500);

/// Answers a request to read documents.
pub(super) async fn post<T: ForeignPath + ForeignRead>(request: HttpRequest, payload: Payload) -> HttpResponse {
    request::post::<T>(request, payload, answer).await
}

/// Reads the documents, and answers.
pub(super) async fn answer<T: ForeignPath + ForeignRead>(
    context: &Context,
    asked: T,
    started: Instant,
) -> Result<Reply, Failure> {
    let started_at = context.state.now();
    // Earlier than the client stops waiting: it would lose the pages that were read.
    let reads_end = asked.time().map(|time| Deadline::after(time).earlier(RESERVE));
    let groups = asked.reads()?;
    let memory = context.gather();
    let mut documents = all(context, T::FOREIGN.name, groups, reads_end, context.deadline(), &memory).await;
    if let Some(failure) = batch::fault_of_all(&mut documents) {
        return Err(failure);
    }
    let moment = Moment { started_at, elapsed: started.elapsed(), request_id: context.request_id };
    let outcomes: Vec<_> = documents.into_iter().map(outcomes).collect();
    let bytes = memory.bytes();
    let Answered { status, body } = context.compute_if_large(bytes, move || asked.answer(outcomes, moment)).await?;
    let status = StatusCode::from_u16(status).map_err(Failure::internal)?;
    let body = json::to_vec_of(context, bytes, body).await?;
    Ok(Reply::serialized(status, memory.into_answer(body).await?))
}

/// Reads groups of documents, a few at a time, and logs what failed. Stored content must do after `reads_end`; without it the time of
/// each page begins with its read. Returns the outcomes in their groups, with memory for the documents.
pub(super) async fn all(
    context: &Context,
    route: &str,
    groups: Vec<Vec<DocumentRequest>>,
    reads_end: Option<Deadline>,
    deadline: Deadline,
    memory: &Gathered<'_>,
) -> Vec<Vec<Result<DocumentResponse, Failure>>> {
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    let share = batch::share(sizes.iter().sum());
    let requests = groups.into_iter().flatten().map(|mut request| {
        batch::limit(&mut request.content, None, share);
        convert(request).map(|read| ReadRequest { deadline: reads_end.unwrap_or(read.deadline), ..read })
    });
    let outcomes = batch::read_all(context, requests, deadline, memory).await;
    let mut outcomes = outcomes.into_iter().map(|outcome| {
        let logged = outcome.inspect_err(|failure| log(failure, route));
        logged.map(|document| documents::response(context, document))
    });
    sizes.into_iter().map(|size| outcomes.by_ref().take(size).collect()).collect()
}

/// Reads one document, and takes memory for it until the answer that contains it is complete.
pub(super) async fn one(
    context: &Context,
    mut request: DocumentRequest,
    memory: &Gathered<'_>,
) -> Result<DocumentResponse, Failure> {
    batch::limit(&mut request.content, None, batch::share(1));
    let document = batch::held(context, convert(request)?, context.deadline(), memory).await?;
    Ok(documents::response(context, document))
}

/// Validates and converts a request that was made from a foreign one.
fn convert(request: DocumentRequest) -> Result<ReadRequest, Failure> {
    match first_violation(&request) {
        Some(violation) => Err(Failure::invalid(violation.field, violation.message)),
        // The services return text of the page, never of a search result.
        None => Ok(ReadRequest { whole_page: true, ..wire::convert(request)? }),
    }
}

/// Converts the failures of reads to what an answer may show of them.
pub(super) fn outcomes(documents: Vec<Result<DocumentResponse, Failure>>) -> Vec<ReadOutcome> {
    let outcome = |document: Result<DocumentResponse, Failure>| {
        document.map_err(|failure| compat::Failure::of(failure.code, &failure.message))
    };
    documents.into_iter().map(outcome).collect()
}
