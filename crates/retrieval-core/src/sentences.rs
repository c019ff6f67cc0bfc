//! Sentence boundaries.
//!
//! A heuristic for all scripts, not a model. A sentence ends with a full stop, question mark or exclamation mark (of
//! any script listed here) and its closing quotes and brackets, followed by white space (not needed in scripts without
//! spaces). After a full stop, the next word must not begin in lowercase, and the word before must not be an initial, a
//! list number or a common abbreviation. In doubt there is no boundary: a missed one makes a passage longer, but a
//! false one splits a sentence.

use std::ops::Range;

use crate::markdown::{self, Kind};

/// Lowercase abbreviations that end in a full stop inside a sentence, without it.
const ABBREVIATIONS: [&str; 25] = [
    "al", "approx", "bzw", "ca", "cf", "co", "corp", "d.h", "dr", "e.g", "etc", "i.e", "inc", "jr", "ltd", "mr", "mrs",
    "ms", "prof", "rev", "sr", "st", "u.a", "vs", "z.b",
];

/// Length in bytes of the longest entry of all lists.
const LONGEST_ABBREVIATION: usize = 6;

/// Abbreviations only before a number: "No. 5", but "He said no."
const NUMBERED: [&str; 15] =
    ["abb", "art", "col", "ed", "eq", "fig", "figs", "no", "nr", "op", "p", "pp", "sec", "tab", "vol"];

/// Abbreviations only after a number: "12,5 Mio. Euro", but "È mio."
const COUNTED: [&str; 2] = ["mio", "mrd"];

/// Returns the byte ranges of the sentences of Markdown or plain text, in order, with the white space after them. List
/// items begin a sentence; a table row and a line of code are one each. Headings and marks between blocks are left out.
pub fn units(text: &str) -> Vec<Range<usize>> {
    let mut units = Vec::new();
    let mut paragraph = 0..0;
    let flush = |paragraph: &mut Range<usize>, units: &mut Vec<Range<usize>>| {
        let range = std::mem::take(paragraph);
        let mut from = range.start;
        for start in starts(&text[range.clone()]).map(|start| range.start + start).chain([range.end]) {
            if start > from {
                units.push(from..start);
            }
            from = start;
        }
    };
    for line in markdown::lines(text) {
        match line.kind {
            Kind::Text if !paragraph.is_empty() => paragraph.end = line.range.end,
            Kind::Text | Kind::Item => {
                flush(&mut paragraph, &mut units);
                paragraph = line.range;
            }
            // A heading locates the text but is not its content, and results show it separately.
            Kind::Heading { .. }
            | Kind::Blank
            | Kind::Underline
            | Kind::TableRule
            | Kind::ThematicBreak
            | Kind::FenceOpen
            | Kind::FenceClose
            | Kind::Definition => flush(&mut paragraph, &mut units),
            Kind::Code | Kind::IndentedCode | Kind::TableRow | Kind::FrontMatter => {
                flush(&mut paragraph, &mut units);
                units.push(line.range);
            }
        }
    }
    flush(&mut paragraph, &mut units);
    units
}

/// Returns the byte offsets in `text` at which sentences begin, ascending, without 0 and the end. White space between
/// two sentences belongs to the first.
pub(crate) fn starts(text: &str) -> impl Iterator<Item = usize> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(at) = next_terminator(text, from) {
            let mut end = at;
            let mut last = '.';
            for (offset, character) in text[at..].char_indices() {
                if !(is_terminator(character) || is_closing(character)) {
                    break;
                }
                if is_terminator(character) {
                    last = character;
                }
                end = at + offset + character.len_utf8();
            }
            let next = text.len() - text[end..].trim_start().len();
            from = end;
            if next == text.len() {
                return None;
            }
            let breaks = match last {
                '。' | '！' | '？' | '｡' | '．' => true,
                _ if next == end => false,
                '.' => !starts_lowercase(&text[next..]) && !is_abbreviation(&text[..at], &text[next..]),
                _ => true,
            };
            if breaks {
                from = next;
                return Some(next);
            }
        }
        None
    })
}

