//! The one order in which every request under `/v1` is answered.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::time::Instant;

use actix_web::{HttpRequest, HttpResponse, web};
use api_types::Access;
use futures_util::FutureExt;
use metrics::{counter, histogram};
use model::Scope;
use openapi::{Operation, Parameter};
use uuid::Uuid;

use crate::call::{Call, Context};
use crate::door::{self, Admitted, Refused};
use crate::failure::Failure;
use crate::reply::{Reply, respond};
use crate::usage_record::UsageRecord;
use crate::{State, body, session};

/// One route of the API.
pub(crate) struct Endpoint {
    /// Method and path template: how usage and logs name it.
    pub route: &'static str,
    /// What the credential must be allowed to do.
    pub permission: Option<Scope>,
    /// The query parameters that the endpoint takes; `None`: whatever is sent.
    pub query_parameters: Option<&'static [Parameter]>,
    /// The name of the type that a success answers with.
    pub response: Option<&'static str>,
}

impl Endpoint {
    /// An operation of the published table. `permission` is what its scope asks for.
    pub const fn of(operation: &'static Operation, permission: Scope) -> Self {
        Endpoint {
            route: operation.route,
            permission: Some(permission),
            query_parameters: Some(operation.query_parameters),
            response: Some(operation.response),
        }
    }

    /// What is not in the table: probes, and paths that nothing is at.
    pub const fn unlisted(route: &'static str) -> Self {
        Endpoint { route, permission: None, query_parameters: None, response: None }
    }
}

/// Answers a request: the door, then `handler`, with every failure and panic as an error envelope.
pub(crate) async fn answer<H, F>(
    endpoint: &'static Endpoint,
    request: HttpRequest,
    payload: web::Payload,
    handler: H,
) -> HttpResponse
where
    H: FnOnce(Call) -> F,
    F: Future<Output = Result<Reply, Failure>>,
{
    let started = Instant::now();
    let request_id = Uuid::now_v7();
    let Some(state) = request.app_data::<web::Data<State>>().cloned() else {
        return HttpResponse::InternalServerError().finish();
    };

    let admitted = caught(door::admit(&state, request.headers(), endpoint.permission)).await;
    let (outcome, rate_limit, usage) = match admitted.unwrap_or_else(|failure| Err(failure.into())) {
        Ok(Admitted { viewer, rate_limit }) => {
            let usage = Rc::new(UsageRecord::start(&state, &viewer, endpoint.route, started));
            let outcome = caught(async {
                if let Some(known) = endpoint.query_parameters {
                    refuse_unknown_parameters(&request, |name| known.iter().any(|parameter| parameter.name == name))?;
                }
                let context = Context {
                    state: state.clone().into_inner(),
                    request_id,
                    viewer,
                    access: Access { rate_limit: rate_limit.clone() },
                    header_session: session::from_header(request.headers())?,
                };
                let call = Call { context, usage: usage.clone(), request: request.clone(), payload };
                handler(call).await
            })
            .await
            .and_then(|outcome| outcome);
            (outcome, Some(rate_limit), Some(usage))
        }
        Err(refused) => {
            let Refused { failure, viewer, rate_limit } = *refused;
            let usage = viewer.map(|viewer| Rc::new(UsageRecord::start(&state, &viewer, endpoint.route, started)));
            body::discard_small(&request, payload).await;
            (Err(failure), rate_limit, usage)
        }
    };
    let response = respond(&state, &request, request_id, endpoint, outcome, rate_limit.as_ref()).await;
    let status = response.status();
    let route = usage.as_ref().map_or(endpoint.route, |usage| usage.route());
    if let Some(usage) = usage {
        usage.finish(status.as_u16());
    }
    counter!("retrieval_requests_total", "route" => route, "status" => status.as_str().to_owned()).increment(1);
    histogram!("retrieval_request_duration_seconds", "route" => route).record(started.elapsed());
    response
}

/// Turns a panic into a failure, so that one bad request is answered and the worker lives on.
pub(crate) async fn caught<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    // Nothing that the work leaves behind is used after a panic: the request is answered and dropped.
    AssertUnwindSafe(work).catch_unwind().await.map_err(|panic| Failure::internal(panic_message(&*panic)))
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("(no message)"))
}

/// Refuses the first query parameter that is not known.
pub(crate) fn refuse_unknown_parameters(request: &HttpRequest, is_known: impl Fn(&str) -> bool) -> Result<(), Failure> {
    for pair in request.query_string().split('&').filter(|pair| !pair.is_empty()) {
        let name = pair.split('=').next().unwrap_or_default();
        if !is_known(name) {
            let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy().into_owned();
            let message = format!("unknown query parameter `{name}`");
            return Err(
                Failure::malformed(message.clone(), message).with("field", name.chars().take(100).collect::<String>())
            );
        }
    }
    Ok(())
}
