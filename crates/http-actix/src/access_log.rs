//! One log line per request, written when its answer has been sent. It has no content, no keys and no query strings.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Instant;

use actix_service::Service;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::{Error, HttpMessage};
use bytes::Bytes;
use tracing::Instrument;

use crate::exchange::Exchange;
use crate::handlers::unmatched::UNMATCHED;
use crate::usage_record::CLIENT_CLOSED;

/// Serves a request within a span that has its id and its trace, and writes its line to the access log if `enabled`.
pub(crate) fn observe<S, B>(
    request: ServiceRequest,
    service: &S,
    enabled: bool,
) -> impl Future<Output = Result<ServiceResponse<Observed>, Error>> + use<S, B>
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error>,
    S::Future: 'static,
    B: MessageBody + 'static,
{
    let exchange = Rc::new(Exchange::begin(request.headers()));
    request.extensions_mut().insert(Rc::clone(&exchange));
    // At the highest level, so that a filter which permits a line permits its span, too.
    let span =
        tracing::error_span!("request", request_id = %exchange.request_id, trace_id = %exchange.trace.trace_id());
    let mut line = enabled.then(|| Line::begin(exchange));
    let serving = service.call(request);
    async move {
        let response = serving.await?;
        if let Some(line) = &mut line {
            line.answered(&response);
        }
        Ok(response.map_body(|_, body| Observed { body: body.boxed(), line }))
    }
    .instrument(span)
}

/// Line of one request, written on drop. actix drops it early when a client disconnects.
struct Line {
    exchange: Rc<Exchange>,
    started: Instant,
    /// Route of a path outside the table of operations.
    path: Option<String>,
    status: u16,
    bytes: u64,
}

impl Line {
    fn begin(exchange: Rc<Exchange>) -> Self {
        Self { exchange, started: Instant::now(), path: None, status: CLIENT_CLOSED, bytes: 0 }
    }

    fn answered<B>(&mut self, response: &ServiceResponse<B>) {
        self.status = response.status().as_u16();
        if self.exchange.route().is_none() {
            let request = response.request();
            self.path = request.match_pattern().map(|pattern| format!("{} {pattern}", request.method()));
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let Self { exchange, started, path, status, bytes } = self;
        let route = exchange.route().or(path.as_deref()).unwrap_or(UNMATCHED);
        let duration_ms = (started.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        let organization_id = exchange.organization().map(tracing::field::display);
        tracing::info!(
            target: "access",
            request_id = %exchange.request_id,
            trace_id = %exchange.trace.trace_id(),
            route,
            status,
            duration_ms,
            organization_id,
            bytes,
            "request"
        );
    }
}

/// Body that counts what is sent of it.
pub(crate) struct Observed {
    body: BoxBody,
    line: Option<Line>,
}

impl MessageBody for Observed {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let polled = Pin::new(&mut self.body).poll_next(context);
        if let (Poll::Ready(Some(Ok(bytes))), Some(line)) = (&polled, &mut self.line) {
            line.bytes += bytes.len() as u64;
        }
        polled
    }
}
