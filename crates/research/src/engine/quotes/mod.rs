//! Quotes: parts of notes that a report cites.

pub(super) mod addresses;
pub(super) mod draft;
pub(super) mod excerpts;

use retrieval_core::sentences;

use super::state::{MAX_CHECKS, State, VerifiedQuote};
use super::text::similar::Gist;

/// Longest quote in bytes. A longer unit, such as a row of data, is cut at a word.
const MAX_QUOTE_BYTES: usize = 700;

/// Bytes of a note.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Quote {
    pub note: usize,
    pub start: usize,
    pub end: usize,
}

/// Returns the sentences of a note that may be cited; none of a rejected note, and only verified ones after the last
/// comparison.
pub(crate) fn of_note(state: &State, note: usize) -> Vec<Quote> {
    let Some(kept) = state.notes.get(note).filter(|kept| !kept.rejected) else { return Vec::new() };
    if state.checks >= MAX_CHECKS {
        let verified = state.verified.iter().filter(|quote| quote.note == note);
        return verified.map(|quote| Quote { note, start: quote.start, end: quote.end }).collect();
    }
    let mut quotes = Vec::new();
    for unit in sentences::units(&kept.text) {
        let text = &kept.text[unit.clone()];
        if text.trim().is_empty() {
            continue;
        }
        let start = unit.start + (text.len() - text.trim_start().len());
        let end = cut(&kept.text, start, unit.start + text.trim_end().len());
        if kept.text[start..end].chars().any(char::is_alphanumeric) {
            quotes.push(Quote { note, start, end });
        }
    }
    quotes
}

fn cut(text: &str, start: usize, end: usize) -> usize {
    if end - start <= MAX_QUOTE_BYTES {
        return end;
    }
    let most = text.floor_char_boundary(start + MAX_QUOTE_BYTES);
    let space = text[start..most].rfind(char::is_whitespace).filter(|at| *at > MAX_QUOTE_BYTES / 2);
    space.map_or(most, |at| start + text[start..start + at].trim_end().len())
}

/// Returns the position of a verified quote in its capture.
pub(crate) fn verified_at(state: &State, quote: Quote) -> Option<usize> {
    let same =
        |known: &&VerifiedQuote| known.note == quote.note && known.start == quote.start && known.end == quote.end;
    state.verified.iter().find(same).map(|known| known.char_start)
}

/// Returns the text of a quote.
pub(crate) fn text(state: &State, quote: Quote) -> &str {
    &state.notes[quote.note].text[quote.start..quote.end]
}

/// Returns the sentence of a note that resembles a statement most, and the share of the words that both have. The first
/// one if none does.
pub(crate) fn closest(state: &State, note: usize, statement: &Gist) -> Option<(Quote, f64)> {
    let mut best: Option<(Quote, f64)> = None;
    for quote in of_note(state, note) {
        let share = statement.resemblance(&Gist::of(text(state, quote)));
        if best.is_none_or(|(_, most)| share > most) {
            best = Some((quote, share));
        }
    }
    best
}
