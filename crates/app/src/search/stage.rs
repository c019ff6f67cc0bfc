//! Stages of a search, measured one by one: a histogram for all of them, and a span of the request's trace for each.

use std::future::Future;
use std::time::Instant;

use futures_util::FutureExt;
use metrics::histogram;
use trace_context::{ActiveSpan, SpanKind};

const DURATION: &str = "retrieval_search_stage_duration_seconds";

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Stage {
    /// Answer of the engine to the words of the query.
    Words,
    /// Vector of the query, unless it is known.
    Embed,
    /// Answer of the engine to the vector.
    Semantic,
    /// Answers of web search providers.
    Providers,
    /// Candidates from the database, and analysis of those that are not cached; then the documents of the results.
    Load,
    Rank,
    /// Answer of the reranking model.
    Rerank,
    Passages,
    /// Texts of the results.
    Quote,
    /// Record of the search, beside the texts.
    Record,
}

impl Stage {
    const ALL: [Self; 10] = [
        Stage::Words,
        Stage::Embed,
        Stage::Semantic,
        Stage::Providers,
        Stage::Load,
        Stage::Rank,
        Stage::Rerank,
        Stage::Passages,
        Stage::Quote,
        Stage::Record,
    ];

    /// Returns the name in metrics, and the name of the span.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Stage::Words => ("first_stage", "search first_stage"),
            Stage::Embed => ("embed", "search embed"),
            Stage::Semantic => ("semantic", "search semantic"),
            Stage::Providers => ("providers", "search providers"),
            Stage::Load => ("load", "search load"),
            Stage::Rank => ("rank", "search rank"),
            Stage::Rerank => ("rerank", "search rerank"),
            Stage::Passages => ("passages", "search passages"),
            Stage::Quote => ("quote", "search quote"),
            Stage::Record => ("record", "search record"),
        }
    }

    /// Does the work of the stage. Work that is cancelled has a span and no duration.
    pub fn measure<F: Future>(self, work: F) -> impl Future<Output = F::Output> {
        let started = Instant::now();
        self.span().around(work).inspect(move |_| self.record(started))
    }

    /// Does the work of the stage, which fails with the work.
    pub fn try_measure<T, E, F: Future<Output = Result<T, E>>>(self, work: F) -> impl Future<Output = Result<T, E>> {
        let started = Instant::now();
        self.span().try_around(work).inspect(move |_| self.record(started))
    }

    fn span(self) -> ActiveSpan {
        ActiveSpan::begin(self.names().1, SpanKind::Internal)
    }

    fn record(self, started: Instant) {
        histogram!(DURATION, "stage" => self.names().0).record(started.elapsed());
    }
}

/// Makes the stages known to the first scrape.
pub(crate) fn register_metrics() {
    for stage in Stage::ALL {
        // Registered by naming it: a recorded value would count as a search.
        let _ = histogram!(DURATION, "stage" => stage.names().0);
    }
}
