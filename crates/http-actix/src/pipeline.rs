//! The steps of every request that needs a credential, in order.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::time::Instant;

use actix_web::http::header::HeaderMap;
use actix_web::{HttpRequest, HttpResponse, web};
use api_types::Access;
use futures_util::FutureExt;
use model::Scope;
use openapi::Spec;

use crate::admission::{self, Admitted, Refused};
use crate::call::{Call, Context};
use crate::exchange::Exchange;
use crate::failure::Failure;
use crate::query::refuse_unknown_parameters;
use crate::reply::{ENVELOPE, Refusals, Reply, respond_as};
use crate::usage_record::UsageRecord;
use crate::{State, body, request_metrics, session};

/// The target of a request.
#[derive(Clone, Copy)]
pub(crate) enum Route {
    /// An operation of the table.
    Operation(&'static Spec),
    /// A path outside the table, under the name that usage and logs give it. Any credential is admitted.
    Unlisted(&'static str),
    /// A path in the format of another service.
    Foreign(&'static Foreign),
}

/// A path in the format of another service.
pub(crate) struct Foreign {
    /// Name that usage and logs give it.
    pub name: &'static str,
    pub scope: Scope,
    pub refusals: Refusals,
}

impl Route {
    fn name(self) -> &'static str {
        match self {
            Route::Operation(spec) => spec.route,
            Route::Unlisted(name) => name,
            Route::Foreign(foreign) => foreign.name,
        }
    }

    fn scope(self) -> Option<Scope> {
        match self {
            Route::Operation(spec) => spec.scope,
            Route::Unlisted(_) => None,
            Route::Foreign(foreign) => Some(foreign.scope),
        }
    }

    fn refusals(self) -> &'static Refusals {
        match self {
            Route::Operation(_) | Route::Unlisted(_) => &ENVELOPE,
            Route::Foreign(foreign) => &foreign.refusals,
        }
    }

    fn check_parameters(self, request: &HttpRequest) -> Result<(), Failure> {
        match self {
            Route::Operation(spec) => refuse_unknown_parameters(request, |name| {
                spec.query_parameters.iter().any(|parameter| parameter.name == name)
            }),
            Route::Unlisted(_) | Route::Foreign(_) => Ok(()),
        }
    }

    /// Returns the session id of the header. On the paths of other services, whose session ids are any text, one that is no UUID is
    /// ignored.
    fn session(self, headers: &HeaderMap) -> Result<Option<String>, Failure> {
        let session = session::from_header(headers);
        match self {
            Route::Operation(_) | Route::Unlisted(_) => session,
            Route::Foreign(_) => Ok(session.unwrap_or_default()),
        }
    }
}

/// Admits a request, runs `handler`, and records usage. Every failure and panic becomes the error envelope.
pub(crate) async fn answer<F>(
    route: Route,
    request: HttpRequest,
    payload: web::Payload,
    handler: impl FnOnce(Call) -> F,
) -> HttpResponse
where
    F: Future<Output = Result<Reply, Failure>>,
{
    let token = admission::bearer_token(request.headers());
    answer_to(token, route, request, payload, handler).await
}

/// Admits a request with a credential that the caller has read, runs `handler`, and records usage. Every failure and panic becomes a
/// response in the format of the path.
pub(crate) async fn answer_to<F>(
    token: Result<String, Failure>,
    route: Route,
    request: HttpRequest,
    payload: web::Payload,
    handler: impl FnOnce(Call) -> F,
) -> HttpResponse
where
    F: Future<Output = Result<Reply, Failure>>,
{
    let started = Instant::now();
    let exchange = Exchange::of(&request);
    exchange.set_route(route.name());
    let request_id = exchange.request_id;
    let Some(state) = request.app_data::<web::Data<State>>().cloned() else {
        return HttpResponse::InternalServerError().finish();
    };

    let source = state.rejections.source(&request);
    let admitted = caught(admission::admit(&state, source, token, route.scope())).await;
    let (outcome, rate_limit, usage) = match admitted.unwrap_or_else(|failure| Err(failure.into())) {
        Ok(Admitted { viewer, token, rate_limit }) => {
            exchange.set_organization(viewer.organization_id);
            let usage = Rc::new(UsageRecord::start(&state, &viewer, route.name(), started));
            let outcome = caught(async {
                route.check_parameters(&request)?;
                let context = Context {
                    state: state.clone().into_inner(),
                    request_id,
                    trace: exchange.trace.clone(),
                    viewer,
                    token,
                    access: Access { rate_limit: rate_limit.clone() },
                    header_session: route.session(request.headers())?,
                };
                let call = Call { context, usage: usage.clone(), request: request.clone(), payload, body_memory: None };
                // Boxed: each caller up to the server would copy a future that contains that of the operation.
                Box::pin(handler(call)).await
            })
            .await
            .and_then(|outcome| outcome);
            (outcome, Some(rate_limit), Some(usage))
        }
        Err(refused) => {
            let Refused { failure, viewer, rate_limit } = *refused;
            viewer.iter().for_each(|viewer| exchange.set_organization(viewer.organization_id));
            let usage =
                viewer.map(|viewer| Rc::new(UsageRecord::start(&state, &viewer, route.name(), started).refused()));
            body::discard_small(&request, payload).await;
            (Err(failure), rate_limit, usage)
        }
    };
    let response =
        respond_as(route.refusals(), &state, &request, request_id, route.name(), outcome, rate_limit.as_ref()).await;
    let status = response.status();
    // The handler may have assigned the request to another operation.
    let name = usage.as_ref().map_or(route.name(), |usage| usage.route());
    exchange.set_route(name);
    if let Some(usage) = usage {
        usage.finish(status.as_u16());
    }
    request_metrics::record(name, status.as_u16(), Some(started.elapsed()));
    response
}

/// Turns a panic into a failure, so that the request is answered and the worker survives.
pub(crate) async fn caught<T>(work: impl Future<Output = T>) -> Result<T, Failure> {
    // Unwind-safe: the request is answered and dropped, so nothing uses the state that a panic leaves behind.
    AssertUnwindSafe(work).catch_unwind().await.map_err(|panic| Failure::internal(panic_message(&*panic)))
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("(no message)"))
}
