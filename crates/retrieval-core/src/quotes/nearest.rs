//! Search for the text that resembles a quote most, by the sequences of characters that both have.

use super::difference;
use super::{Nearest, Piece, Quote};
use crate::chars;

/// Least share of the quote's sequences that a similar text has.
const SIMILAR: f64 = 0.3;

/// Maximum characters around the most similar window that the alignment may include on each side.
const MAX_MARGIN: usize = 512;

/// Number of different sequences that are told apart. Collisions only blur the similarity.
const SLOTS: usize = 1 << 16;

/// Window of a piece, in characters.
struct Window {
    piece: usize,
    start: usize,
    /// Sequences that the window shares with the quote.
    shared: usize,
}

/// Returns the text nearest to a quote that no piece contains; `None` if nothing is similar.
pub fn nearest(quote: &Quote<'_>, pieces: &[Piece]) -> Option<Nearest> {
    let length = chars::count(quote.text);
    let size = sequence_length(length);
    let sequences = hashes(quote.text, size);
    let best = best_window(&sequences, size, quote.presumed_start(), pieces)?;
    if (best.shared as f64) < SIMILAR * sequences.len() as f64 || best.shared == 0 {
        return None;
    }
    let piece = &pieces[best.piece];
    let margin = (length / 4 + 16).min(MAX_MARGIN);
    let start = best.start.saturating_sub(margin);
    let (region, _) = chars::slice(&piece.text, start, best.start - start + length + margin);
    let (window, _) = chars::slice(region, best.start - start, length);
    let aligned = difference::align(quote.text, region, window)?;
    let before = piece.char_start + start + chars::count(&region[..aligned.bytes.start]);
    let text = region[aligned.bytes].to_owned();
    Some(Nearest { chars: before..before + chars::count(&text), text, replacements: aligned.replacements })
}

/// Returns the length of the compared sequences: short enough that one changed character leaves some of them.
fn sequence_length(chars: usize) -> usize {
    match chars {
        0..4 => 1,
        4..8 => 2,
        8..64 => 3,
        _ => 5,
    }
}

/// Returns the slots of all sequences of this many characters, in order. A shorter text is one sequence.
fn hashes(text: &str, size: usize) -> Vec<u16> {
    let mut last = [0_u32; 5];
    let mut hashes = Vec::with_capacity(text.len());
    let mut seen = 0;
    for char in text.chars() {
        last.rotate_left(1);
        last[4] = u32::from(char);
        seen += 1;
        if seen >= size {
            hashes.push(slot(&last[5 - size..]));
        }
    }
    if hashes.is_empty() && seen > 0 {
        hashes.push(slot(&last[5 - seen.min(5)..]));
    }
    hashes
}

fn slot(chars: &[u32]) -> u16 {
    let hash = chars.iter().fold(0_u32, |hash, char| (hash ^ char).wrapping_mul(0x9E37_79B1).rotate_left(13));
    (hash ^ (hash >> 16)) as u16
}

/// Returns the window of as many sequences as the quote has that shares most with it. Of several equal ones the nearest to the
/// presumed place, or the first.
fn best_window(quote: &[u16], size: usize, presumed: Option<usize>, pieces: &[Piece]) -> Option<Window> {
    let mut needed = vec![0_u16; SLOTS];
    quote.iter().for_each(|slot| needed[usize::from(*slot)] += 1);
    let mut best: Option<(Window, usize)> = None;
    for (number, piece) in pieces.iter().enumerate() {
        let mut present = vec![0_u16; SLOTS];
        let content = hashes(&piece.text, size);
        let mut shared = 0;
        for (end, added) in content.iter().enumerate() {
            let added = usize::from(*added);
            shared += usize::from(present[added] < needed[added]);
            present[added] = present[added].saturating_add(1);
            if let Some(gone) = end.checked_sub(quote.len()) {
                let gone = usize::from(content[gone]);
                present[gone] = present[gone].saturating_sub(1);
                shared -= usize::from(present[gone] < needed[gone]);
            }
            let start = (end + 1).saturating_sub(quote.len());
            let distance = presumed.map_or(0, |presumed| presumed.abs_diff(piece.char_start + start));
            let is_better = best
                .as_ref()
                .is_none_or(|(best, least)| shared > best.shared || (shared == best.shared && distance < *least));
            if is_better {
                best = Some((Window { piece: number, start, shared }, distance));
            }
        }
    }
    best.map(|(window, _)| window)
}
