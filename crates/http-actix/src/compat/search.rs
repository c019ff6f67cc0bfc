use std::time::Instant;

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use api_types::SearchResult;
use api_types::validation::first_violation;
use compat::{ForeignSearch, Hit, Moment, Service, parse};
use model::Scope;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::credential::{self, Presented};
use super::read;
use crate::admission;
use crate::call::Context;
use crate::failure::Failure;
use crate::handlers::searches;
use crate::json;
use crate::pipeline::{self, Foreign, Route};
use crate::reply::Reply;
use crate::search::response::ShapedPage;

/// A search request with its path.
pub(super) trait SearchPath: ForeignSearch + 'static {
    const FOREIGN: &'static Foreign;

    /// Old clients send the key in the body.
    const KEY_IN_BODY: bool = false;
}

/// Answers a search whose request is a JSON body.
pub(super) async fn post<T: SearchPath>(request: HttpRequest, mut payload: web::Payload) -> HttpResponse {
    let prefix = T::Service::KEY_PREFIX;
    let Presented { token, body } = if T::KEY_IN_BODY {
        credential::from_headers_or_body(&request, &mut payload, prefix).await
    } else {
        Presented { token: credential::from_headers(request.headers(), prefix), body: None }
    };
    pipeline::answer_to(token, Route::Foreign(T::FOREIGN), request, payload, async move |mut call| {
        let started = Instant::now();
        let body = match body {
            Some(body) => body,
            None => crate::body::bytes(&mut call).await?,
        };
        answer(&call.context, parse::<T>(&body, T::UNSUPPORTED)?, started).await
    })
    .await
}

/// Answers a search whose request is a query string.
pub(super) async fn get<T: SearchPath>(request: HttpRequest, payload: web::Payload) -> HttpResponse {
    let token = credential::from_headers(request.headers(), T::Service::KEY_PREFIX);
    pipeline::answer_to(token, Route::Foreign(T::FOREIGN), request, payload, async move |call| {
        let started = Instant::now();
        let parameters = Value::Object(form(call.request.query_string())?).to_string();
        answer(&call.context, parse::<T>(parameters.as_bytes(), T::UNSUPPORTED)?, started).await
    })
    .await
}

/// Searches, reads the documents that the answer contains, and answers. The search is charged once, with its answer.
async fn answer<T: SearchPath>(context: &Context, asked: T, started: Instant) -> Result<Reply, Failure> {
    let started_at = context.state.now();
    let plan = asked.plan(started_at)?;
    if asked.reads_documents() {
        admission::require(&context.viewer, Some(Scope::DocumentRead))?;
    }
    let search = plan.search(context.viewer.organization_id.0);
    if let Some(violation) = first_violation(&search) {
        return Err(Failure::invalid(violation.field, violation.message));
    }
    searches::search(context, search, async |page: &ShapedPage| {
        let hits = with_documents(context, &asked, plan.select(page.response()?)).await;
        let moment = Moment { started_at, elapsed: started.elapsed(), request_id: context.request_id };
        let body = json::to_vec(asked.answer(hits, moment)).await?;
        Ok(Reply::serialized(StatusCode::OK, context.hold(body).await?))
    })
    .await
}

/// Reads the documents of the hits. A document that cannot be read does not fail the search.
async fn with_documents<T: SearchPath>(context: &Context, asked: &T, results: Vec<SearchResult>) -> Vec<Hit> {
    let groups = results.iter().map(|result| asked.reads(result)).collect();
    let documents = read::all(context, T::FOREIGN.name, groups).await;
    let hits = results.into_iter().zip(documents);
    hits.map(|(result, documents)| Hit { result, documents: read::outcomes(documents) }).collect()
}

/// Parses a query string as forms are encoded. Of repeated names the last counts.
fn form(query: &str) -> Result<Map<String, Value>, Failure> {
    let decode = |text: &str| {
        let text = text.replace('+', " ");
        let decoded = percent_decode_str(&text).decode_utf8().map(|text| text.into_owned());
        decoded.map_err(|_| Failure::invalid("query", "the query string must be percent-encoded UTF-8"))
    };
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.map(|(name, value)| Ok((decode(name)?, decode(value)?.into()))).collect()
}
