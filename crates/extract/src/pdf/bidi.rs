//! Conversion of visual order, left to right on the page, to logical order.
//!
//! A PDF places glyphs and does not record reading direction. Runs of right-to-left letters are reversed; runs of
//! other letters and of numbers inside them are kept. This inverts Unicode's bidirectional algorithm for two levels.

use std::collections::HashSet;

use super::glyph::Glyph;
use super::letters::{is_mark, letters};
use super::script::is_right_to_left;

/// Distance at which a mark and a letter have one origin, in ems.
const SAME_ORIGIN: f32 = 0.02;

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Left,
    Right,
    /// Its digits read left to right in every script; several numbers follow each other in the direction of the line.
    Number,
    Neutral,
}

impl Direction {
    /// Returns the direction in which the characters themselves read.
    fn of_characters(self) -> Self {
        if self == Self::Number { Self::Left } else { self }
    }
}

fn direction(c: char) -> Direction {
    // The Arabic decimal and thousands separators are of the class of Arabic digits.
    if c.is_numeric() || matches!(c, '\u{66b}' | '\u{66c}') {
        Direction::Number
    } else if is_right_to_left(c) {
        Direction::Right
    } else if c.is_alphanumeric() {
        Direction::Left
    } else {
        Direction::Neutral
    }
}

/// Returns the logical text of a run of glyphs, which are sorted from left to right.
pub(super) fn logical(run: Vec<Glyph>) -> String {
    let right = run.iter().filter(|glyph| is_right_to_left(glyph.char)).count();
    if right == 0 {
        return run.iter().flat_map(|glyph| letters(glyph.char)).collect();
    }
    let left =
        run.iter().filter(|glyph| glyph.char.is_alphabetic() && direction(glyph.char) == Direction::Left).count();
    let base = if right >= left { Direction::Right } else { Direction::Left };
    let mut runs = runs(&run, base);
    if base == Direction::Right {
        runs.reverse();
    }
    let mut text = String::with_capacity(run.len() * 2);
    for (direction, part) in runs {
        if direction == Direction::Right {
            push_reversed(part, &mut text);
        } else {
            text.extend(part.iter().flat_map(|glyph| letters(glyph.char)));
        }
    }
    text
}

/// Appends a run that reads from the right and is sorted from left to right. Marks follow the letter that they are drawn on.
fn push_reversed(run: &[Glyph], text: &mut String) {
    // Marks since the last letter, from right to left.
    let mut marks: Vec<&Glyph> = Vec::new();
    let mut right: Option<&Glyph> = None;
    for glyph in run.iter().rev() {
        if is_mark(glyph.char) {
            marks.push(glyph);
            continue;
        }
        let (own, others): (Vec<&Glyph>, Vec<&Glyph>) =
            marks.drain(..).partition(|mark| is_drawn_on(mark, glyph, right));
        text.extend(others.into_iter().flat_map(|mark| letters(mark.char)));
        text.extend(letters(mirrored(glyph.char)));
        text.extend(own.into_iter().rev().flat_map(|mark| letters(mark.char)));
        right = Some(glyph);
    }
    text.extend(marks.into_iter().flat_map(|mark| letters(mark.char)));
}

/// Checks if a mark is drawn on the letter on its left, rather than on the one on its right, whose origin it may have.
fn is_drawn_on(mark: &Glyph, letter: &Glyph, right: Option<&Glyph>) -> bool {
    let tolerance = SAME_ORIGIN * mark.size;
    if letter.char.is_whitespace()
        || right.is_some_and(|right| !right.char.is_whitespace() && right.x0 - mark.x0 <= tolerance)
    {
        return false;
    }
    // A mark with an advance has a place of its own behind the letter.
    if mark.x1 > mark.x0 { mark.x0 < letter.x1 - tolerance } else { mark.x0 <= letter.x1 + tolerance }
}

