//! The line of a request in the access log. It has no content, no keys and no query strings.

use std::time::Duration;

use crate::exchange::Exchange;

/// Facts about an answered request.
pub(crate) struct Answered<'a> {
    pub exchange: &'a Exchange,
    pub route: &'a str,
    pub status: u16,
    pub took: Duration,
    /// Bytes of the body that were sent.
    pub bytes: u64,
}

/// Writes the line of a request.
pub(crate) fn write(answered: &Answered<'_>) {
    let Answered { exchange, route, status, took, bytes } = answered;
    let duration_ms = (took.as_secs_f64() * 1e6).round() / 1e3;
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
