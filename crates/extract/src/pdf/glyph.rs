//! Glyphs of a page.

use pdf_oxide::layout::{FontWeight, TextChar};

/// Mark of a page's start while its text is laid out. A noncharacter (Unicode 16, section 23.7), so it is removed from the
/// document's own text.
pub(super) const PAGE_MARK: char = '\u{fdd0}';

/// Glyph with its position in points; `y` grows upwards.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glyph {
    pub char: char,
    pub x0: f32,
    pub x1: f32,
    pub y: f32,
    pub size: f32,
    pub bold: bool,
}

/// Returns false for characters without a glyph.
pub(super) fn is_text(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{fffd}' | '\u{ad}' | PAGE_MARK)
}

/// Returns the upright glyphs; `None` if most text of the page is rotated.
pub(super) fn upright(chars: Vec<TextChar>) -> Option<Vec<Glyph>> {
    let all = chars.len();
    let upright: Vec<Glyph> = chars
        .into_iter()
        .filter(|c| c.rotation_degrees.abs() < 5.0 || c.rotation_degrees > 355.0)
        .filter(|c| c.origin_x.is_finite() && c.origin_y.is_finite() && c.font_size.is_finite())
        .filter(|c| is_text(c.char))
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
