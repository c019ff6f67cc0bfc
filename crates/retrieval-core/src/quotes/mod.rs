//! Comparison of quotes with a content: their place, or the nearest text and how it differs.

mod difference;
mod escapes;
mod nearest;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use difference::{MAX_REPLACEMENTS, Replacement};

use crate::chars;

/// Quote with its presumed place, in characters.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Quote<'a> {
    pub text: &'a str,
    pub start: Option<usize>,
    pub end: Option<usize>,
}

/// Piece of a content.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Piece {
    pub text: String,
    /// Characters of the content before the piece.
    pub char_start: usize,
}

/// Result of a comparison. Places are characters of the content.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Comparison {
    /// The content has the quote at the presumed place, or somewhere if none was given.
    Exact(Range<usize>),
    /// The content has the quote elsewhere.
    Moved(Range<usize>),
    /// The content has a similar text.
    Changed(Nearest),
    /// The content has nothing similar.
    Missing,
}

/// Text of a content that resembles a quote most.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Nearest {
    pub chars: Range<usize>,
    pub text: String,
    /// Replacements that turn the quote into the text, in order. At most [`MAX_REPLACEMENTS`]: the last one may span several
    /// differences.
    pub replacements: Vec<Replacement>,
}

impl Quote<'_> {
    /// Returns the presumed start: as given, or from the end.
    pub fn presumed_start(&self) -> Option<usize> {
        self.start.or_else(|| self.end.map(|end| end.saturating_sub(chars::count(self.text))))
    }
}

/// Compares a quote with pieces of a content, byte for byte except for the backslashes of Markdown escapes, which the quote may leave
/// out. Linear in their length, apart from a bounded alignment.
pub fn compare(quote: &Quote<'_>, pieces: &[Piece]) -> Comparison {
    locate(quote, pieces)
        .unwrap_or_else(|| nearest::nearest(quote, pieces).map_or(Comparison::Missing, Comparison::Changed))
}

/// Returns where pieces of a content have a quote, as [`Comparison::Exact`] or [`Comparison::Moved`].
pub fn locate(quote: &Quote<'_>, pieces: &[Piece]) -> Option<Comparison> {
    let chars = place(quote, pieces)?;
    let is_presumed = quote.start.is_none_or(|start| start == chars.start);
    let ends = quote.end.is_none_or(|end| end == chars.end);
    Some(if is_presumed && ends { Comparison::Exact(chars) } else { Comparison::Moved(chars) })
}

/// Returns where the quote is found nearest to its presumed place, preferably with its escapes.
fn place(quote: &Quote<'_>, pieces: &[Piece]) -> Option<Range<usize>> {
    let verbatim = |content: &str, near| {
        let start = find(content, quote.text, near)?;
        Some(start..start + chars::count(quote.text))
    };
    nearest_place(quote, pieces, verbatim)
        .or_else(|| nearest_place(quote, pieces, |content, near| escapes::find(content, quote.text, near)))
}

/// Returns the place in the content, of those that `find` returns for the pieces, nearest to the presumed one.
fn nearest_place(
    quote: &Quote<'_>,
    pieces: &[Piece],
    find: impl Fn(&str, Option<usize>) -> Option<Range<usize>>,
) -> Option<Range<usize>> {
    let presumed = quote.presumed_start();
    let found = pieces.iter().filter_map(|piece| {
        let place = find(&piece.text, presumed.map(|start| start.saturating_sub(piece.char_start)))?;
        Some(piece.char_start + place.start..piece.char_start + place.end)
    });
    found.min_by_key(|place| presumed.map_or(place.start, |presumed| presumed.abs_diff(place.start)))
}

/// Returns the place of a quote in a content: the one nearest to `start`, or the first. `None` for an empty quote.
pub fn find(content: &str, quote: &str, start: Option<usize>) -> Option<usize> {
    if quote.is_empty() {
        return None;
    }
    let Some(start) = start else { return content.find(quote).map(|at| chars::count(&content[..at])) };
    let at = chars::byte_offset(content, start);
    if content[at..].starts_with(quote) {
        return Some(start);
    }
    let (nearest, _) = content.match_indices(quote).min_by_key(|(found, _)| found.abs_diff(at))?;
    Some(chars::count(&content[..nearest]))
}
