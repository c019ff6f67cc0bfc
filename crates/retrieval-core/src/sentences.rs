//! Where sentences begin.
//!
//! A rule of thumb for all scripts, not a model: a break is a full stop, question or exclamation mark (of any of the
//! scripts listed here) with its closing quotes and brackets, then white space (not needed in scripts without spaces).
//! After a full stop, the next word must not begin in lower case and the word before must not be an initial, a list
//! number or a common abbreviation. A missed break costs a longer passage; a false one would cut a sentence, so
//! doubt means no break.

/// Words that end in a full stop inside a sentence, lower case, without it.
const ABBREVIATIONS: [&str; 25] = [
    "al", "approx", "bzw", "ca", "cf", "co", "corp", "d.h", "dr", "e.g", "etc", "i.e", "inc", "jr", "ltd", "mr", "mrs",
    "ms", "prof", "rev", "sr", "st", "u.a", "vs", "z.b",
];

/// Bytes of the longest entry of both lists.
const LONGEST_ABBREVIATION: usize = 6;

/// The same before a number only: "No. 5", but "He said no."
const NUMBERED: [&str; 15] =
    ["abb", "art", "col", "ed", "eq", "fig", "figs", "no", "nr", "op", "p", "pp", "sec", "tab", "vol"];

/// The byte offsets in `text` at which a sentence begins, rising, without 0 and the end. White space between two
/// sentences belongs to the first.
pub(crate) fn starts(text: &str) -> impl Iterator<Item = usize> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(found) = text[from..].find(is_terminator) {
            let at = from + found;
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
                '.' => !begins_low(&text[next..]) && !is_abbreviation(&text[..at], &text[next..]),
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

fn begins_low(text: &str) -> bool {
    text.chars().next().is_some_and(char::is_lowercase)
}

/// Whether a full stop between `text` and `next` belongs to the last word.
fn is_abbreviation(text: &str, next: &str) -> bool {
    // No abbreviation is longer; without a bound, a text without spaces would be read again for every full stop.
    const LONGEST: usize = 16;
    let mut start = text.len();
    for (offset, character) in text.char_indices().rev().take(LONGEST) {
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
    ABBREVIATIONS.binary_search(&&*lower).is_ok()
        || (next.starts_with(|character: char| character.is_ascii_digit()) && NUMBERED.binary_search(&&*lower).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sentences_are_found_in_many_scripts() {
        assert!(ABBREVIATIONS.is_sorted() && NUMBERED.is_sorted(), "looked up by binary search");
        let all = || ABBREVIATIONS.iter().chain(&NUMBERED);
        assert!(all().all(|word| word.len() <= LONGEST_ABBREVIATION));
        for expected in [
            vec!["One. ", "Two! ", "Three? ", "four"],
            vec!["He said \"no.\" ", "She left."],
            vec!["See Fig. 3 and Dr. J. Smith, e.g. this. ", "Next."],
            vec!["Version 3.5 is out... ", "Really."],
            vec!["It ended. and so on"],
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
        fn starts_rise_and_are_characters(text in "[a-zA. !?。」\"\n]{0,80}") {
            let mut before = 0;
            for start in starts(&text) {
                prop_assert!(start > before && start < text.len() && text.is_char_boundary(start));
                before = start;
            }
        }
    }
}
