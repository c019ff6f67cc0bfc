//! Observation of each request from its head to the end of its answer: one line of the access log, one span of its trace.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Instant;

use actix_service::Service;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::{Error, HttpMessage};
use bytes::Bytes;
use trace_context::{ActiveSpan, SpanKind, within};
use tracing::Instrument;

use crate::access_log::{self, Answered};
use crate::exchange::Exchange;
use crate::handlers::unmatched::UNMATCHED;
use crate::usage_record::CLIENT_CLOSED;

/// Serves a request within a span of the log that has its id and its trace. Writes its line to the access log if `has_line`, and
/// records its span if its trace is recorded.
pub(crate) fn observe<S, B>(
    request: ServiceRequest,
    service: &S,
    has_line: bool,
) -> impl Future<Output = Result<ServiceResponse<Observed>, Error>> + use<S, B>
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error>,
    S::Future: 'static,
    B: MessageBody + 'static,
{
    let exchange = Rc::new(Exchange::begin(request.headers()));
    request.extensions_mut().insert(Rc::clone(&exchange));
    // At the highest level, so that a filter which permits a line permits its span, too.
    let log = tracing::error_span!("request", request_id = %exchange.request_id, trace_id = %exchange.trace.trace_id());
    let mut watch = Watch::begin(Rc::clone(&exchange), request.method(), has_line);
    let serving = within(exchange.trace.clone(), service.call(request));
    async move {
        let response = serving.await?;
        watch.answered(&response);
        Ok(response.map_body(|_, body| Observed { body: body.boxed(), watch }))
    }
    .instrument(log)
}

/// A request that is observed until it is dropped. actix drops it early when a client disconnects.
struct Watch {
    exchange: Rc<Exchange>,
    started: Instant,
    /// Route of a path outside the table of operations.
    path: Option<String>,
    status: u16,
    /// The listener reads the body of the answer, but does not send it.
    is_head: bool,
    bytes: u64,
    has_line: bool,
    span: ActiveSpan,
}

impl Watch {
    fn begin(exchange: Rc<Exchange>, method: &Method, has_line: bool) -> Self {
        let mut span = ActiveSpan::of(&exchange.trace, UNMATCHED, SpanKind::Server);
        span.set("http.request.method", known(method));
        let is_head = method == Method::HEAD;
        Self { exchange, started: Instant::now(), path: None, status: CLIENT_CLOSED, is_head, bytes: 0, has_line, span }
    }

    fn answered<B>(&mut self, response: &ServiceResponse<B>) {
        self.status = response.status().as_u16();
        if self.exchange.route().is_none() {
            let request = response.request();
            self.path = request.match_pattern().map(|pattern| format!("{} {pattern}", known(request.method())));
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let Self { exchange, started, path, status, bytes, has_line, span, .. } = self;
        let route = exchange.route().or(path.as_deref()).unwrap_or(UNMATCHED);
        if *has_line {
            let took = started.elapsed();
            access_log::write(&Answered { exchange, route, status: *status, took, bytes: *bytes });
        }
        if span.is_recorded() {
            end(span, exchange, route, *status, *bytes);
        }
    }
}

/// Completes the span of a request with the names of OpenTelemetry's conventions. The organization is in the access log only.
fn end(span: &mut ActiveSpan, exchange: &Exchange, route: &str, status: u16, bytes: u64) {
    span.rename(route.to_owned());
    if let Some((_, template)) = route.split_once(' ') {
        span.set("http.route", template.to_owned());
    }
    span.set("http.response.status_code", status);
    span.set("http.response.body.size", bytes);
    span.set("request_id", exchange.request_id.to_string());
    if status >= 500 {
        span.fail();
    }
}

/// Returns the name of a method. Unknown ones are text of strangers.
fn known(method: &Method) -> &'static str {
    const METHODS: [&str; 9] = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT"];
    METHODS.into_iter().find(|name| *name == method.as_str()).unwrap_or("_OTHER")
}

/// Body that counts what is sent of it.
pub(crate) struct Observed {
    body: BoxBody,
    watch: Watch,
}

impl MessageBody for Observed {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let polled = Pin::new(&mut self.body).poll_next(context);
        if let Poll::Ready(Some(Ok(bytes))) = &polled
            && !self.watch.is_head
        {
            self.watch.bytes += bytes.len() as u64;
        }
        polled
    }
}
