//! Word segmentation. Independent of the language, so that a query has the same tokens under every language.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use super::ignorable::is_ignorable;

/// Word, or one character of a script without spaces.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Segment {
    pub bytes: Range<usize>,
    pub shape: Shape,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Shape {
    /// ASCII only. `mixed` if it may have inner parts (`parseUrl`, `10kg`) or thousands separators.
    Ascii { mixed: bool },
    /// Contains characters beyond ASCII.
    Unicode,
    /// One character, with its combining marks, of a script without spaces.
    Unspaced,
}

/// Types of characters in a word, as bits.
const LOWER: u8 = 1;
const UPPER: u8 = 2;
const DIGIT: u8 = 4;
const SEPARATOR: u8 = 8;

/// Type of each ASCII letter and digit; 0 for every other byte.
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte: u8 = 0;
    while byte < 0x80 {
        kinds[byte as usize] = match byte {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            _ => 0,
        };
        byte += 1;
    }
    kinds
};

/// Iterator over the segments of a text without ignorable characters, in order and without overlap.
pub(super) struct Segments<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Segments<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    fn char_at(&self, at: usize) -> Option<char> {
        self.text[at..].chars().next()
    }

    /// Scans a word that begins at `start` with a character of class `Word`.
    fn word(&mut self, start: usize) -> Segment {
        let bytes = self.text.as_bytes();
        let mut at = start;
        let mut ascii = true;
        // Character types seen so far.
        let mut seen = 0;
        loop {
            while let Some(kind) = bytes.get(at).map(|byte| KINDS[usize::from(*byte)]).filter(|kind| *kind != 0) {
                seen |= kind;
                at += 1;
            }
            match bytes.get(at) {
                Some(b'.') if digit_at(bytes, at.wrapping_sub(1)) && digit_at(bytes, at + 1) && at > start => at += 1,
                Some(b',') if at > start && is_thousands_separator(bytes, start, at) => {
                    seen |= SEPARATOR;
                    at += 1;
                }
                Some(byte) if *byte >= 0x80 => {
                    let Some(c) = self.char_at(at) else { break };
                    if !matches!(class(c), Class::Word | Class::Extend) {
                        break;
                    }
                    ascii = false;
                    at += c.len_utf8();
                }
                _ => break,
            }
        }
        if ascii {
            at = self.with_suffix(start, at);
        }
        self.at = at;
        // A capital only at the start does not make inner parts.
        let mixed = seen & SEPARATOR != 0
            || (seen & DIGIT != 0 && seen & (LOWER | UPPER) != 0)
            || (seen & (LOWER | UPPER) == LOWER | UPPER && bytes[start + 1..at].iter().any(u8::is_ascii_uppercase));
        Segment { bytes: start..at, shape: if ascii { Shape::Ascii { mixed } } else { Shape::Unicode } }
    }

    /// Extends a word by the suffix of names such as `C++`, `g++`, `C#` and `F#`.
    fn with_suffix(&self, start: usize, end: usize) -> usize {
        let bytes = self.text.as_bytes();
        let free = |at: usize| !bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'#'));
        let last_is_letter = bytes[end - 1].is_ascii_alphabetic();
        if last_is_letter && bytes[end..].starts_with(b"++") && !matches!(bytes.get(end + 2), Some(b'+')) {
            end + 2
        } else if last_is_letter && end - start == 1 && bytes.get(end) == Some(&b'#') && free(end + 1) {
            end + 1
        } else {
            end
        }
    }

    /// Scans one character of a script without spaces with its marks.
    fn cluster(&mut self, start: usize, first: char) -> Segment {
        let mut end = start + first.len_utf8();
        // Longer runs of marks are not characters of any script.
        for c in self.text[end..].chars().take(8) {
            if class(c) != Class::Extend && !is_cluster_tail(c) {
                break;
            }
            end += c.len_utf8();
        }
        self.at = end;
        Segment { bytes: start..end, shape: Shape::Unspaced }
    }
}

impl Iterator for Segments<'_> {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        let bytes = self.text.as_bytes();
        loop {
            let byte = *bytes.get(self.at)?;
            if byte.is_ascii_alphanumeric() {
                return Some(self.word(self.at));
            }
            if byte < 0x80 {
                self.at += 1;
                continue;
            }
            let c = self.char_at(self.at)?;
            match class(c) {
                Class::Word => return Some(self.word(self.at)),
                Class::Unspaced => return Some(self.cluster(self.at, c)),
                // Combining mark without a base, symbol or space.
                Class::Extend | Class::Other => self.at += c.len_utf8(),
            }
        }
    }
}

/// Returns true if a word may go on with this character.
pub fn may_continue_word(c: char) -> bool {
    match c.is_ascii() {
        true => c.is_ascii_alphanumeric() || matches!(c, '.' | ',' | '+' | '#'),
        false => matches!(class(c), Class::Word | Class::Extend) || is_cluster_tail(c) || is_ignorable(c),
    }
}

