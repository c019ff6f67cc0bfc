//! Requests of other services: credential, body or query string, and path.

use std::time::Instant;

use actix_web::{HttpRequest, HttpResponse, web};
use compat::{ForeignRequest, Service, parse};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::credential::{self, Presented};
use crate::call::Context;
use crate::failure::Failure;
use crate::pipeline::{self, Foreign, Route};
use crate::reply::Reply;

/// A request with its path.
pub(super) trait ForeignPath: ForeignRequest + Send + 'static {
    const FOREIGN: &'static Foreign;

    /// Old clients send the key in the body.
    const KEY_IN_BODY: bool = false;
}

/// Answers a request in a JSON body.
pub(super) async fn post<T: ForeignPath>(
    request: HttpRequest,
    mut payload: web::Payload,
    answer: impl AsyncFnOnce(&Context, T, Instant) -> Result<Reply, Failure>,
) -> HttpResponse {
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
        let parsed = crate::body::parsed(&call.context, body, |body| parse::<T>(body, T::UNSUPPORTED)).await??;
        answer(&call.context, parsed, started).await
    })
    .await
}

/// Answers a request in a query string.
pub(super) async fn get<T: ForeignPath>(
    request: HttpRequest,
    payload: web::Payload,
    answer: impl AsyncFnOnce(&Context, T, Instant) -> Result<Reply, Failure>,
) -> HttpResponse {
    let token = credential::from_headers(request.headers(), T::Service::KEY_PREFIX);
    pipeline::answer_to(token, Route::Foreign(T::FOREIGN), request, payload, async move |call| {
        let started = Instant::now();
        let parameters = Value::Object(form(call.request.query_string())?).to_string();
        answer(&call.context, parse::<T>(parameters.as_bytes(), T::UNSUPPORTED)?, started).await
    })
    .await
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
