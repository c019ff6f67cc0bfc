//! Counts and durations of requests. Routes are templates, never paths.

use std::time::Duration;

use metrics::{counter, histogram};

/// Statuses of the paths outside the table of operations, which all have the limits and the failures of the API.
const SERVED: [u16; 8] = [200, 400, 401, 403, 429, 500, 502, 503];
/// Statuses of requests to unknown paths, and by wrong methods.
const UNMATCHED: [u16; 6] = [401, 404, 405, 429, 500, 503];

/// Makes every operation known to the first scrape, with each status of its contract, and the paths outside of the table: those that
/// are `served`, and the name of all that are not.
pub(crate) fn register(served: impl IntoIterator<Item = &'static str>, unmatched: &'static str) {
    for spec in openapi::operations::all() {
        let errors = spec.all_errors().into_iter().map(|code| code.status());
        register_route(spec.route, std::iter::once(spec.status).chain(errors));
    }
    served.into_iter().for_each(|route| register_route(route, SERVED));
    register_route(unmatched, UNMATCHED);
}

fn register_route(route: &'static str, statuses: impl IntoIterator<Item = u16>) {
    statuses.into_iter().for_each(|status| count(route, status, 0));
    // Registered by naming it: a recorded value would count as a request.
    let _ = histogram!("retrieval_request_duration_seconds", "route" => route);
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