/// Extends numbers by the separators and signs that belong to them, as rules W4 and W5 of UAX #9 do, and makes those that
/// follow a Latin letter part of its words (W7).
fn join_numbers(glyphs: &[Glyph], resolved: &mut [Direction], base: Direction) {
    // Numbers after an Arabic letter take no signs (W2).
    let arabic = glyphs.iter().any(|glyph| is_arabic_letter(glyph.char));
    let separates =
        |c| matches!(c, ',' | '.' | ':' | '/' | '\u{a0}' | '\u{60c}') || (!arabic && matches!(c, '+' | '-' | '−'));
    for at in 1..resolved.len().saturating_sub(1) {
        let between = resolved[at - 1] == Direction::Number && resolved[at + 1] == Direction::Number;
        if between && separates(glyphs[at].char) {
            resolved[at] = Direction::Number;
        }
    }
    if !arabic {
        for at in 1..resolved.len() {
            if is_sign(glyphs[at].char) && resolved[at - 1] == Direction::Number {
                resolved[at] = Direction::Number;
            }
        }
        for at in (1..resolved.len()).rev() {
            if is_sign(glyphs[at - 1].char) && resolved[at] == Direction::Number {
                resolved[at - 1] = Direction::Number;
            }
        }
    }
    let mut letters = base;
    for glyph in resolved {
        match *glyph {
            Direction::Left | Direction::Right if base == Direction::Right => letters = *glyph,
            Direction::Number if letters == Direction::Left => *glyph = Direction::Left,
            _ => {}
        }
    }
}

fn is_arabic_letter(c: char) -> bool {
    c.is_alphabetic()
        && matches!(c, '\u{600}'..='\u{7bf}' | '\u{860}'..='\u{8ff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}')
}

/// Checks for a sign of class ET, such as a percent or currency sign.
fn is_sign(c: char) -> bool {
    matches!(c, '#' | '$' | '%' | '¢'..='¥' | '°' | '±' | '‰' | '′' | '″' | '\u{20a0}'..='\u{20cf}')
}

/// Splits glyphs into runs of one direction. Neutral glyphs join their neighbours if both agree, otherwise the line. Those
/// between two numbers join the line too (N1).
fn runs(glyphs: &[Glyph], base: Direction) -> Vec<(Direction, &[Glyph])> {
    let mut resolved: Vec<Direction> = glyphs.iter().map(|glyph| direction(glyph.char)).collect();
    join_numbers(glyphs, &mut resolved, base);
    let mut at = 0;
    while at < resolved.len() {
        if resolved[at] != Direction::Neutral {
            at += 1;
            continue;
        }
        let end =
            resolved[at..].iter().position(|other| *other != Direction::Neutral).map_or(resolved.len(), |n| at + n);
        let before = if at > 0 { resolved[at - 1] } else { base };
        let after = resolved.get(end).copied().unwrap_or(base);
        let numbers = before == Direction::Number && after == Direction::Number;
        let agreed = before.of_characters() == after.of_characters() && !numbers;
        resolved[at..end].fill(if agreed { before.of_characters() } else { base });
        at = end;
    }
    let resolved: Vec<Direction> = resolved.into_iter().map(Direction::of_characters).collect();
    let mut runs = Vec::new();
    let mut start = 0;
    for at in 1..=resolved.len() {
        if at == resolved.len() || resolved[at] != resolved[start] {
            runs.push((resolved[start], &glyphs[start..at]));
            start = at;
        }
    }
    runs
}

