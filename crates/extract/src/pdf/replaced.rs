//! Letters of replacement texts (`ActualText`, ISO 32000-1, 14.9.4) among the raw characters.
//!
//! Browsers write one for each letter that joins its neighbours, and for each bracket that is mirrored. The library takes its
//! bytes for codes of the font, each of which is an unknown or a wrong character where the letter is. The spans know the letter
//! and not its position: they join letters and reverse some of them.

use std::collections::HashSet;
use std::ops::Range;

use pdf_oxide::layout::{TextChar, TextSpan};

use super::bidi::{LAM, is_alef, mirrored};
use super::letters::{is_mark, letters};
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
/// Maximum height of the position of a mark above or below the baseline, in ems.
const MARK_HEIGHT: f32 = 0.45;
/// Maximum number of characters compared on a page. Without it, many spans on one line would take quadratic time.
const MAX_EFFORT: usize = 20_000_000;

/// Replaces the unknown and wrong characters by the letters of the spans. Where these do not correspond although right-to-left
/// letters are missing, all characters of the span are replaced by its own, in the order that the library gives them. `raw` is
/// sorted from the top of the page.
pub(super) fn restore(raw: &mut Vec<TextChar>, spans: &[TextSpan]) {
    let all = spans.iter().map(|span| right_to_left(span.text.chars())).sum();
    let lacks_letters = right_to_left(raw.iter().map(|c| c.char)) < all;
    let mut more = Vec::new();
    let mut effort = MAX_EFFORT;
    for span in spans {
        let line = between(raw, span.bbox.y - SAME, span.bbox.y + SAME);
        effort = effort.saturating_sub(line.len());
        if effort == 0 {
            break;
        }
        if !restore_span(&mut raw[line], span, lacks_letters, &mut more) {
            // The library knows the position of the mark alone.
            let reach = if span.text.contains(is_mark) { span.font_size * MARK_HEIGHT } else { 0.0 };
            let around = between(raw, span.bbox.y - reach, span.bbox.y + reach);
            effort = effort.saturating_sub(around.len());
            let y = baseline(&raw[around], span);
            more.extend(span.to_chars().into_iter().map(|c| TextChar { origin_y: y, ..c }));
        }
    }
    raw.retain(|c| c.char != REMOVED);
    raw.extend(more);
}

/// Returns the number of right-to-left letters.
fn right_to_left(chars: impl Iterator<Item = char>) -> usize {
    chars.flat_map(letters).filter(|&letter| is_right_to_left(letter)).count()
}

/// Returns the range of the characters between two heights.
fn between(raw: &[TextChar], bottom: f32, top: f32) -> Range<usize> {
    let from = raw.partition_point(|c| c.bbox.y > top);
    let to = raw.partition_point(|c| c.bbox.y >= bottom);
    from..to.max(from)
}

/// Returns the baseline of the known character that is next to a span, or that of the span.
fn baseline(around: &[TextChar], span: &TextSpan) -> f32 {
    let known = around.iter().filter(|c| !matches!(c.char, UNKNOWN | REMOVED));
    let distance = |c: &&TextChar| (c.origin_x - span.bbox.x).abs();
    known.min_by(|a, b| distance(a).total_cmp(&distance(b))).map_or(span.bbox.y, |c| c.origin_y)
}

/// Replaces the unknown and wrong characters of a span by its letters: marks them as removed, and adds the others to `more`. If
/// these do not correspond, leaves all characters. On a page that `lacks_letters`, removes those of a span that does, and returns
/// false.
fn restore_span(line: &mut [TextChar], span: &TextSpan, lacks_letters: bool, more: &mut Vec<TextChar>) -> bool {
    let left = span.bbox.x - SAME;
    let right = (left + span.bbox.width).max(span.bbox.x + SAME);
    let within = (0..line.len()).filter(|&at| (left..right).contains(&line[at].origin_x));
    let mut places: Vec<Place> = within.map(|at| Place { at, x: line[at].origin_x }).collect();
    let known = right_to_left(places.iter().map(|place| line[place.at].char));
    let is_incomplete = lacks_letters && known < right_to_left(span.text.chars());
    let letters: Vec<char> = span.text.chars().filter(|c| !c.is_whitespace()).collect();
    let own: HashSet<char> = letters.iter().copied().collect();
    let is_wrong = |c: char| !c.is_whitespace() && !matches!(c, UNKNOWN | REMOVED) && !own.contains(&c);
    let wrong = places.iter().map(|place| (place.at, line[place.at].char)).filter(|(_, c)| is_wrong(*c));
    let wrong: Vec<(usize, char)> = wrong.collect();
    wrong.iter().for_each(|(at, _)| line[*at].char = UNKNOWN);
    if !is_incomplete && places.iter().all(|place| line[place.at].char != UNKNOWN) {
        return true;
    }
    places.sort_by(|a, b| a.x.total_cmp(&b.x));
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
        wrong.iter().for_each(|(at, c)| line[*at].char = *c);
        if is_incomplete {
            places.iter().for_each(|place| line[place.at].char = REMOVED);
        }
        return !is_incomplete;
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
    true
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
