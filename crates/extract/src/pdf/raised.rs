//! Exponents and marks of notes, which would become a part of the word in front of them.

use super::glyph::{Glyph, RAISED, RAISED_END};
use super::script::{is_right_to_left, is_spaceless};
use crate::literal::Shift;

/// Maximum size of a raised or lowered glyph, as a share of that of its word. Browsers print them at 0.83.
pub(super) const SIZE: f32 = 0.86;
/// Minimum and maximum height above the baseline of the word, in ems of the word. Higher glyphs are of other lines.
const HEIGHT: std::ops::RangeInclusive<f32> = 0.15..=0.75;
/// Maximum number of glyphs; longer raised text is no exponent.
const MAX_LENGTH: usize = 12;

/// Returns the run with marks around the raised parts that are distinct from the word in front of them. `run` is sorted
/// from left to right, with spaces between words.
pub(super) fn mark(run: Vec<Glyph>) -> Vec<Glyph> {
    // Runs of both directions are reordered behind this.
    if run.iter().any(|glyph| is_right_to_left(glyph.char)) {
        return run;
    }
    let mut marked: Vec<Glyph> = Vec::with_capacity(run.len() + 2);
    let mut rest = run.as_slice();
    while let Some((next, behind)) = rest.split_first() {
        let base = marked.last().copied().filter(|last| last.char != RAISED_END);
        let length = base.map_or(0, |base| rest.iter().take_while(|glyph| is_raised(glyph, &base)).count());
        let (part, after) = rest.split_at(length);
        let (Some(base), Some(first), Some(last)) = (base, part.first(), part.last()) else {
            marked.push(*next);
            rest = behind;
            continue;
        };
        let distinct = is_distinct(&base, part);
        if distinct {
            marked.push(Glyph { char: RAISED, x1: first.x0, ..*first });
        }
        marked.extend_from_slice(part);
        if distinct {
            marked.push(Glyph { char: RAISED_END, x0: last.x1, ..*last });
        }
        rest = after;
    }
    marked
}

fn is_raised(glyph: &Glyph, base: &Glyph) -> bool {
    let height = (glyph.y + glyph.rise) - (base.y + base.rise);
    glyph.char != ' ' && glyph.size <= base.size * SIZE && HEIGHT.contains(&(height / base.size))
}

fn is_distinct(base: &Glyph, part: &[Glyph]) -> bool {
    let text: String = part.iter().map(|glyph| glyph.char).collect();
    // Small letters of a script without spaces are ruby.
    part.len() <= MAX_LENGTH
        && !text.contains(is_spaceless)
        && Shift::Raised.is_distinct(base.char.encode_utf8(&mut [0; 4]), &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text of glyphs, with `^` before raised ones, after the marks were added.
    fn read(text: &str) -> String {
        let mut glyphs = Vec::new();
        let mut raised = false;
        for char in text.chars() {
            if char == '^' {
                raised = true;
                continue;
            }
            let (y, size) = if raised { (4.0, 6.0) } else { (0.0, 10.0) };
            let x0 = glyphs.len() as f32 * 5.0;
            glyphs.push(Glyph { char, x0, x1: x0 + 5.0, y, size, rise: 0.0, bold: false });
            raised = false;
        }
        let marked: String = mark(glyphs).iter().map(|glyph| glyph.char).collect();
        marked.replace(RAISED, "<").replace(RAISED_END, ">")
    }

    #[test]
    fn exponents_and_marks_of_notes_are_marked() {
        assert_eq!(read("10^6 m^2 in 2023^1, 10^-^9"), "10<6> m<2> in 2023<1>, 10<-9>");
        assert_eq!(read("x^n y"), "x<n> y");
    }

    #[test]
    fn ordinals_notes_behind_sentences_and_first_words_stay() {
        for (source, text) in [("1^s^t", "1st"), ("end.^1", "end.1"), ("^1 See", "1 See"), ("漢^か", "漢か")] {
            assert_eq!(read(source), text);
        }
    }

    #[test]
    fn a_rise_without_another_baseline_counts() {
        let glyph = |char, size, rise| Glyph { char, x0: 0.0, x1: 5.0, y: 0.0, size, rise, bold: false };
        let marked = mark(vec![glyph('5', 10.0, 0.0), glyph('2', 6.0, 4.0)]);
        assert_eq!(marked.len(), 4);
        assert_eq!(mark(vec![glyph('5', 10.0, 0.0), glyph('2', 6.0, 0.0)]).len(), 2);
    }
}
