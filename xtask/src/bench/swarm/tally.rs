//! Responses that a swarm received.

use crate::bench::samples::Samples;
use std::collections::BTreeMap;
use std::time::Duration;

/// Status of a complete response with content.
const OK: u16 = 200;

/// Result of a load.
#[derive(Default)]
pub struct Tally {
    pub answers: Vec<Answer>,
    /// Requests whose client disconnected at its timeout.
    pub timed_out: usize,
    /// Requests whose connection failed or was closed.
    pub lost: usize,
}

/// Complete response.
pub struct Answer {
    pub status: u16,
    /// Time from the first byte of the request to the last byte of the response.
    pub took: Duration,
    /// Time from the start of the load to the last byte of the response.
    pub at: Duration,
}

impl Tally {
    /// Returns the number of responses with status 200.
    pub fn answered(&self) -> usize {
        self.answers.iter().filter(|answer| answer.status == OK).count()
    }

    /// Returns the responses with status 200 per second that arrived within `window` from the start.
    pub fn goodput(&self, window: Duration) -> f64 {
        let in_time = self.answers.iter().filter(|answer| answer.status == OK && answer.at <= window).count();
        in_time as f64 / window.as_secs_f64().max(f64::EPSILON)
    }

    /// Returns the latencies of responses with status 200.
    pub fn latencies(&self) -> Samples {
        let mut samples = Samples::default();
        self.answers.iter().filter(|answer| answer.status == OK).for_each(|answer| samples.push(answer.took));
        samples
    }

    /// Returns the number of responses by status, without status 200.
    pub fn refusals(&self) -> BTreeMap<u16, usize> {
        let mut counts = BTreeMap::new();
        for answer in self.answers.iter().filter(|answer| answer.status != OK) {
            *counts.entry(answer.status).or_default() += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Tally};
    use std::time::Duration;

    #[test]
    fn goodput_counts_answers_within_the_window() {
        let answer = |status, at| Answer { status, took: Duration::from_millis(1), at: Duration::from_secs(at) };
        let answers = vec![answer(200, 1), answer(503, 1), answer(200, 2), answer(200, 3), answer(502, 3)];
        let tally = Tally { answers, ..Tally::default() };
        assert!((tally.goodput(Duration::from_secs(2)) - 1.0).abs() < f64::EPSILON);
        assert_eq!((tally.answered(), tally.latencies().len()), (3, 3));
        assert_eq!(tally.refusals().into_iter().collect::<Vec<_>>(), [(502, 1), (503, 1)]);
    }
}
