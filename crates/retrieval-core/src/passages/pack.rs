//! Packing of one section into passages of suitable length.

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

use super::sections::{Break, Strength};
use super::{ATOM_CHARS, MAX_CHARS, MIN_CHARS, WORD_CHARS};
use crate::chars::{self, is_unspaced};

/// Minimum length of a passage before an indivisible block; with less text the block is added to the passage.
const MIN_BEFORE_BLOCK: usize = 200;

/// Possible end of a passage, as byte and character offset.
#[derive(Clone, Copy)]
struct Cut {
    at: usize,
    char: usize,
    strength: Strength,
    whole: bool,
}

/// Splits the section `bytes` of `content` at its best breaks. Returns byte range and length in characters per passage.
pub(super) fn pack(
    content: &str,
    bytes: Range<usize>,
    begins_whole: bool,
    breaks: &[Break],
) -> Vec<(Range<usize>, usize)> {
    let (cuts, end) = with_chars(content, &bytes, begins_whole, breaks);
    let mut packer = Packer { content, cuts: &cuts, next: 0, block: 0, next_block: 0, end };
    let mut passages = Vec::new();
    let mut start = Position { at: bytes.start, char: 0 };
    while start.at < end.at {
        let stop = packer.stop(start);
        passages.push((start.at..stop.at, stop.char - start.char));
        start = stop;
    }
    passages
}

#[derive(Clone, Copy)]
struct Position {
    at: usize,
    char: usize,
}

/// Converts the breaks to cuts with character offsets, preceded by the start of the section. Also returns the end.
fn with_chars(content: &str, bytes: &Range<usize>, begins_whole: bool, breaks: &[Break]) -> (Vec<Cut>, Position) {
    let mut cuts = Vec::with_capacity(breaks.len() + 1);
    cuts.push(Cut { at: bytes.start, char: 0, strength: Strength::Block, whole: begins_whole });
    let mut position = Position { at: bytes.start, char: 0 };
    let mut advance = |at: usize| {
        position = Position { at, char: position.char + chars::count(&content[position.at..at]) };
        position
    };
    for found in breaks {
        let Position { at, char } = advance(found.at);
        cuts.push(Cut { at, char, strength: found.strength, whole: found.whole });
    }
    let end = advance(bytes.end);
    (cuts, end)
}

struct Packer<'a> {
    content: &'a str,
    cuts: &'a [Cut],
    /// Index of the first cut after the start of the current passage.
    next: usize,
    /// Index of the cut at which the last block in reach begins, and of the first beyond it. Both only move forward: a long block is
    /// searched once, not once per passage.
    block: usize,
    next_block: usize,
    end: Position,
}

