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

/// Share of common words for which a quote supports a text.
pub(super) const SUPPORTS: f64 = 0.3;

/// Returns the support of a text by a quote, 0 to 1, which is compared with [`SUPPORTS`]: the share of common words. A short
/// text, such as a name, is supported by a long quote that has all its words.
pub(super) fn support(text: &Gist, quote: &Gist) -> f64 {
    if text.is_within(quote) { 1.0 } else { text.resemblance(quote) }
}

/// Confidence by the number of independent sources of the quotes. Only those that support the statement count, if given.
pub(super) fn confidence(state: &State, quotes: &[Quote], statement: Option<&str>) -> Confidence {
    let Some(statement) = statement else { return by_sources(state, quotes) };
    let statement = Gist::of(statement);
    let supports = |quote: &Quote| support(&statement, &Gist::of(quotes::text(state, *quote))) >= SUPPORTS;
    by_sources(state, &quotes.iter().copied().filter(supports).collect::<Vec<_>>())
}

/// Confidence by the number of independent sources of quotes that support a value.
pub(super) fn by_sources(state: &State, quotes: &[Quote]) -> Confidence {
    let mut sources: Vec<usize> = Vec::new();
    for quote in quotes {
        let note = &state.notes[quote.note];
        sources.push(note.source);
        sources.extend(&note.also_in);
    }
    sources.sort_unstable();
    sources.dedup();
    match sources.len() {
        0 => Confidence::Low,
        1 => Confidence::Medium,
        _ => Confidence::High,
    }
}
