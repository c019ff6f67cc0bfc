//! Counts of fetches by outcome: pages that are read by their URL, and visits of crawls.

use metrics::counter;

use crate::error::FetchError;

const FETCHED: &str = "fetched";
const NOT_MODIFIED: &str = "not_modified";
const REDIRECT: &str = "redirect";
const FAILURES: [&str; 15] = [
    "invalid_url",
    "refused_address",
    "refused_port",
    "dns",
    "connect",
    "tls",
    "timeout",
    "status",
    "content_type",
    "too_large",
    "redirects",
    "robots",
    "overloaded",
    "interrupted",
    "protocol",
];

/// Result of a fetch that did not fail.
#[derive(Clone, Copy, Debug)]
pub enum Success {
    Fetched,
    NotModified,
    /// Of a visit, which does not follow it.
    Redirect,
}

/// Makes the outcomes known to the first scrape.
pub fn register_metrics() {
    [FETCHED, NOT_MODIFIED, REDIRECT].into_iter().chain(FAILURES).for_each(|outcome| count(outcome, 0));
}

/// Counts a fetch.
pub fn record(outcome: Result<Success, &FetchError>) {
    count(outcome.map_or_else(failure, success), 1);
}

fn success(success: Success) -> &'static str {
    match success {
        Success::Fetched => FETCHED,
        Success::NotModified => NOT_MODIFIED,
        Success::Redirect => REDIRECT,
    }
}

fn failure(error: &FetchError) -> &'static str {
    match error {
        FetchError::InvalidUrl { .. } => "invalid_url",
        FetchError::RefusedAddress => "refused_address",
        FetchError::RefusedPort { .. } => "refused_port",
        FetchError::Dns => "dns",
        FetchError::Connect => "connect",
        FetchError::Tls => "tls",
        FetchError::Timeout { .. } => "timeout",
        FetchError::Status { .. } => "status",
        FetchError::ContentType { .. } => "content_type",
        FetchError::TooLarge { .. } => "too_large",
        FetchError::TooManyRedirects { .. } | FetchError::RedirectLoop => "redirects",
        FetchError::Robots | FetchError::RobotsUnreachable { .. } => "robots",
        FetchError::Overloaded { .. } => "overloaded",
        FetchError::Interrupted => "interrupted",
        FetchError::Protocol { .. } => "protocol",
    }
}

fn count(outcome: &'static str, fetches: u64) {
    counter!("retrieval_fetches_total", "outcome" => outcome).increment(fetches);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::error::{RobotsFailure, TimeoutStage};

    #[test]
    fn every_failure_is_known_to_the_first_scrape() {
        for error in [
            FetchError::InvalidUrl { reason: "" },
            FetchError::RefusedAddress,
            FetchError::RefusedPort { port: 25 },
            FetchError::Dns,
            FetchError::Connect,
            FetchError::Tls,
            FetchError::Timeout { stage: TimeoutStage::Total },
            FetchError::Status { status: 404, retry_after: None },
            FetchError::ContentType { content_type: String::new() },
            FetchError::TooLarge { limit: 1 },
            FetchError::TooManyRedirects { limit: 1 },
            FetchError::RedirectLoop,
            FetchError::Robots,
            FetchError::RobotsUnreachable { cause: RobotsFailure::Status, retry_after: Duration::ZERO },
            FetchError::Overloaded { retry_after: Duration::ZERO },
            FetchError::Interrupted,
            FetchError::Protocol { reason: "" },
        ] {
            assert!(FAILURES.contains(&failure(&error)), "{error:?}");
        }
    }
}