/// Returns the place of the next terminator from a character boundary on.
fn next_terminator(text: &str, mut from: usize) -> Option<usize> {
    loop {
        // Most characters are ASCII, which are compared without being decoded.
        from += text.as_bytes()[from..].iter().position(|byte| matches!(byte, b'.' | b'!' | b'?' | 0x80..))?;
        let character = text[from..].chars().next()?;
        if is_terminator(character) {
            return Some(from);
        }
        from += character.len_utf8();
    }
}

fn is_terminator(character: char) -> bool {
    matches!(
        character,
        '.' | '!'
            | '?'
            | '…'
            | '。'
            | '！'
            | '？'
            | '｡'
            | '．'
            | '।'
            | '॥'
            | '؟'
            | '۔'
            | '።'
            | '፧'
            | '។'
            | '။'
            | '‼'
            | '⁇'
            | '⁈'
            | '⁉'
    )
}

fn is_closing(character: char) -> bool {
    matches!(
        character,
        ')' | ']' | '}' | '"' | '\'' | '”' | '’' | '»' | '›' | '」' | '』' | '）' | '】' | '》' | '*' | '_'
    )
}

fn starts_lowercase(text: &str) -> bool {
    text.chars().next().is_some_and(char::is_lowercase)
}

/// Returns true if a full stop between `text` and `next` belongs to the last word.
fn is_abbreviation(text: &str, next: &str) -> bool {
    // No abbreviation is longer. Without a bound, a text without spaces would be scanned again for every full stop.
    const MAX_SCAN: usize = 16;
    let mut start = text.len();
    for (offset, character) in text.char_indices().rev().take(MAX_SCAN) {
        if !(character.is_alphanumeric() || character == '.') {
            break;
        }
        start = offset;
    }
    let word = &text[start..];
    let mut characters = word.chars();
    let initial = characters.next().is_some_and(char::is_uppercase) && characters.next().is_none();
    let at_line_start = text[..start].chars().rev().find(|character| !matches!(character, ' ' | '\t'));
    let number = !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_digit())
        && at_line_start.is_none_or(|character| character == '\n');
    if initial || number {
        return true;
    }
    if word.is_empty() || word.len() > LONGEST_ABBREVIATION {
        return false;
    }
    let lower = word.to_lowercase();
    let is_counted = || text[..start].trim_end_matches([' ', '\u{a0}', '\u{202f}']).ends_with(char::is_numeric);
    ABBREVIATIONS.binary_search(&&*lower).is_ok()
        || (COUNTED.contains(&&*lower) && is_counted())
        || (next.starts_with(|character: char| character.is_ascii_digit()) && NUMBERED.binary_search(&&*lower).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sentences_are_found_in_many_scripts() {
        assert!(ABBREVIATIONS.is_sorted() && NUMBERED.is_sorted(), "required by binary search");
        let all = || ABBREVIATIONS.iter().chain(&NUMBERED).chain(&COUNTED);
        assert!(all().all(|word| word.len() <= LONGEST_ABBREVIATION));
        for expected in [
            vec!["One. ", "Two! ", "Three? ", "four"],
            vec!["He said \"no.\" ", "She left."],
            vec!["See Fig. 3 and Dr. J. Smith, e.g. this. ", "Next."],
            vec!["Version 3.5 is out... ", "Really."],
            vec!["It ended. and so on"],
            vec!["Es sind 12,5 Mio. Euro und 3 Mrd. Dollar. ", "Das ist viel."],
            vec!["Il cane è mio. ", "Lui abbaia."],
            vec!["1. First item"],
            vec!["It was 1999. ", "Then came 2000."],
            vec!["これは文です。", "次の文！", "「はい。」", "終わり"],
            vec!["यह है। ", "वह है।"],
            vec!["Ja.\n\n", "Nein."],
            vec!["no end"],
        ] {
            let text = expected.concat();
            let mut parts = Vec::new();
            let mut from = 0;
            for start in starts(&text).chain([text.len()]) {
                parts.push(&text[from..start]);
                from = start;
            }
            assert_eq!(parts, expected);
        }
    }

    proptest! {
        #[test]
        fn starts_ascend_at_character_boundaries(text in "[a-zA. !?。」\"\n]{0,80}") {
            let mut before = 0;
            for start in starts(&text) {
                prop_assert!(start > before && start < text.len() && text.is_char_boundary(start));
                before = start;
            }
        }
    }
}
