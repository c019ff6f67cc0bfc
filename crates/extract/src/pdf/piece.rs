//! Glyphs of a page to pieces of lines: runs without a gap that could part two columns.

use pdf_oxide::layout::{FontWeight, TextChar};

use super::{bidi, page_marks};

/// A wider gap than so many ems parts two pieces.
const PIECE_GAP: f32 = 0.75;
/// A wider gap than so many ems parts two words, where the file has no space.
const WORD_GAP: f32 = 0.19;
/// A space in the file stands for a wider gap than so many ems; else it is one that overlapping glyphs ate.
const SPACE_GAP: f32 = 0.05;
/// Glyphs whose baselines differ by less than so many ems stand on one line.
const SAME_LINE: f32 = 0.3;

/// More glyphs than this on one baseline are a line of their own.
const MAX_RAISED: usize = 100;

/// A glyph with its place, in points; `y` grows upwards.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glyph {
    pub char: char,
    pub x0: f32,
    pub x1: f32,
    pub y: f32,
    pub size: f32,
    pub bold: bool,
}

/// A part of a line.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// In logical order.
    pub text: String,
    pub x0: f32,
    pub x1: f32,
    /// Of the line's baseline: the same for all pieces of a line.
    pub y: f32,
    /// Size of most of its glyphs.
    pub size: f32,
    /// Whether most of its letters are bold.
    pub bold: bool,
}

impl Piece {
    pub(super) fn width(&self) -> f32 {
        self.x1 - self.x0
    }
}

/// The glyphs that can be laid out: `None` where most text of the page is turned.
pub(super) fn glyphs(chars: Vec<TextChar>) -> Option<Vec<Glyph>> {
    let all = chars.len();
    let upright: Vec<Glyph> = chars
        .into_iter()
        .filter(|c| c.rotation_degrees.abs() < 5.0 || c.rotation_degrees > 355.0)
        .filter(|c| c.origin_x.is_finite() && c.origin_y.is_finite() && c.font_size.is_finite())
        .filter(|c| !c.char.is_control() && !matches!(c.char, '\u{fffd}' | '\u{ad}' | page_marks::MARK))
        .map(|c| {
            let width =
                if c.advance_width.is_finite() && c.advance_width > 0.0 { c.advance_width } else { c.font_size * 0.5 };
            Glyph {
                char: c.char,
                x0: c.origin_x,
                x1: c.origin_x + width,
                y: c.origin_y,
                size: c.font_size.abs().clamp(0.5, 2_000.0),
                bold: c.font_weight >= FontWeight::SemiBold,
            }
        })
        .collect();
    (upright.len() * 2 >= all).then_some(upright)
}

/// The pieces of the page, line by line from above.
pub(super) fn pieces(glyphs: Vec<Glyph>) -> Vec<Piece> {
    let mut lines = lines(glyphs);
    for line in &mut lines {
        line.sort_by(|a, b| a.x0.total_cmp(&b.x0));
    }
    bidi::turn_ligatures(&mut lines);
    let mut pieces = Vec::new();
    for line in lines {
        split(line, &mut pieces);
    }
    pieces
}

/// Glyphs by their baselines; raised and lowered ones go to the line they stand at.
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
    let mut merged: Vec<Vec<Glyph>> = Vec::with_capacity(lines.len());
    for line in lines {
        match merged.last_mut() {
            // Superscripts come before their line, subscripts after it.
            Some(above) if belongs(above, &line) || belongs(&line, above) => above.extend(line),
            _ => merged.push(line),
        }
    }
    merged
}

/// Whether a line is only small glyphs raised or lowered beside another's.
fn belongs(small: &[Glyph], line: &[Glyph]) -> bool {
    let (Some(one), Some(other)) = (small.first(), line.first()) else { return false };
    let (size, full) = (largest(small), largest(line));
    let distance = one.y - other.y;
    if small.len() > MAX_RAISED
        || size > full * 0.8
        || distance > full * 0.7
        || distance < -full * 0.4
        || small.len() > line.len()
    {
        return false;
    }
    small.iter().all(|glyph| line.iter().any(|near| glyph.x0 - near.x1 < full * 0.8 && near.x0 - glyph.x1 < full * 0.8))
}

fn largest(line: &[Glyph]) -> f32 {
    line.iter().map(|glyph| glyph.size).fold(0.0, f32::max)
}

fn split(mut line: Vec<Glyph>, pieces: &mut Vec<Piece>) {
    // Bold is sometimes made by printing twice.
    line.dedup_by(|b, a| a.char == b.char && (a.x0 - b.x0).abs() < a.size * 0.08);
    // The baseline of the largest glyphs is the line's.
    let Some(y) = line.iter().max_by(|a, b| a.size.total_cmp(&b.size)).map(|glyph| glyph.y) else { return };
    let mut run: Vec<Glyph> = Vec::new();
    let mut space = false;
    for glyph in line {
        if glyph.char.is_whitespace() {
            space = true;
            continue;
        }
        if let Some(last) = run.last().copied() {
            let em = last.size.min(glyph.size);
            let gap = glyph.x0 - last.x1;
            if gap > PIECE_GAP * em {
                pieces.extend(piece(std::mem::take(&mut run), y));
            } else if gap > WORD_GAP * em || (space && gap > SPACE_GAP * em) {
                run.push(Glyph { char: ' ', x0: last.x1, x1: glyph.x0, ..last });
            }
        }
        space = false;
        run.push(glyph);
    }
    pieces.extend(piece(run, y));
}

fn piece(run: Vec<Glyph>, y: f32) -> Option<Piece> {
    let (x0, x1) = (run.first()?.x0, run.iter().map(|glyph| glyph.x1).fold(f32::MIN, f32::max));
    let letters = run.iter().filter(|glyph| glyph.char.is_alphanumeric()).count();
    let bold = run.iter().filter(|glyph| glyph.bold && glyph.char.is_alphanumeric()).count();
    let mut sizes: Vec<f32> = run.iter().map(|glyph| glyph.size).collect();
    sizes.sort_by(f32::total_cmp);
    let size = sizes[sizes.len() / 2];
    let text = bidi::logical(run);
    Some(Piece { text, x0, x1, y, size, bold: letters > 0 && bold * 10 >= letters * 9 })
}

/// A letter of a script that needs no spaces.
pub(super) fn is_spaceless(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' | '\u{20000}'..='\u{3ffff}')
}
