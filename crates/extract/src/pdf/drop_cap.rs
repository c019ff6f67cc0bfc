//! Drop caps: initials that are as high as several lines. Their baseline is that of the last of these lines, but they begin
//! the first one.

use super::glyph::{Glyph, median_size};

/// Minimum size as a multiple of that of the text.
const SIZE: f32 = 1.8;
/// Height of a capital letter, in ems.
const CAP_HEIGHT: f32 = 0.7;
/// Maximum difference of the tops of the initial and of its line, and maximum gap inside a word, in ems of the text.
const TOLERANCE: f32 = 0.6;
/// Maximum distance of the text from the initial, in ems of the initial.
const GAP: f32 = 0.4;
/// Maximum number on a page.
const MAX_CAPS: usize = 50;

/// Moves drop caps to the front of their first line, in its size. `lines` are sorted from the top of the page.
pub(super) fn place(lines: &mut Vec<Vec<Glyph>>) {
    let Some(text) = median_size(lines.iter().flatten()) else { return };
    let places: Vec<(usize, usize)> = lines
        .iter()
        .enumerate()
        .flat_map(|(line, glyphs)| initials(glyphs, text).into_iter().map(move |at| (line, at)))
        .take(MAX_CAPS)
        .collect();
    // From the end, so that the other places stay.
    for (line, at) in places.into_iter().rev() {
        let cap = lines[line][at];
        if let Some((first, next)) = first_line(&lines[..line], &cap) {
            lines[line].remove(at);
            let is_word = next.x0 - cap.x1 <= TOLERANCE * next.size;
            let (x0, width) = if is_word { (0.01, 0.01) } else { (0.4, 0.1) };
            let x0 = next.x0 - x0 * next.size;
            lines[first].push(Glyph { x0, x1: x0 + width * next.size, y: next.y, size: next.size, ..cap });
        }
    }
    lines.retain(|line| !line.is_empty());
}

/// Returns the indices of letters that are much larger than the text and stand alone.
fn initials(line: &[Glyph], text: f32) -> Vec<usize> {
    let is_large = |glyph: &Glyph| glyph.size >= text * SIZE && !glyph.char.is_whitespace();
    let large: Vec<usize> = (0..line.len()).filter(|&at| is_large(&line[at])).collect();
    // A heading is no row of initials.
    if large.len() > MAX_CAPS {
        return Vec::new();
    }
    let is_alone = |at: usize| {
        let cap = &line[at];
        let is_apart = |other: &Glyph| (other.x0 - cap.x1).max(cap.x0 - other.x1) >= GAP * cap.size;
        large.iter().all(|&other| other == at || is_apart(&line[other]))
    };
    let is_initial = |at: usize| line[at].char.is_alphabetic() && !line[at].char.is_lowercase();
    large.iter().copied().filter(|&at| is_initial(at) && is_alone(at)).collect()
}

/// Returns the index of the line whose top is that of an initial, and its glyph behind the initial.
fn first_line(lines: &[Vec<Glyph>], cap: &Glyph) -> Option<(usize, Glyph)> {
    for (at, line) in lines.iter().enumerate().rev() {
        let next = line
            .iter()
            .filter(|glyph| !glyph.char.is_whitespace() && glyph.size * SIZE <= cap.size)
            .filter(|glyph| glyph.x0 >= cap.x1 - 0.1 * cap.size && glyph.x0 <= cap.x1 + GAP * cap.size)
            .min_by(|a, b| a.x0.total_cmp(&b.x0));
        let Some(next) = next else { continue };
        let top = cap.y + CAP_HEIGHT * (cap.size - next.size);
        if (next.y - top).abs() <= TOLERANCE * next.size {
            return Some((at, *next));
        }
        if next.y > top {
            return None;
        }
    }
    None
}
