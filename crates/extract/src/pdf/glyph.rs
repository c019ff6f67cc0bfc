//! Glyphs of a page.

use pdf_oxide::layout::{FontWeight, TextChar, TextSpan};

use super::letters::is_mark;
use super::radicals::unified;
use super::script::is_right_to_left;

/// Mark of a page's start while its text is laid out. A noncharacter (Unicode 16, section 23.7), so it is removed from the
/// document's own text.
pub(super) const PAGE_MARK: char = '\u{fdd0}';
/// Marks around a raised part of a word while the text is laid out, which are noncharacters too.
pub(super) const RAISED: char = '\u{fdd1}';
pub(super) const RAISED_END: char = '\u{fdd2}';

/// As a glyph, the place where a word may be divided; one that is drawn is a hyphen.
pub(super) const SOFT_HYPHEN: char = '\u{ad}';

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

/// Returns the median size of glyphs in points, `None` without any.
pub(super) fn median_size<'a>(glyphs: impl IntoIterator<Item = &'a Glyph>) -> Option<f32> {
    let mut sizes: Vec<f32> = glyphs.into_iter().map(|glyph| glyph.size).collect();
    sizes.sort_by(f32::total_cmp);
    sizes.get(sizes.len() / 2).copied()
}

/// Returns false for characters without a glyph.
pub(super) fn is_text(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{fffd}' | SOFT_HYPHEN | PAGE_MARK | RAISED | RAISED_END)
}

/// Returns the upright glyphs of characters with their rise; `None` if most text of the page is rotated.
pub(super) fn upright(chars: Vec<(TextChar, f32)>, are_hyphens_drawn: bool) -> Option<Vec<Glyph>> {
    let all = chars.len();
    let upright = level(chars, are_hyphens_drawn);
    (upright.len() * 2 >= all).then_some(upright)
}

/// Returns the glyphs of the characters whose baselines are level on the sheet, with their rise.
pub(super) fn level(chars: Vec<(TextChar, f32)>, are_hyphens_drawn: bool) -> Vec<Glyph> {
    chars
        .into_iter()
        .filter(|(c, _)| c.rotation_degrees.abs() < 5.0 || c.rotation_degrees > 355.0)
        .filter(|(c, _)| c.origin_x.is_finite() && c.origin_y.is_finite() && c.font_size.is_finite())
        .filter_map(|(c, rise)| {
            let size = text_size(c.font_size);
            let width = width(c.char, c.advance_width, size);
            Some(Glyph {
                char: marked(c.char, width, are_hyphens_drawn)?,
                x0: c.origin_x,
                x1: c.origin_x + width,
                y: c.origin_y,
                size,
                rise: if rise.is_finite() { rise } else { 0.0 },
                bold: c.font_weight >= FontWeight::SemiBold,
            })
        })
        .collect()
}

/// Returns the glyphs of the runs that are upright only because the sheet is shown turned by a quarter, as landscape tables of
/// books are, and those of the runs that read from its other end, as if the sheet as it is shown were turned; `None` if most
/// text is not turned with the sheet, or if some reads from the right.
pub(super) fn turned_with_sheet(spans: &[TextSpan], are_hyphens_drawn: bool) -> Option<[Vec<Glyph>; 2]> {
    let [mut upright, mut turned] = [Vec::new(), Vec::new()];
    let (mut all, mut with_sheet) = (0usize, 0usize);
    for span in spans {
        // Letters that read from the right are reversed in part.
        if span.text.contains(is_right_to_left) {
            return None;
        }
        let chars = span.text.chars().count();
        all += chars;
        let Some(((x, y), angle)) = place_on_turned_sheet(span) else { continue };
        let is = |other: f32| (angle - other).abs() < 1.0;
        // The height of the turned area is along the run.
        let length = span.bbox.height;
        if is(0.0) {
            with_sheet += chars;
            push_run(span, (x, y), length, are_hyphens_drawn, &mut upright);
        } else if is(90.0) {
            push_run(span, (y, -x), length, are_hyphens_drawn, &mut turned);
        } else if is(-90.0) {
            push_run(span, (-y, x), length, are_hyphens_drawn, &mut turned);
        }
    }
    (with_sheet * 2 > all).then_some([upright, turned])
}

/// Returns the origin and the angle of a run on the sheet as it is shown, turned by a quarter; `None` for a run that is level on
/// the sheet, or on one that is not turned.
fn place_on_turned_sheet(span: &TextSpan) -> Option<((f32, f32), f32)> {
    let area = &span.bbox;
    // The library turns the area around a run, of which the origin was the lower left corner.
    let (origin, turn) = match span.page_rotation_applied {
        90 => ((area.x, area.y + area.height), 90.0),
        270 => ((area.x + area.width, area.y), 270.0),
        _ => return None,
    };
    let angle = span.rotation_degrees.rem_euclid(360.0) - turn;
    (span.wmode == 0 && !span.mirrored).then_some((origin, angle))
}

