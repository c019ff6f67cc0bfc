//! Durations of searches, whichever interface they come through.

use std::time::Duration;

use metrics::histogram;

const DURATION: &str = "retrieval_search_duration_seconds";

/// Makes the histogram known to the first scrape.
pub(crate) fn register() {
    // Registered by naming it: a recorded value would count as a search.
    let _ = histogram!(DURATION);
}

/// Counts a search that has an answer.
pub(crate) fn record(duration: Duration) {
    histogram!(DURATION).record(duration);
}
