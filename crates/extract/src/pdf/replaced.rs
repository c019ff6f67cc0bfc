//! Letters of replacement texts (`ActualText`, ISO 32000-1, 14.9.4) among the raw characters.
//!
//! Browsers write one for each letter that joins its neighbours. The library takes its bytes for codes of the font, each of
//! which is an unknown character where the letter is. The spans know the letter and not its position: they join letters and
//! reverse some of them.

use std::ops::Range;

use pdf_oxide::layout::{TextChar, TextSpan};

use super::bidi::{LAM, is_alef, mirrored};
use super::script::is_right_to_left;

const UNKNOWN: char = '\u{fffd}';
/// No raw character is one.
const REMOVED: char = '\0';
/// Maximum difference of the end of a code and the beginning of the next one, in points.
const EXACT: f32 = 0.002;
/// Maximum difference of positions that are the same, in points.
const SAME: f32 = 0.1;
/// Maximum advance of a letter, in ems.
const MAX_ADVANCE: f32 = 1.5;
/// Maximum number of characters compared on a page. Without it, many spans on one line would take quadratic time.
const MAX_EFFORT: usize = 20_000_000;

/// Replaces the unknown characters by the letters of the spans. Where these do not correspond, and would be lost, all characters
/// of the span are replaced by its own, in the order that the library gives them. `raw` is sorted from the top of the page.
pub(super) fn restore(raw: &mut Vec<TextChar>, spans: &[TextSpan]) {
    if raw.iter().all(|c| c.char != UNKNOWN) {
        return;
    }
    let mut more = Vec::new();
    let mut effort = MAX_EFFORT;
    for span in spans {
        let line = line(raw, span.bbox.y);
        effort = effort.saturating_sub(line.len());
        if effort == 0 {
            break;
        }
        restore_span(&mut raw[line], span, &mut more);
    }
    raw.retain(|c| c.char != REMOVED);
    raw.extend(more);
}

/// Returns the range of the characters on a baseline.
fn line(raw: &[TextChar], y: f32) -> Range<usize> {
    let from = raw.partition_point(|c| c.bbox.y > y + SAME);
    let to = raw.partition_point(|c| c.bbox.y >= y - SAME);
    from..to.max(from)
}

/// Replaces the unknown characters of a span by its letters, or all its characters by its own: marks them as removed, and adds
/// the others to `more`.
fn restore_span(line: &mut [TextChar], span: &TextSpan, more: &mut Vec<TextChar>) {
    let (left, right) = (span.bbox.x - SAME, span.bbox.x + span.bbox.width - SAME);
    let within = (0..line.len()).filter(|&at| (left..right).contains(&line[at].origin_x));
    let mut places: Vec<Place> = within.map(|at| Place { at, x: line[at].origin_x }).collect();
    if places.iter().all(|place| line[place.at].char != UNKNOWN) {
        return;
    }
    places.sort_by(|a, b| a.x.total_cmp(&b.x));
    let letters: Vec<char> = span.text.chars().filter(|c| !c.is_whitespace()).collect();
    let joined = join_codes(line, &places);
    let (places, texts) = match texts(line, &joined, &letters) {
        Some(texts) => (joined, Some(texts)),
        // Two letters may be as wide as a code.
        None => {
            let texts = texts(line, &places, &letters);
            (places, texts)
        }
    };
    let Some(texts) = texts else {
        let known = places.iter().filter(|place| is_right_to_left(line[place.at].char)).count();
        if known < letters.iter().filter(|&&letter| is_right_to_left(letter)).count() {
            places.iter().for_each(|place| line[place.at].char = REMOVED);
            more.extend(span.to_chars());
        }
        return;
    };
    for Text { codes, letters } in texts {
        let Place { at, x } = places[codes.start];
        let next = places.get(codes.end).map_or(right + SAME, |next| next.x);
        let template = line[at].clone();
        let advance = (next - x).min(MAX_ADVANCE * template.font_size).max(0.0) / letters.len() as f32;
        places[codes].iter().for_each(|place| line[place.at].char = REMOVED);
        more.extend(letters.iter().enumerate().map(|(number, &letter)| TextChar {
            // Replacement texts have the character that is meant, whose shape is mirrored here.
            char: mirrored(letter),
            origin_x: x + advance * number as f32,
            advance_width: advance,
            rendered_advance: advance,
            ..template.clone()
        }));
    }
}

/// Character of a line.
#[derive(Clone, Copy)]
struct Place {
    /// Index in the line.
    at: usize,
    /// Left end, in points.
    x: f32,
}

/// Replacement text of a line.
struct Text<'a> {
    /// Range of its codes among the characters of the line, which have one position.
    codes: Range<usize>,
    /// In the order of the page.
    letters: &'a [char],
}

/// Returns the replacement texts of a line with the visible letters of its span, `None` if they do not correspond to its
/// characters. The known ones may be in another order there.
fn texts<'a>(line: &[TextChar], places: &[Place], letters: &'a [char]) -> Option<Vec<Text<'a>>> {
    let visible = places.iter().filter(|place| !line[place.at].char.is_whitespace()).count();
    let (mut texts, mut found) = (Vec::new(), Vec::new());
    let (mut at, mut rest) = (0, letters);
    while let Some(place) = places.get(at) {
        let char = line[place.at].char;
        if char != UNKNOWN {
            at += 1;
            if !char.is_whitespace() {
                found.push(char);
                rest = rest.get(1..)?;
            }
            continue;
        }
        let is_here = |other: &&Place| line[other.at].char == UNKNOWN && (other.x - place.x).abs() < SAME;
        let count = places[at..].iter().take_while(is_here).count();
        // The two codes of a ligature are one character if they have no advance.
        let is_ligature = count == 1 && visible < letters.len() && matches!(rest, [alef, LAM, ..] if is_alef(*alef));
        let (text, behind) = rest.split_at_checked(if is_ligature { 2 } else { count })?;
        found.extend_from_slice(text);
        texts.push(Text { codes: at..at + count, letters: text });
        (at, rest) = (at + count, behind);
    }
    let mut letters = letters.to_vec();
    found.sort_unstable();
    letters.sort_unstable();
    (found == letters).then_some(texts)
}

/// Returns the places with the codes of one replacement text at the position of the first one. The library places each behind
/// the advance of the one before, and the next letter where the file does. All places are sorted from the left.
fn join_codes(line: &[TextChar], places: &[Place]) -> Vec<Place> {
    // The positions of unknown characters, and of the first codes of their texts.
    let mut codes: Vec<(f32, f32)> = Vec::new();
    let mut joined = places.to_vec();
    for place in joined.iter_mut().filter(|place| line[place.at].char == UNKNOWN) {
        let (x, advance) = (place.x, line[place.at].rendered_advance);
        let before = codes.partition_point(|(before, _)| *before < x - advance - EXACT);
        let first = codes.get(before).filter(|(before, _)| advance > 0.0 && *before <= x - advance + EXACT);
        place.x = first.map_or(x, |(_, start)| *start);
        codes.push((x, place.x));
    }
    joined.sort_by(|a, b| a.x.total_cmp(&b.x));
    joined
}