fn digit_at(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_some_and(u8::is_ascii_digit)
}

/// Accepts `1,000` and `12,345,678`, but not the list `1,2` or `2024,100`.
fn is_thousands_separator(bytes: &[u8], start: usize, at: usize) -> bool {
    let three_follow = (1..=3).all(|ahead| digit_at(bytes, at + ahead)) && !digit_at(bytes, at + 4);
    // At most three digits since the start or the previous separator.
    let group = bytes[start..at].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let before = at - group;
    three_follow && (1..=3).contains(&group) && (before == start || bytes[before - 1] == b',')
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Class {
    Word,
    Extend,
    Unspaced,
    Other,
}

/// Returns the class of a character beyond ASCII.
fn class(c: char) -> Class {
    // Latin, Greek and Cyrillic letters first, because they are the most frequent.
    if (c as u32) < 0x530 && c.is_alphabetic() {
        return Class::Word;
    }
    if is_combining_mark(c) {
        return Class::Extend;
    }
    if is_segmented(c) && c.is_alphanumeric() {
        return Class::Unspaced;
    }
    if c.is_alphanumeric() { Class::Word } else { Class::Other }
}

/// Matches letters that are indexed in parts of runs: those of scripts without spaces between words, and Hangul, whose words
/// carry particles that only parts of words can skip. Their decimal digits are ordinary numbers.
fn is_segmented(c: char) -> bool {
    matches!(c,
        // Thai, Lao.
        '\u{e01}'..='\u{e4e}' | '\u{e81}'..='\u{ecf}' | '\u{edc}'..='\u{edf}'
        // Myanmar, Hangul jamo, Khmer.
        | '\u{1000}'..='\u{103f}' | '\u{1050}'..='\u{108f}' | '\u{109a}'..='\u{109f}' | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17dd}' | '\u{a9e0}'..='\u{a9ef}' | '\u{a9fa}'..='\u{a9fe}' | '\u{aa60}'..='\u{aa7f}'
        // Kana, Bopomofo, Han, compatibility jamo.
        | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3031}'..='\u{3035}' | '\u{303b}'
        | '\u{3041}'..='\u{318f}' | '\u{31a0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}'
        // Half-width kana and jamo.
        | '\u{ff66}'..='\u{ffdc}'
        // Kana and Han beyond the basic plane.
        | '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}')
}

/// Matches letters that only continue a character: vowel and final jamo, half-width voicing marks.
fn is_cluster_tail(c: char) -> bool {
    matches!(c, '\u{1160}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7ff}' | '\u{ff9e}' | '\u{ff9f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(text: &str) -> Vec<&str> {
        Segments::new(text).map(|segment| &text[segment.bytes]).collect()
    }

    #[test]
    fn splits_words_numbers_and_names() {
        for (text, expected) in [
            ("Hello, world!", vec!["Hello", "world"]),
            ("NLGI 2 grease", vec!["NLGI", "2", "grease"]),
            ("C++ and C# (not c+, not A#b)", vec!["C++", "and", "C#", "not", "c", "not", "A", "b"]),
            ("C++11", vec!["C++", "11"]),
            ("a+++b", vec!["a", "b"]),
            ("foo_bar-baz", vec!["foo", "bar", "baz"]),
            ("version 3.5, v1.2.3.", vec!["version", "3.5", "v1.2.3"]),
            (
                "1,000 or 12,345,678 or 1,2 or 1,0000",
                vec!["1,000", "or", "12,345,678", "or", "1", "2", "or", "1", "0000"],
            ),
            ("O'Brien’s", vec!["O", "Brien", "s"]),
            ("naïve Ünïcode", vec!["naïve", "Ünïcode"]),
            ("\u{301}a", vec!["a"]),
            ("हिन्दी में", vec!["हिन्दी", "में"]),
            ("2024年の春", vec!["2024", "年", "の", "春"]),
            ("น้ำมัน", vec!["น้", "ำ", "มั", "น"]),
            ("\u{1112}\u{1161}\u{11ab}국", vec!["\u{1112}\u{1161}\u{11ab}", "국"]),
            ("ｶﾞ", vec!["ｶﾞ"]),
            ("😀 ok 👩‍👩‍👧", vec!["ok"]),
            ("", vec![]),
            (".,-", vec![]),
        ] {
            assert_eq!(segments(text), expected, "{text}");
        }
    }

    #[test]
    fn words_may_continue_with_characters_that_are_ignored() {
        for c in ['a', '1', '+', 'é', '\u{301}', '\u{1161}', '\u{ad}', '\u{200b}', '\u{2060}', '\u{200e}', '\u{fe0f}']
        {
            assert!(may_continue_word(c), "{c:?}");
        }
        for c in [' ', '-', '、', '\u{a0}', '\u{2029}'] {
            assert!(!may_continue_word(c), "{c:?}");
        }
    }
}