/// Returns the glyphs of the runs that are turned by a quarter to the left and to the right, each as if the page were turned
/// back. Text at other angles is decoration, such as a watermark.
pub(super) fn turned(spans: &[TextSpan], are_hyphens_drawn: bool) -> [Vec<Glyph>; 2] {
    let mut runs: Vec<(&TextSpan, bool)> = spans.iter().filter_map(|span| Some((span, is_left_turn(span)?))).collect();
    // In an upside-down coordinate system, as browsers have, the library takes each direction for the other one.
    let swapped = is_swapped(&mut runs);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for (span, is_left) in runs {
        if is_left != swapped {
            push_run(span, (span.bbox.y, -span.bbox.x), span.bbox.width, are_hyphens_drawn, &mut left);
        } else {
            push_run(span, (-span.bbox.y, span.bbox.x), span.bbox.width, are_hyphens_drawn, &mut right);
        }
    }
    [left, right]
}

/// Returns true for a run that the library takes for turned by a quarter to the left, false for one to the right, and `None` for
/// any other.
fn is_left_turn(span: &TextSpan) -> Option<bool> {
    // Letters that read from the right are reversed in part. A rotation of the page has moved the positions.
    let is_known = span.wmode == 0 && span.page_rotation_applied == 0 && !span.text.contains(is_right_to_left);
    let angle = span.rotation_degrees.rem_euclid(360.0);
    let is_left = (angle - 90.0).abs() < 1.0;
    (is_known && (is_left || (angle - 270.0).abs() < 1.0)).then_some(is_left)
}

/// Checks that most runs that follow each other on one line do so against their direction. Puts the runs in the order of the
/// file.
fn is_swapped(runs: &mut [(&TextSpan, bool)]) -> bool {
    runs.sort_by_key(|(span, _)| span.sequence);
    let (mut along, mut against) = (0usize, 0usize);
    for pair in runs.windows(2) {
        let [(span, is_left), (next, is_next_left)] = pair else { continue };
        let up = next.bbox.y - span.bbox.y;
        let is_line = is_left == is_next_left
            && (next.bbox.x - span.bbox.x).abs() < span.font_size * 0.1
            && up.abs() < span.bbox.width + span.font_size;
        if is_line && up != 0.0 {
            *(if (up > 0.0) == *is_left { &mut along } else { &mut against }) += 1;
        }
    }
    against > along
}

/// Appends the glyphs of a turned run of a length that begins at a position in the page that is turned back.
fn push_run(span: &TextSpan, (mut x0, y): (f32, f32), length: f32, are_hyphens_drawn: bool, glyphs: &mut Vec<Glyph>) {
    let count = span.text.chars().count();
    let size = text_size(span.font_size);
    let even = length / count.max(1) as f32;
    for (at, char) in span.text.chars().enumerate() {
        let own = span.char_widths.get(at).copied().filter(|_| span.char_widths.len() == count).unwrap_or(even);
        let width = width(char, own, size);
        let x1 = x0 + width;
        let shown =
            marked(char, width, are_hyphens_drawn).filter(|_| x1.is_finite() && y.is_finite() && size.is_finite());
        if let Some(char) = shown {
            glyphs.push(Glyph { char, x0, x1, y, size, rise: 0.0, bold: span.font_weight >= FontWeight::SemiBold });
        }
        x0 = x1;
    }
}

/// Returns the width of a glyph from its advance, which may be missing, and its size; all in points.
fn width(c: char, advance: f32, size: f32) -> f32 {
    if advance.is_finite() && advance > 0.0 {
        advance
    } else if c == SOFT_HYPHEN || is_mark(c) {
        // Not drawn, or drawn over its letter.
        0.0
    } else {
        size * 0.5
    }
}

/// Returns the character that a glyph shows, with soft hyphens that are not drawn; `None` if it shows nothing.
fn marked(c: char, width: f32, are_hyphens_drawn: bool) -> Option<char> {
    if c == SOFT_HYPHEN && !are_hyphens_drawn { Some(c) } else { shown(c, width) }
}

/// Returns the character that a glyph shows, `None` if it shows nothing.
fn shown(c: char, width: f32) -> Option<char> {
    if c == SOFT_HYPHEN {
        // One with a width is drawn: it is the second code of the hyphen (ISO 32000-1, annex D, note 5).
        return (width > 0.0).then_some('-');
    }
    is_text(c).then(|| unified(c))
}

fn text_size(size: f32) -> f32 {
    size.abs().clamp(0.5, 2_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_soft_hyphens_take_no_room_of_their_own() {
        for missing in [0.0, -1.0, f32::NAN] {
            assert_eq!(width('\u{947}', missing, 10.0), 0.0);
            assert_eq!(width(SOFT_HYPHEN, missing, 10.0), 0.0);
            assert_eq!(width('a', missing, 10.0), 5.0);
        }
        assert_eq!(width('\u{947}', 3.0, 10.0), 3.0);
    }

    #[test]
    fn soft_hyphens_with_a_width_are_hyphens() {
        assert_eq!(shown(SOFT_HYPHEN, 3.3), Some('-'));
        assert_eq!(shown(SOFT_HYPHEN, 0.0), None);
        assert_eq!(shown('a', 0.0), Some('a'));
        assert_eq!(shown(PAGE_MARK, 5.0), None);
    }
}