impl Packer<'_> {
    /// Returns the end of the passage that begins at `start`.
    fn stop(&mut self, start: Position) -> Position {
        let left = self.end.char - start.char;
        if left <= MAX_CHARS {
            return self.end;
        }
        while self.cuts.get(self.next).is_some_and(|cut| cut.char <= start.char) {
            self.next += 1;
        }
        let window = &self.cuts[self.next..];
        let window = &window[..window.partition_point(|cut| cut.char <= start.char + MAX_CHARS)];

        // Passages of similar length, rather than full ones and a short rest.
        let target = left / left.div_ceil(MAX_CHARS);
        let best = window
            .iter()
            .filter(|cut| cut.strength > Strength::Inside && cut.char - start.char >= MIN_BEFORE_BLOCK)
            .min_by_key(|cut| cost(cut, cut.char - start.char, left, target));
        if let Some(cut) = best {
            return Position { at: cut.at, char: cut.char };
        }

        // No break in reach: the block that began last extends beyond it.
        let begun = self.next + window.len();
        while let Some(cut) = self.cuts.get(self.next_block) {
            if cut.strength > Strength::Inside {
                if self.next_block >= begun {
                    break;
                }
                self.block = self.next_block;
            }
            self.next_block += 1;
        }
        let block = self.cuts[self.block];
        let next = self.cuts.get(self.next_block).map_or(self.end, |cut| Position { at: cut.at, char: cut.char });
        if block.whole {
            if next.char - block.char <= ATOM_CHARS {
                return next;
            }
            let inside = window.iter().rev().find(|cut| cut.char - start.char >= MIN_BEFORE_BLOCK);
            if let Some(cut) = inside {
                return Position { at: cut.at, char: cut.char };
            }
        }
        self.between_words(start, target, next)
    }

    /// Returns the last word boundary up to `target` characters, or else the first after it, but at most `next`. Splits
    /// a word only if it is longer than [`WORD_CHARS`].
    fn between_words(&self, start: Position, target: usize, next: Position) -> Position {
        let rest = &self.content[start.at..self.end.at];
        // Last candidates up to the target: between words, and between characters of a script without spaces. Then the
        // first space after it.
        let (mut space, mut unspaced, mut limit) = (None, None, None);
        // End of the word that extends beyond the target, and its start: before the passage, for the rest of a split
        // word.
        let mut word_end = None;
        let mut before = self.content[..start.at].chars().next_back().unwrap_or(' ');
        let mut word_start = before.is_whitespace().then_some(0);
        for (char, (offset, character)) in rest.char_indices().enumerate() {
            let here = Position { at: start.at + offset, char: start.char + char };
            let begins_word = before.is_whitespace() && !character.is_whitespace();
            if char > target {
                if begins_word || here.at >= next.at {
                    return here;
                }
                if character.is_whitespace() && word_end.is_none() {
                    word_end = Some(here);
                }
                if word_start.is_none_or(|word| char - word > WORD_CHARS) {
                    word_end = word_end.or(limit);
                    break;
                }
            } else {
                if begins_word {
                    word_start = Some(char);
                }
                if begins_word && char >= MIN_BEFORE_BLOCK {
                    space = Some(here);
                }
                if char >= MIN_CHARS && (is_unspaced(before) || is_unspaced(character) || before.is_whitespace()) {
                    unspaced = Some(here);
                }
                limit = Some(here);
                if char == target && (space.is_some() || unspaced.is_some()) {
                    break;
                }
            }
            before = character;
        }
        // White space before MIN_CHARS is used only if the text has no better position.
        let in_aim = space.filter(|position| position.char - start.char >= MIN_CHARS);
        let position = in_aim.or(unspaced).or(space).or(word_end).unwrap_or(self.end);
        self.between_clusters(start, position)
    }

    /// Moves the position back to a grapheme boundary, so that it does not split a letter from its marks or an
    /// emoji sequence.
    fn between_clusters(&self, start: Position, position: Position) -> Position {
        // A few characters suffice, and a cluster of a megabyte must not be scanned for every passage.
        const CONTEXT_BYTES: usize = 64;
        let low = self.content.ceil_char_boundary(start.at.max(position.at.saturating_sub(CONTEXT_BYTES)));
        let high = self.content.floor_char_boundary((position.at + CONTEXT_BYTES).min(self.content.len()));
        let around = &self.content[low..high];
        let mut here = position;
        while here.at > low {
            if matches!(GraphemeCursor::new(here.at - low, around.len(), true).is_boundary(around, 0), Ok(true)) {
                return here;
            }
            let before = self.content[low..here.at].chars().next_back().map_or(1, char::len_utf8);
            here = Position { at: here.at - before, char: here.char - 1 };
        }
        position
    }
}

/// Returns the cost of ending a passage at `cut`, in characters of distance from the target length.
fn cost(cut: &Cut, length: usize, left: usize, target: usize) -> usize {
    let kind = match cut.strength {
        Strength::Block => 0,
        Strength::Item => 100,
        Strength::Sentence => 200,
        Strength::Line | Strength::Inside => 500,
    };
    let short = if length < MIN_CHARS { 300 } else { 0 };
    let short_rest = if left - length < MIN_BEFORE_BLOCK { 400 } else { 0 };
    length.abs_diff(target) + kind + short + short_rest
}
