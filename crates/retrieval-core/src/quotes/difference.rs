//! Alignment of a quote with a similar text.

use std::ops::Range;

use crate::chars;

/// Maximum number of replacements of one difference.
pub const MAX_REPLACEMENTS: usize = 32;

/// Maximum size of the table of an alignment: some milliseconds.
const MAX_CELLS: usize = 1 << 20;

/// Replaced part of a quote.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Replacement {
    /// Start in the quote, in characters.
    pub start: usize,
    /// Text of the quote; empty for an insertion.
    pub removed: String,
    /// Text in its place; empty for a deletion.
    pub added: String,
}

/// Part of a region that corresponds to a quote.
pub struct Aligned {
    pub bytes: Range<usize>,
    pub replacements: Vec<Replacement>,
}

/// Aligns a quote with the part of `region` that differs least. `window` is the part to fall back to if they are too long.
/// `None` if nothing corresponds to the quote.
pub fn align(quote: &str, region: &str, window: &str) -> Option<Aligned> {
    let (ours, theirs) = (tokens(quote), tokens(region));
    let (bytes, edits) = if (ours.len() + 1) * (theirs.len() + 1) <= MAX_CELLS {
        let (used, edits) = least_edits(&Texts { quote, region, ours: &ours, theirs: &theirs });
        let bytes = span(&theirs, &used, region.len());
        let edits = edits.into_iter();
        let edits = edits.map(|(own, other)| (span(&ours, &own, quote.len()), span(&theirs, &other, region.len())));
        (bytes, edits.collect())
    } else {
        let start = region.find(window).unwrap_or(0);
        let bytes = start..start + window.len();
        (bytes.clone(), vec![(0..quote.len(), bytes)])
    };
    if bytes.is_empty() {
        return None;
    }
    Some(Aligned { bytes, replacements: replacements(quote, region, edits) })
}

/// Returns the bytes of a range of tokens.
fn span(tokens: &[Range<usize>], range: &Range<usize>, length: usize) -> Range<usize> {
    let start = |token: usize| tokens.get(token).map_or(length, |range| range.start);
    start(range.start)..start(range.end)
}

/// Splits a text into words, white space, and other characters.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut tokens: Vec<Range<usize>> = Vec::new();
    let mut last = Class::Other;
    for (at, char) in text.char_indices() {
        let class = Class::of(char);
        let end = at + char.len_utf8();
        match tokens.last_mut() {
            Some(token) if class == last && class != Class::Other => token.end = end,
            _ => tokens.push(at..end),
        }
        last = class;
    }
    tokens
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Class {
    Word,
    Space,
    /// A token of its own, as is each character of scripts without spaces.
    Other,
}

impl Class {
    fn of(char: char) -> Self {
        if char.is_whitespace() {
            Self::Space
        } else if char.is_alphanumeric() && char < '\u{2E80}' {
            Self::Word
        } else {
            Self::Other
        }
    }
}

/// A quote and a region with their tokens.
struct Texts<'a> {
    quote: &'a str,
    region: &'a str,
    ours: &'a [Range<usize>],
    theirs: &'a [Range<usize>],
}

/// Ranges of tokens of the quote and of the region that differ.
type Edit = (Range<usize>, Range<usize>);

#[derive(Clone, Copy, Eq, PartialEq)]
enum Step {
    Keep,
    Replace,
    Remove,
    Add,
}

/// Returns the tokens of the region that the quote aligns with at the least cost, and the edits. What is before and after them
/// costs nothing (Sellers, "The theory and computation of evolutionary distances", 1980).
fn least_edits(texts: &Texts<'_>) -> (Range<usize>, Vec<Edit>) {
    let Texts { quote, region, ours, theirs } = *texts;
    let width = theirs.len() + 1;
    let mut steps = vec![Step::Add; (ours.len() + 1) * width];
    let mut costs = vec![0_u32; width];
    for (row, own) in ours.iter().enumerate() {
        let own = &quote[own.clone()];
        let mut diagonal = costs[0];
        costs[0] += weight(own);
        steps[(row + 1) * width] = Step::Remove;
        for (column, other) in theirs.iter().enumerate() {
            let other = &region[other.clone()];
            let kind = if own == other { Step::Keep } else { Step::Replace };
            let (replace, remove, add) =
                (diagonal + change(own, other), costs[column + 1] + weight(own), costs[column] + weight(other));
            diagonal = costs[column + 1];
            let least = replace.min(remove).min(add);
            costs[column + 1] = least;
            steps[(row + 1) * width + column + 1] = match least {
                _ if least == replace => kind,
                _ if least == remove => Step::Remove,
                _ => Step::Add,
            };
        }
    }
    // The last of equals: a changed last word was replaced, not removed.
    let end = (0..width).rev().min_by_key(|column| costs[*column]).unwrap_or(0);
    let (mut row, mut column) = (ours.len(), end);
    let mut edits: Vec<Edit> = Vec::new();
    while row > 0 {
        let step = steps[row * width + column];
        let (to_row, to_column) = (row, column);
        row -= usize::from(step != Step::Add);
        column -= usize::from(step != Step::Remove);
        if step == Step::Keep {
            continue;
        }
        match edits.last_mut() {
            Some((own, other)) if own.start == to_row && other.start == to_column => {
                (own.start, other.start) = (row, column);
            }
            _ => edits.push((row..to_row, column..to_column)),
        }
    }
    edits.reverse();
    (column..end, edits)
}

/// Returns the cost of removing or adding a token: spaces are worth less than what they separate.
fn weight(token: &str) -> u32 {
    if is_space(token) { 1 } else { 2 }
}

/// Returns the cost of a token in the place of another one: less for forms of one word, and never more than that of the removal
/// alone, so that the first and the last word are replaced and not left out.
fn change(own: &str, other: &str) -> u32 {
    if own == other {
        0
    } else if is_space(own) != is_space(other) {
        3
    } else if own.chars().next() == other.chars().next() || own.chars().next_back() == other.chars().next_back() {
        1
    } else {
        weight(own)
    }
}

fn is_space(token: &str) -> bool {
    token.starts_with(char::is_whitespace)
}

/// Converts edits, given by bytes of quote and region, to replacements without common beginnings and ends.
fn replacements(quote: &str, region: &str, mut edits: Vec<(Range<usize>, Range<usize>)>) -> Vec<Replacement> {
    if let Some(rest) = edits.get(MAX_REPLACEMENTS - 1..).filter(|rest| rest.len() > 1) {
        let (first, last) = (&rest[0], &rest[rest.len() - 1]);
        let joined = (first.0.start..last.0.end, first.1.start..last.1.end);
        edits.truncate(MAX_REPLACEMENTS - 1);
        edits.push(joined);
    }
    let replacement = |(own, other): (Range<usize>, Range<usize>)| {
        let (removed, added) = (&quote[own.clone()], &region[other]);
        let same = |(one, other): &(char, char)| one == other;
        let prefix: usize = removed.chars().zip(added.chars()).take_while(same).map(|(one, _)| one.len_utf8()).sum();
        let (removed, added) = (&removed[prefix..], &added[prefix..]);
        let reversed = removed.chars().rev().zip(added.chars().rev());
        let suffix: usize = reversed.take_while(same).map(|(one, _)| one.len_utf8()).sum();
        Replacement {
            start: chars::count(&quote[..own.start + prefix]),
            removed: removed[..removed.len() - suffix].to_owned(),
            added: added[..added.len() - suffix].to_owned(),
        }
    };
    edits.into_iter().map(replacement).filter(|one| one.removed != one.added).collect()
}