/// Swaps the letters of lam-alef ligatures into visual order, so that reversal restores them. `lines` are sorted from
/// left to right.
///
/// A PDF reports the ligature as two letters in logical order, each with half its width. The same letters in this
/// order are usually "al-" instead: an alef with the width of a standalone alef on the page is not part of a ligature.
pub(super) fn reorder_ligatures(lines: &mut [Vec<Glyph>]) {
    let alone: HashSet<i32> = lines
        .iter()
        .flat_map(|line| (0..line.len()).filter(|&at| at == 0 || line[at - 1].char != LAM).map(|at| &line[at]))
        .filter(|glyph| is_alef(glyph.char))
        .map(relative_width)
        .collect();
    for line in lines {
        for at in 1..line.len() {
            let (lam, alef) = (line[at - 1], line[at]);
            let halves = (relative_width(&lam) - relative_width(&alef)).abs() <= 1
                && (lam.x1 - alef.x0).abs() < 0.05 * alef.size;
            let own = (-2..=2).any(|off| alone.contains(&(relative_width(&alef) + off)));
            if lam.char == LAM && is_alef(alef.char) && halves && !own {
                (line[at - 1].char, line[at].char) = (alef.char, lam.char);
            }
        }
    }
}

pub(super) const LAM: char = '\u{644}';

pub(super) fn is_alef(c: char) -> bool {
    matches!(c, '\u{622}' | '\u{623}' | '\u{625}' | '\u{627}')
}

/// Returns the width in thousandths of an em.
fn relative_width(glyph: &Glyph) -> i32 {
    ((glyph.x1 - glyph.x0) / glyph.size * 1000.0).round() as i32
}

