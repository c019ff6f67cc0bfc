//! Counts and durations of requests. Routes are templates, never paths.

use std::time::Duration;

use metrics::{counter, histogram};

/// Makes every operation known to the first scrape, with each status of its contract.
pub(crate) fn register() {
    for spec in openapi::operations::all() {
        let errors = spec.all_errors().into_iter().map(|code| code.status());
        for status in std::iter::once(spec.status).chain(errors) {
            count(spec.route, status, 0);
        }
        // Registered by naming it: a recorded value would count as a request.
        let _ = histogram!("retrieval_request_duration_seconds", "route" => spec.route);
    }
}

/// Counts a request, and its duration if it got a response.
pub(crate) fn record(route: &'static str, status: u16, duration: Option<Duration>) {
    count(route, status, 1);
    if let Some(duration) = duration {
        histogram!("retrieval_request_duration_seconds", "route" => route).record(duration);
    }
}

fn count(route: &'static str, status: u16, requests: u64) {
    counter!("retrieval_requests_total", "route" => route, "status" => status.to_string()).increment(requests);
}
