//! Packing one section into passages of the right size.

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

use super::sections::{Break, Strength};
use super::{ATOM_CHARS, MAX_CHARS, MIN_CHARS, WORD_CHARS};
use crate::chars;

/// A passage that ends here is too short to say much: what must stay whole is added to it rather than begun anew.
const SHORTEST: usize = 200;

/// A place where a passage may end, in characters too.
#[derive(Clone, Copy)]
struct Cut {
    at: usize,
    char: usize,
    strength: Strength,
    whole: bool,
}

/// Splits the section `bytes` of `content` at its best breaks: byte range and length in characters of each passage.
pub(super) fn pack(
    content: &str,
    bytes: Range<usize>,
    begins_whole: bool,
    breaks: &[Break],
) -> Vec<(Range<usize>, usize)> {
    let (cuts, end) = with_chars(content, &bytes, begins_whole, breaks);
    let mut packer = Packer { content, cuts: &cuts, next: 0, end };
    let mut passages = Vec::new();
    let mut start = Place { at: bytes.start, char: 0 };
    while start.at < end.at {
        let stop = packer.stop(start);
        passages.push((start.at..stop.at, stop.char - start.char));
        start = stop;
    }
    passages
}

#[derive(Clone, Copy)]
struct Place {
    at: usize,
    char: usize,
}

/// The breaks with their places in characters, led by one for the start of the section; and its end.
fn with_chars(content: &str, bytes: &Range<usize>, begins_whole: bool, breaks: &[Break]) -> (Vec<Cut>, Place) {
    let mut cuts = Vec::with_capacity(breaks.len() + 1);
    cuts.push(Cut { at: bytes.start, char: 0, strength: Strength::Block, whole: begins_whole });
    let mut place = Place { at: bytes.start, char: 0 };
    let mut forward = |at: usize| {
        place = Place { at, char: place.char + chars::count(&content[place.at..at]) };
        place
    };
    for found in breaks {
        let Place { at, char } = forward(found.at);
        cuts.push(Cut { at, char, strength: found.strength, whole: found.whole });
    }
    let end = forward(bytes.end);
    (cuts, end)
}

struct Packer<'a> {
    content: &'a str,
    cuts: &'a [Cut],
    /// The first cut behind the start of the passage that is being made.
    next: usize,
    end: Place,
}

impl Packer<'_> {
    /// Where the passage that begins at `start` ends.
    fn stop(&mut self, start: Place) -> Place {
        let left = self.end.char - start.char;
        if left <= MAX_CHARS {
            return self.end;
        }
        while self.cuts.get(self.next).is_some_and(|cut| cut.char <= start.char) {
            self.next += 1;
        }
        let window = &self.cuts[self.next..];
        let window = &window[..window.partition_point(|cut| cut.char <= start.char + MAX_CHARS)];

        // Passages of about the same length, rather than full ones and a crumb.
        let target = left / left.div_ceil(MAX_CHARS);
        let best = window
            .iter()
            .filter(|cut| cut.strength > Strength::Inside && cut.char - start.char >= SHORTEST)
            .min_by_key(|cut| cost(cut, cut.char - start.char, left, target));
        if let Some(cut) = best {
            return Place { at: cut.at, char: cut.char };
        }

        // Nothing ends in reach: what began last runs on beyond it.
        let begun = self.next + window.len();
        let is_start = |cut: &&Cut| cut.strength > Strength::Inside;
        let whole = self.cuts[..begun].iter().rev().find(is_start).filter(|cut| cut.whole);
        let next =
            self.cuts[begun..].iter().find(is_start).map_or(self.end, |cut| Place { at: cut.at, char: cut.char });
        if let Some(whole) = whole {
            if next.char - whole.char <= ATOM_CHARS {
                return next;
            }
            let inside = window.iter().rev().find(|cut| cut.char - start.char >= SHORTEST);
            if let Some(cut) = inside {
                return Place { at: cut.at, char: cut.char };
            }
        }
        self.between_words(start, target, next)
    }

    /// The last place between words up to `target` characters, else the first behind it, `next` at the latest; inside a
    /// word only where it is longer than a word may be.
    fn between_words(&self, start: Place, target: usize, next: Place) -> Place {
        let rest = &self.content[start.at..self.end.at];
        // The last good place of each kind up to the target: between words, and between characters of a
        // script without spaces; then the first space behind it.
        let (mut space, mut unspaced, mut limit) = (None, None, None);
        // The end of the word that reaches beyond the target, and where that word begins: before the passage, for the
        // rest of one that is cut.
        let mut word_end = None;
        let mut before = self.content[..start.at].chars().next_back().unwrap_or(' ');
        let mut word_start = before.is_whitespace().then_some(0);
        for (char, (offset, character)) in rest.char_indices().enumerate() {
            let here = Place { at: start.at + offset, char: start.char + char };
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
                if begins_word && char >= SHORTEST {
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
        // White space before MIN_CHARS is worth it only where the text has no better place.
        let in_aim = space.filter(|place| place.char - start.char >= MIN_CHARS);
        let place = in_aim.or(unspaced).or(space).or(word_end).unwrap_or(self.end);
        self.between_clusters(start, place)
    }

    /// The place, or the nearest before it that does not part a letter from its marks or cut an emoji sequence.
    fn between_clusters(&self, start: Place, place: Place) -> Place {
        // A few characters say enough, and a cluster of a megabyte must not be read for every passage.
        const AROUND: usize = 64;
        let low = self.content.ceil_char_boundary(start.at.max(place.at.saturating_sub(AROUND)));
        let high = self.content.floor_char_boundary((place.at + AROUND).min(self.content.len()));
        let around = &self.content[low..high];
        let mut here = place;
        while here.at > low {
            if matches!(GraphemeCursor::new(here.at - low, around.len(), true).is_boundary(around, 0), Ok(true)) {
                return here;
            }
            let before = self.content[low..here.at].chars().next_back().map_or(1, char::len_utf8);
            here = Place { at: here.at - before, char: here.char - 1 };
        }
        place
    }
}

/// What ending a passage at `cut` costs, in characters of distance from the target length.
fn cost(cut: &Cut, length: usize, left: usize, target: usize) -> usize {
    let kind = match cut.strength {
        Strength::Block => 0,
        Strength::Item => 100,
        Strength::Sentence => 200,
        Strength::Line | Strength::Inside => 500,
    };
    let short = if length < MIN_CHARS { 300 } else { 0 };
    let crumb = if left - length < SHORTEST { 400 } else { 0 };
    length.abs_diff(target) + kind + short + crumb
}

/// Scripts that put no spaces between words.
fn is_unspaced(character: char) -> bool {
    matches!(u32::from(character),
        0x0E00..=0x0EFF // Thai, Lao
        | 0x1000..=0x109F // Myanmar
        | 0x1780..=0x17FF // Khmer
        | 0x2E80..=0x30FF // CJK radicals, punctuation, Hiragana, Katakana
        | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF
        | 0xF900..=0xFAFF
        | 0xFF00..=0xFFEF // full-width forms
        | 0x20000..=0x3FFFF)
}
