//! Counts of requests, and the totals that an overview shows of them.

use docstore::DurationHistogram;

/// Billed route.
pub const SEARCH: &str = "POST /v1/search";

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    pub requests: i64,
    /// Responses with status 400 or above.
    pub errors: i64,
    pub avg_duration_ms: f64,
    pub p95_duration_ms: f64,
    pub spend_cents: i64,
}

/// Aggregated counts of any set of requests.
#[derive(Clone, Debug, Default)]
pub struct Count {
    pub requests: i64,
    pub client_errors: i64,
    pub server_errors: i64,
    pub duration_us: i64,
    pub spend_cents: i64,
    pub durations: DurationHistogram,
}

impl Count {
    /// Returns the count of one request.
    pub fn of(status: i32, duration_us: i64) -> Self {
        let mut durations = DurationHistogram::default();
        durations.record(u64::try_from(duration_us).unwrap_or(0));
        Self {
            requests: 1,
            client_errors: i64::from((400..500).contains(&status)),
            server_errors: i64::from(status >= 500),
            duration_us,
            spend_cents: 0,
            durations,
        }
    }

    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.client_errors += other.client_errors;
        self.server_errors += other.server_errors;
        self.duration_us = self.duration_us.saturating_add(other.duration_us);
        self.spend_cents += other.spend_cents;
        self.durations.merge(&other.durations);
    }

    pub fn totals(&self) -> Totals {
        let milliseconds = |microseconds: f64| (microseconds.round() / 1e3 * 1e3).round() / 1e3;
        let average = if self.requests > 0 { self.duration_us as f64 / self.requests as f64 } else { 0.0 };
        Totals {
            requests: self.requests,
            errors: self.client_errors + self.server_errors,
            avg_duration_ms: milliseconds(average),
            p95_duration_ms: milliseconds(self.durations.percentile(95.0)),
            spend_cents: self.spend_cents,
        }
    }
}
