//! A filled field.

use super::super::quotes::{self, Quote};
use super::super::result::Confidence;
use super::super::state::State;
use super::super::text::similar::Gist;

/// A field of the result and the quotes that it is based on.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub pointer: String,
    pub quotes: Vec<Quote>,
    pub confidence: Confidence,
}

/// Confidence by the number of independent sources of the quotes.
pub(super) fn confidence(state: &State, quotes: &[Quote], statement: Option<&str>) -> Confidence {
    let mut sources: Vec<usize> = Vec::new();
    for quote in quotes {
        let note = &state.notes[quote.note];
        sources.push(note.source);
        sources.extend(&note.also_in);
    }
    sources.sort_unstable();
    sources.dedup();
    let supported = statement.is_none_or(|statement| {
        let gist = Gist::of(statement);
        quotes.iter().any(|quote| gist.resemblance(&Gist::of(quotes::text(state, *quote))) >= 0.3)
    });
    match (sources.len(), supported) {
        (0 | 1, false) => Confidence::Low,
        (0 | 1, true) | (_, false) => Confidence::Medium,
        (_, true) => Confidence::High,
    }
}
