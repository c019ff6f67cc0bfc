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

use super::glyph::SOFT_HYPHEN;
use super::replaced;
use super::script::is_right_to_left;

/// Maximum advance of a character with the spacing behind it, in ems; a wider one leaves a gap.
const MAX_ADVANCE: f32 = 1.5;

/// Characters of a page.
pub(super) struct Characters {
    /// Each with its rise above the baseline in points.
    pub chars: Vec<(TextChar, f32)>,
    /// False if soft hyphens only mark where words may be divided.
    pub are_hyphens_drawn: bool,
}

/// Returns the characters of a page from its spans and its raw characters.
pub(super) fn of_page(document: &PdfDocument, page: usize, spans: &[TextSpan]) -> Result<Characters, Error> {
    let reversed = spans.iter().any(|span| span.text.contains(is_right_to_left));
    let mut raw = match document.extract_chars(page) {
        Err(error) if reversed => return Err(error),
        raw => raw.unwrap_or_default(),
    };
    if reversed {
        let is_known = raw.iter().all(|c| c.char != '\u{fffd}');
        if !is_known || !Difference::of(spans, &raw).is_none() {
            replaced::restore(&mut raw, spans);
        }
        return Ok(Characters { chars: raw.into_iter().map(|c| (spaced(c), 0.0)).collect(), are_hyphens_drawn: true });
    }
    let difference = Difference::of(spans, &raw);
    let are_hyphens_drawn = difference.are_hyphens_drawn();
    let with_rise = |span: &TextSpan| {
        let rise = span.text_rise * span.font_size;
        span.to_chars().into_iter().map(move |c| (c, rise))
    };
    let decoded = spans.iter().flat_map(with_rise);
    let chars = if is_placed(spans) && difference.is_none() {
        let raw = raw.into_iter().map(|c| (spaced(c), 0.0));
        // Those that are not drawn are in the spans alone.
        raw.chain(decoded.filter(|(c, _)| c.char == SOFT_HYPHEN && !are_hyphens_drawn)).collect()
    } else {
        decoded.collect()
    };
    Ok(Characters { chars, are_hyphens_drawn })
}

/// Difference between the texts of the spans and of the raw characters of a page, in any order.
#[derive(Default)]
struct Difference {
    /// Number of times that the spans have a visible character more than the raw characters, without soft hyphens.
    surplus: HashMap<char, i64>,
    /// Soft hyphens of the spans, and of the raw characters.
    hyphens: [usize; 2],
}

impl Difference {
    fn of(spans: &[TextSpan], raw: &[TextChar]) -> Self {
        let mut difference = Self::default();
        for c in spans.iter().flat_map(|span| span.text.chars()).flat_map(plain) {
            difference.count(c, 0, 1);
        }
        for c in raw.iter().flat_map(|c| plain(c.char)) {
            difference.count(c, 1, -1);
        }
        difference
    }

    fn count(&mut self, c: char, source: usize, change: i64) {
        if c == SOFT_HYPHEN {
            self.hyphens[source] += 1;
        } else {
            *self.surplus.entry(c).or_default() += change;
        }
    }

    fn is_none(&self) -> bool {
        self.surplus.values().all(|surplus| *surplus == 0)
            && (self.hyphens[1] == 0 || self.hyphens[0] == self.hyphens[1])
    }

    /// Checks that soft hyphens are codes of the font. Those of a replacement text (`ActualText`) are none: fonts with codes
    /// of one byte take its UTF-8 bytes for codes in the raw characters, so each follows a `\u{c2}`.
    fn are_hyphens_drawn(&self) -> bool {
        self.hyphens[1] > 0 && self.surplus.get(&'\u{c2}').is_none_or(|surplus| *surplus >= 0)
    }
}

/// Checks that the positions of the raw characters are those on the page: they know neither the rise of text nor a rotation of
/// the page.
fn is_placed(spans: &[TextSpan]) -> bool {
    spans.iter().all(|span| span.text_rise == 0.0 && span.page_rotation_applied == 0 && span.wmode == 0)
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
