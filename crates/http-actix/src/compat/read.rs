use std::time::Instant;

use actix_web::http::StatusCode;
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use api_types::validation::first_violation;
use api_types::{DocumentRequest, DocumentResponse, Selection};
use compat::{Answered, ForeignRead, Moment, ReadOutcome};
use futures_util::{StreamExt, stream};
use openapi::{Input, operations};

use super::request::{self, ForeignPath};
use crate::call::Context;
use crate::endpoint::Endpoint;
use crate::failure::Failure;
use crate::json;
use crate::reply::{Reply, log};

/// Concurrent reads of one request.
const CONCURRENT: usize = 8;

/// Maximum characters of the documents of one answer: it is built in memory.
const MAX_CHARS: i64 = 8_000_000;

/// Answers a request to read documents.
pub(super) async fn post<T: ForeignPath + ForeignRead>(request: HttpRequest, payload: Payload) -> HttpResponse {
    request::post::<T>(request, payload, answer).await
}

async fn answer<T: ForeignPath + ForeignRead>(context: &Context, asked: T, started: Instant) -> Result<Reply, Failure> {
    let started_at = context.state.now();
    let groups = asked.reads()?;
    let mut documents = all(context, T::FOREIGN.name, groups).await;
    if let Some(failure) = fault_of_all(&mut documents) {
        return Err(failure);
    }
    let moment = Moment { started_at, elapsed: started.elapsed(), request_id: context.request_id };
    let Answered { status, body } = asked.answer(documents.into_iter().map(outcomes).collect(), moment);
    let status = StatusCode::from_u16(status).map_err(Failure::internal)?;
    Ok(Reply::serialized(status, context.hold(json::to_vec(body).await?).await?))
}

/// Returns a failure of the server if every read ended with one: then there is nothing to answer with.
fn fault_of_all(documents: &mut [Vec<Result<DocumentResponse, Failure>>]) -> Option<Failure> {
    let is_fault = |one: &Result<DocumentResponse, Failure>| one.as_ref().is_err_and(is_server_fault);
    if !documents.iter().flatten().all(is_fault) {
        return None;
    }
    documents.first_mut().and_then(Vec::pop).and_then(Result::err)
}

fn is_server_fault(failure: &Failure) -> bool {
    failure.code.status() >= 500
}

/// Reads groups of documents, a few at a time, and logs what failed. Returns the outcomes in their groups.
pub(super) async fn all(
    context: &Context,
    route: &str,
    groups: Vec<Vec<DocumentRequest>>,
) -> Vec<Vec<Result<DocumentResponse, Failure>>> {
    let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
    let share = share(sizes.iter().sum());
    let reading = stream::iter(groups.into_iter().flatten()).map(async |mut request: DocumentRequest| {
        limit(&mut request, share);
        let outcome = one(context, request).await;
        if let Err(failure) = &outcome {
            log(failure, context.request_id, route);
        }
        outcome
    });
    let mut outcomes = reading.buffered(CONCURRENT).collect::<Vec<_>>().await.into_iter();
    sizes.into_iter().map(|size| outcomes.by_ref().take(size).collect()).collect()
}

/// Returns the maximum characters of each of `count` documents.
fn share(count: usize) -> i64 {
    MAX_CHARS / i64::try_from(count.max(1)).unwrap_or(MAX_CHARS)
}

/// Limits the text of a whole document. Selected passages are few.
fn limit(request: &mut DocumentRequest, share: i64) {
    if request.content.selection == Selection::FullDocument {
        request.content.max_chars = Some(request.content.max_chars.map_or(share, |max| max.min(share)));
    }
}

/// Reads one document.
pub(super) async fn one(context: &Context, request: DocumentRequest) -> Result<DocumentResponse, Failure> {
    if let Some(violation) = first_violation(&request) {
        return Err(Failure::invalid(violation.field, violation.message));
    }
    operations::ReadDocument::handle(context, Input::of_body(request)).await
}

/// Converts the failures of reads to what an answer may show of them.
pub(super) fn outcomes(documents: Vec<Result<DocumentResponse, Failure>>) -> Vec<ReadOutcome> {
    let outcome = |document: Result<DocumentResponse, Failure>| {
        document.map_err(|failure| compat::Failure::of(failure.code, &failure.message))
    };
    documents.into_iter().map(outcome).collect()
}

#[cfg(test)]
mod tests {
    use api_types::ContentRequest;

    use super::*;

    #[test]
    fn documents_share_the_memory_of_an_answer() {
        let limited = |selection, max_chars, count| {
            let content = ContentRequest { selection, max_chars, ..ContentRequest::default() };
            let mut request = DocumentRequest { content, ..DocumentRequest::default() };
            limit(&mut request, share(count));
            request.content.max_chars
        };
        assert_eq!(limited(Selection::FullDocument, None, 1), Some(8_000_000));
        assert_eq!(limited(Selection::FullDocument, None, 50), Some(160_000));
        assert_eq!(limited(Selection::FullDocument, Some(9), 50), Some(9));
        assert_eq!(limited(Selection::TopPassages, None, 50), None, "a limit would select more");
    }
}
