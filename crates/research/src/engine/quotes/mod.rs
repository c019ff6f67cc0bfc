//! Quotes: parts of notes that a report cites.

pub(super) mod addresses;
pub(super) mod draft;
pub(super) mod excerpts;
pub(super) mod note_sentences;

use std::ops::Range;

use retrieval_core::sentences;

use super::state::{MAX_CHECKS, State, VerifiedQuote};

/// Longest quote in bytes. A longer unit, such as a row of data, is cut at a word.
const MAX_QUOTE_BYTES: usize = 600;
/// Length of a unit that is split where a sentence may end, for texts without capitals.
const LONG_BYTES: usize = 350;
/// Shortest part of such a unit.
const SHORT_BYTES: usize = 60;

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
        for part in parts(&kept.text, unit) {
            let text = &kept.text[part.clone()];
            let start = part.start + (text.len() - text.trim_start().len());
            if text.chars().any(char::is_alphanumeric) {
                quotes.push(Quote { note, start, end: part.start + text.trim_end().len() });
            }
        }
    }
    quotes
}

/// Splits an overlong unit after any full stop or semicolon before a space, then between words.
fn parts(text: &str, unit: Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = unit.start;
    if unit.len() > LONG_BYTES {
        let ends =
            text[unit.clone()].match_indices(['.', ';', '!', '?']).map(|(at, mark)| unit.start + at + mark.len());
        for end in ends {
            if end - start >= SHORT_BYTES && text[end..unit.end].starts_with(char::is_whitespace) {
                parts.push(start..end);
                start = end;
            }
        }
    }
    while unit.end - start > MAX_QUOTE_BYTES {
        let most = text.floor_char_boundary(start + MAX_QUOTE_BYTES);
        let space = text[start..most].rfind(char::is_whitespace).filter(|at| *at > MAX_QUOTE_BYTES / 2);
        let end = space.map_or(most, |at| start + at);
        parts.push(start..end);
        start = end;
    }
    parts.push(start..unit.end);
    parts
}

/// Returns true if a quote ends inside a sentence that is too long for one.
pub(crate) fn is_cut(state: &State, quote: Quote) -> bool {
    quote.end - quote.start > MAX_QUOTE_BYTES / 2
        && state.notes[quote.note].text[quote.end..].chars().any(char::is_alphanumeric)
        && text(state, quote).ends_with(char::is_alphanumeric)
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
