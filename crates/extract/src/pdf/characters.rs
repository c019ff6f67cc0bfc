//! Characters of a page with their positions.
//!
//! The library's spans decode characters best (pairs of code units, replaced text), but small text beside large text is moved
//! onto the baseline of the large text, and right-to-left text is reversed in part. Its raw characters are where the file
//! places them.

use std::collections::HashMap;

use pdf_oxide::PdfDocument;
use pdf_oxide::error::Error;
use pdf_oxide::layout::{TextChar, TextSpan};
use unicode_normalization::UnicodeNormalization;

use super::script::is_right_to_left;

/// Maximum advance of a character with the spacing behind it, in ems; a wider one leaves a gap.
const MAX_ADVANCE: f32 = 1.5;

/// Returns the characters of a page, each with its rise above the baseline in points.
pub(super) fn of_page(document: &PdfDocument, page: usize, spans: &[TextSpan]) -> Result<Vec<(TextChar, f32)>, Error> {
    let reversed = spans.iter().any(|span| span.text.contains(is_right_to_left));
    let raw = match document.extract_chars(page) {
        Err(error) if reversed => return Err(error),
        raw => raw.unwrap_or_default(),
    };
    if reversed || (is_placed(spans) && is_same_text(spans, &raw)) {
        return Ok(raw.into_iter().map(|c| (spaced(c), 0.0)).collect());
    }
    let with_rise = |span: &TextSpan| {
        let rise = span.text_rise * span.font_size;
        span.to_chars().into_iter().map(move |c| (c, rise))
    };
    Ok(spans.iter().flat_map(with_rise).collect())
}

/// Checks that the positions of the raw characters are those on the page: they know neither the rise of text nor a rotation of
/// the page.
fn is_placed(spans: &[TextSpan]) -> bool {
    spans.iter().all(|span| span.text_rise == 0.0 && span.page_rotation_applied == 0 && span.wmode == 0)
}

/// Checks that the raw characters are those of the spans, in any order.
fn is_same_text(spans: &[TextSpan], raw: &[TextChar]) -> bool {
    let mut counts: HashMap<char, i64> = HashMap::new();
    for c in spans.iter().flat_map(|span| span.text.chars()).flat_map(plain) {
        *counts.entry(c).or_default() += 1;
    }
    for c in raw.iter().flat_map(|c| plain(c.char)) {
        *counts.entry(c).or_default() -= 1;
    }
    counts.values().all(|count| *count == 0)
}

/// Returns the visible characters that a character stands for. The spans have ligatures in letters, and small digits and signs
/// as characters of their own.
fn plain(c: char) -> impl Iterator<Item = char> {
    let is_visible = |c: &char| !c.is_whitespace() && !c.is_control() && !matches!(c, '\u{200b}' | '\u{fffd}');
    c.nfkc().map(|c| if c == '\u{2212}' { '-' } else { c }).filter(is_visible)
}

/// Returns a raw character with the spacing behind it as part of its advance.
fn spaced(c: TextChar) -> TextChar {
    let is_near = c.rendered_advance > 0.0 && c.rendered_advance <= c.font_size * MAX_ADVANCE;
    TextChar { advance_width: if is_near { c.rendered_advance } else { c.advance_width }, ..c }
}