/// Returns the character with the mirrored shape, for those that have one.
pub(super) fn mirrored(c: char) -> char {
    match c {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '{' => '}',
        '}' => '{',
        '<' => '>',
        '>' => '<',
        '«' => '»',
        '»' => '«',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(visual: &str) -> String {
        let glyph = |(at, char): (usize, char)| {
            // Widths vary like those of letters.
            let x0 = at as f32 * 5.0;
            Glyph { char, x0, x1: x0 + 4.0 + (at % 3) as f32 * 0.3, y: 0.0, size: 10.0, rise: 0.0, bold: false }
        };
        logical(visual.chars().enumerate().map(glyph).collect())
    }

    #[test]
    fn right_to_left_lines_are_reversed() {
        assert_eq!(read("םולש"), "שלום");
        assert_eq!(read("(ב) Python 123 דחא םולש"), "שלום אחד Python 123 (ב)");
        assert_eq!(read("see םולש here now"), "see שלום here now");
        assert_eq!(read("plain (text)"), "plain (text)");
        // Raised parts have no direction.
        assert_eq!(read("m\u{fdd1}2\u{fdd2}"), "m\u{fdd1}2\u{fdd2}");
    }

    #[test]
    fn signs_stay_with_their_number_and_numbers_follow_the_line() {
        assert_eq!(read("הנשב 50% לש היילע"), "עלייה של 50% בשנה");
        assert_eq!(read("דומעל ₪1,200.50 וא"), "או ₪1,200.50 לעמוד");
        assert_eq!(read("17:00 - 9:00 תועש"), "שעות 9:00 - 17:00");
        assert_eq!(read("2024–2020 (7) 03-1234567 ןופלט"), "טלפון 03-1234567 (7) 2020–2024");
        // Numbers after a Latin letter are part of its words.
        assert_eq!(read("Python 3 - 4 םולש דחא"), "אחד שלום Python 3 - 4");
        // Numbers after an Arabic letter take no signs.
        assert_eq!(read("ماع يف %50 ةبسنب"), "بنسبة 50% في عام");
        assert_eq!(read("2021-2020 نم 9:30"), "9:30 من 2020-2021");
        // Arabic digits with their decimal and thousands separators, and with a comma.
        for number in ["١٢٣٫٤٥", "١٬٢٣٤٬٥٦٧٫٨", "۱٬۲۳۴", "١٢،٥"] {
            assert_eq!(read(&format!("{number} نم")), format!("من {number}"));
            assert_eq!(read(number), number);
        }
        assert_eq!(read("٢ ،١ نم"), "من ١، ٢");
    }

    #[test]
    fn marks_follow_the_letter_that_they_are_drawn_on() {
        let read = |glyphs: &[(char, f32, f32)]| {
            let glyph = |&(char, x0, x1)| Glyph { char, x0, x1, y: 0.0, size: 10.0, rise: 0.0, bold: false };
            logical(glyphs.iter().map(glyph).collect())
        };
        let (beh, meem, shadda, fatha) = ('\u{628}', '\u{645}', '\u{651}', '\u{64e}');
        // Its origin is right of that of its letter, at the end of its letter before a gap, and that of its letter.
        assert_eq!(read(&[(meem, 0.0, 5.0), (shadda, 2.0, 2.0), (beh, 5.0, 10.0)]), "\u{628}\u{645}\u{651}");
        assert_eq!(
            read(&[(meem, 0.0, 5.0), (shadda, 5.0, 5.0), (' ', 5.0, 8.0), (beh, 8.0, 13.0)]),
            "\u{628} \u{645}\u{651}"
        );
        assert_eq!(read(&[(meem, 0.0, 5.0), (shadda, 5.0, 5.0)]), "\u{645}\u{651}");
        assert_eq!(read(&[(meem, 0.0, 5.0), (shadda, 5.0, 5.0), (beh, 5.0, 10.0)]), "\u{628}\u{651}\u{645}");
        assert_eq!(read(&[(meem, 0.0, 5.0), (beh, 5.0, 10.0), (shadda, 5.0, 5.0)]), "\u{628}\u{651}\u{645}");
        // One in front of its letter, with an advance and without one, and two of one letter.
        assert_eq!(read(&[(meem, 0.0, 5.0), (shadda, 5.0, 7.0), (beh, 7.0, 12.0)]), "\u{628}\u{651}\u{645}");
        assert_eq!(read(&[(shadda, 0.0, 0.0), (meem, 1.0, 5.0), (beh, 5.0, 10.0)]), "\u{628}\u{645}\u{651}");
        assert_eq!(
            read(&[(meem, 0.0, 5.0), (shadda, 2.0, 2.0), (fatha, 2.0, 2.0), (beh, 5.0, 10.0)]),
            "\u{628}\u{645}\u{651}\u{64e}"
        );
        // Without a letter.
        assert_eq!(read(&[(shadda, 0.0, 0.0)]), "\u{651}");
        // The point of a Hebrew letter, among Latin text.
        assert_eq!(
            read(&[
                ('a', 0.0, 5.0),
                (' ', 5.0, 7.0),
                ('\u{5d1}', 7.0, 12.0),
                ('\u{5b8}', 9.0, 9.0),
                ('\u{5d0}', 12.0, 17.0)
            ]),
            "\u{5d0}\u{5d1}\u{5b8} a"
        );
    }

    #[test]
    fn forms_become_letters_in_logical_order() {
        assert_eq!(read("\u{fee1}\u{fefc}\u{feb3}"), "\u{633}\u{644}\u{627}\u{645}");
        assert_eq!(read("e\u{fb00}ect"), "effect");
        assert_eq!(read("\u{fdf2} \u{fb01}t"), "\u{627}\u{644}\u{644}\u{647} fit");
    }

    #[test]
    fn ligatures_keep_their_order() {
        let glyph = |char, x0, x1| Glyph { char, x0, x1, y: 0.0, size: 10.0, rise: 0.0, bold: false };
        let mut lines = [
            // Lam and alef drawn as one glyph of width 7.4, then as two.
            vec![glyph('ل', 0.0, 3.7), glyph('ا', 3.7, 7.4), glyph('س', 7.4, 14.0)],
            vec![glyph('ل', 0.0, 3.0), glyph('ا', 3.0, 6.0)],
            vec![glyph('ب', 0.0, 4.0), glyph('ا', 4.0, 7.0)],
        ];
        reorder_ligatures(&mut lines);
        assert_eq!(lines.map(logical), ["سلا", "ال", "اب"]);
    }
}
