//! Glyphs of a page.

use pdf_oxide::layout::{FontWeight, TextChar, TextSpan};

use super::radicals::unified;
use super::script::is_right_to_left;

/// Mark of a page's start while its text is laid out. A noncharacter (Unicode 16, section 23.7), so it is removed from the
/// document's own text.
pub(super) const PAGE_MARK: char = '\u{fdd0}';
/// Marks around a raised part of a word while the text is laid out, which are noncharacters too.
pub(super) const RAISED: char = '\u{fdd1}';
pub(super) const RAISED_END: char = '\u{fdd2}';

/// Glyph with its position in points; `y` grows upwards.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glyph {
    pub char: char,
    pub x0: f32,
    pub x1: f32,
    pub y: f32,
    pub size: f32,
    /// Height above `y` that the file states beside the position (`Ts`).
    pub rise: f32,
    pub bold: bool,
}

/// Returns false for characters without a glyph.
pub(super) fn is_text(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{fffd}' | '\u{ad}' | PAGE_MARK | RAISED | RAISED_END)
}

/// Returns the upright glyphs of characters with their rise; `None` if most text of the page is rotated.
pub(super) fn upright(chars: Vec<(TextChar, f32)>) -> Option<Vec<Glyph>> {
    let all = chars.len();
    let upright: Vec<Glyph> = chars
        .into_iter()
        .filter(|(c, _)| c.rotation_degrees.abs() < 5.0 || c.rotation_degrees > 355.0)
        .filter(|(c, _)| c.origin_x.is_finite() && c.origin_y.is_finite() && c.font_size.is_finite())
        .filter(|(c, _)| is_text(c.char))
        .map(|(c, rise)| {
            let width =
                if c.advance_width.is_finite() && c.advance_width > 0.0 { c.advance_width } else { c.font_size * 0.5 };
            Glyph {
                char: unified(c.char),
                x0: c.origin_x,
                x1: c.origin_x + width,
                y: c.origin_y,
                size: text_size(c.font_size),
                rise: if rise.is_finite() { rise } else { 0.0 },
                bold: c.font_weight >= FontWeight::SemiBold,
            }
        })
        .collect();
    (upright.len() * 2 >= all).then_some(upright)
}

/// Returns the glyphs of the runs that are turned by a quarter to the left and to the right, each as if the page were turned
/// back. Text at other angles is decoration, such as a watermark.
pub(super) fn turned(spans: &[TextSpan]) -> [Vec<Glyph>; 2] {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for span in spans {
        // Letters that read from the right are reversed in part. A rotation of the page has moved the positions.
        let is_known = span.wmode == 0 && span.page_rotation_applied == 0 && !span.text.contains(is_right_to_left);
        let angle = span.rotation_degrees.rem_euclid(360.0);
        if !is_known || !angle.is_finite() {
            continue;
        }
        if (angle - 90.0).abs() < 1.0 {
            push_run(span, span.bbox.y, -span.bbox.x, &mut left);
        } else if (angle - 270.0).abs() < 1.0 {
            push_run(span, -span.bbox.y, span.bbox.x, &mut right);
        }
    }
    [left, right]
}

/// Appends the glyphs of a turned run that begins at a position in the page that is turned back.
fn push_run(span: &TextSpan, mut x0: f32, y: f32, glyphs: &mut Vec<Glyph>) {
    let count = span.text.chars().count();
    let size = text_size(span.font_size);
    // The width is that along the run.
    let even = span.bbox.width / count.max(1) as f32;
    for (at, char) in span.text.chars().enumerate() {
        let own = span.char_widths.get(at).copied().filter(|_| span.char_widths.len() == count).unwrap_or(even);
        let width = if own.is_finite() && own > 0.0 { own } else { size * 0.5 };
        let x1 = x0 + width;
        if is_text(char) && x1.is_finite() && y.is_finite() && size.is_finite() {
            let char = unified(char);
            glyphs.push(Glyph { char, x0, x1, y, size, rise: 0.0, bold: span.font_weight >= FontWeight::SemiBold });
        }
        x0 = x1;
    }
}

fn text_size(size: f32) -> f32 {
    size.abs().clamp(0.5, 2_000.0)
}
