//! Pieces of lines: runs of glyphs without a gap wide enough to separate columns.

use super::glyph::{Glyph, SOFT_HYPHEN, median_size};
use super::{bidi, drop_cap, raised};

/// Gap that separates two pieces, in ems.
const PIECE_GAP: f32 = 0.75;
/// Gap that separates two words if the file has no space there, in ems.
const WORD_GAP: f32 = 0.19;
/// Minimum gap for a space in the file, in ems; overlapping glyphs leave a smaller one.
const SPACE_GAP: f32 = 0.05;
/// Maximum baseline difference of glyphs on one line, in ems.
const SAME_LINE: f32 = 0.3;
/// Maximum difference from the baseline of the largest glyphs for glyphs that are neither raised nor lowered, in their ems.
const LEVEL: f32 = 0.1;

/// Maximum number of raised or lowered glyphs; more on one baseline form their own line.
const MAX_RAISED: usize = 100;

/// Part of a line.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// Text in logical order.
    pub text: String,
    pub x0: f32,
    pub x1: f32,
    /// Baseline, equal for all pieces of a line.
    pub y: f32,
    /// Median glyph size.
    pub size: f32,
    /// True if at least nine of ten letters are bold.
    pub bold: bool,
}

impl Piece {
    pub(super) fn width(&self) -> f32 {
        self.x1 - self.x0
    }
}

/// Returns the pieces of the page, line by line from the top.
pub(super) fn pieces(glyphs: Vec<Glyph>) -> Vec<Piece> {
    let mut lines = lines(glyphs);
    for line in &mut lines {
        line.sort_by(|a, b| a.x0.total_cmp(&b.x0));
    }
    bidi::reorder_ligatures(&mut lines);
    let mut pieces = Vec::new();
    for line in lines {
        split(line, &mut pieces);
    }
    pieces
}

/// Groups glyphs by baseline; raised and lowered glyphs join their line.
fn lines(mut glyphs: Vec<Glyph>) -> Vec<Vec<Glyph>> {
    glyphs.sort_by(|a, b| b.y.total_cmp(&a.y));
    let mut lines: Vec<Vec<Glyph>> = Vec::new();
    for glyph in glyphs {
        match lines.last_mut() {
            Some(line)
                if line.first().is_some_and(|first| first.y - glyph.y <= SAME_LINE * first.size.min(glyph.size)) =>
            {
                line.push(glyph)
            }
            _ => lines.push(vec![glyph]),
        }
    }
    drop_cap::place(&mut lines);
    let mut merged: Vec<Vec<Glyph>> = Vec::with_capacity(lines.len());
    for line in lines {
        match merged.last_mut() {
            // Superscripts precede their line, subscripts follow it.
            Some(above) if is_raised_part(above, &line) || is_raised_part(&line, above) => above.extend(line),
            _ => merged.push(line),
        }
    }
    merged
}

/// Checks if a line consists of small glyphs raised or lowered beside another line.
fn is_raised_part(small: &[Glyph], line: &[Glyph]) -> bool {
    if small.len() > MAX_RAISED || small.len() > line.len() {
        return false;
    }
    let (Some(one), Some(other)) = (largest(small), largest(line)) else { return false };
    let (size, full) = (one.size, other.size);
    let distance = one.y - other.y;
    if size > full * raised::SIZE || distance > full * 0.7 || distance < -full * 0.4 {
        return false;
    }
    // Text of several lines beside larger text, as a number and its explanation, is no raised part of it.
    let level = line.iter().filter(|glyph| (glyph.y - other.y).abs() < full * LEVEL);
    if median_size(level).is_some_and(|median| size > median * raised::SIZE) {
        return false;
    }
    small.iter().all(|glyph| line.iter().any(|near| glyph.x0 - near.x1 < full * 0.8 && near.x0 - glyph.x1 < full * 0.8))
}

/// Returns one of the largest glyphs, whose baseline is that of the line.
fn largest(line: &[Glyph]) -> Option<&Glyph> {
    line.iter().max_by(|a, b| a.size.total_cmp(&b.size))
}

fn split(mut line: Vec<Glyph>, pieces: &mut Vec<Piece>) {
    // Some programs print twice to make text bold.
    line.dedup_by(|b, a| a.char == b.char && (a.x0 - b.x0).abs() < a.size * 0.08);
    // The largest glyphs define the line's baseline.
    let Some(y) = largest(&line).map(|glyph| glyph.y) else { return };
    let mut run: Vec<Glyph> = Vec::new();
    // The last glyph may end before another one, as a mark that is drawn over its letter does.
    let mut end = f32::MIN;
    let mut space = false;
    for glyph in line {
        if glyph.char.is_whitespace() {
            space = true;
            continue;
        }
        if let Some(last) = run.last().copied() {
            let em = last.size.min(glyph.size);
            let gap = glyph.x0 - end;
            if gap > PIECE_GAP * em {
                pieces.extend(piece(std::mem::take(&mut run), y));
            } else if gap > WORD_GAP * em || (space && gap > SPACE_GAP * em) {
                run.push(Glyph { char: ' ', x0: end, x1: glyph.x0, ..last });
            }
        }
        space = false;
        end = end.max(glyph.x1);
        run.push(glyph);
    }
    pieces.extend(piece(run, y));
}

fn piece(mut run: Vec<Glyph>, y: f32) -> Option<Piece> {
    // A word that is divided ends in a hyphen.
    let is_divided = run.last().is_some_and(|glyph| glyph.char == SOFT_HYPHEN);
    run.retain(|glyph| glyph.char != SOFT_HYPHEN);
    if let Some(end) = run.last().copied().filter(|_| is_divided) {
        run.push(Glyph { char: '-', x0: end.x1, ..end });
    }
    let (x0, x1) = (run.first()?.x0, run.iter().map(|glyph| glyph.x1).fold(f32::MIN, f32::max));
    let letters = run.iter().filter(|glyph| glyph.char.is_alphanumeric()).count();
    let bold = run.iter().filter(|glyph| glyph.bold && glyph.char.is_alphanumeric()).count();
    let size = median_size(&run)?;
    let text = bidi::logical(raised::mark(run));
    Some(Piece { text, x0, x1, y, size, bold: letters > 0 && bold * 10 >= letters * 9 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(glyphs: &[(char, f32, f32)]) -> Vec<String> {
        let glyph = |&(char, x0, x1)| Glyph { char, x0, x1, y: 0.0, size: 10.0, rise: 0.0, bold: false };
        pieces(glyphs.iter().map(glyph).collect()).into_iter().map(|piece| piece.text).collect()
    }

    #[test]
    fn marks_neither_open_nor_close_a_gap() {
        // Drawn at the end of its letter, then in the middle.
        assert_eq!(read(&[('क', 0.0, 5.0), ('\u{947}', 5.0, 5.0), (' ', 5.0, 7.5), ('ल', 7.5, 12.5)]), ["के ल"]);
        assert_eq!(read(&[('क', 0.0, 5.0), ('\u{947}', 2.0, 2.0), ('ल', 5.0, 10.0)]), ["केल"]);
        assert_eq!(read(&[('क', 0.0, 5.0), ('\u{947}', 2.0, 2.0), (' ', 5.0, 6.0), ('ल', 6.0, 11.0)]), ["के ल"]);
        assert_eq!(read(&[('क', 0.0, 9.0), ('\u{947}', 1.0, 1.0), ('ल', 12.0, 17.0)]), ["के ल"]);
    }
}
