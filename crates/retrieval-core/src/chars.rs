//! Character offsets (Unicode scalar values), the unit of every offset and length on the wire.
//!
//! Rust strings are indexed by bytes. Each function makes one pass over the bytes before the offset, counted in blocks
//! that the compiler vectorizes, so that a continuation read at the end of a 100 MB document takes milliseconds.

use unicode_normalization::char::is_combining_mark;

/// Bytes counted at once before the offset is located byte by byte.
const BLOCK: usize = 1024;

/// Matches scripts without spaces between words, and their punctuation.
pub(crate) fn is_unspaced(character: char) -> bool {
    matches!(u32::from(character),
        0x0E00..=0x0EFF // Thai, Lao
        | 0x1000..=0x109F // Myanmar
        | 0x1780..=0x17FF // Khmer
        | 0x2E80..=0x30FF // CJK radicals, punctuation, Hiragana, Katakana
        | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF
        | 0xF900..=0xFAFF
        | 0xFF00..=0xFFEF // full-width forms
        | 0x20000..=0x3FFFF)
}

/// Returns true if a part of a text can end between two adjacent characters: beside white space, and beside a character of a
/// script without spaces, unless that splits a letter, or a number or word in full-width forms.
pub(crate) fn can_end_between(before: char, after: char) -> bool {
    if before.is_whitespace() || after.is_whitespace() {
        return true;
    }
    let is_inside_word = is_full_width_alphanumeric(before) && is_full_width_alphanumeric(after);
    let is_inside_letter = joins_next(before) || joins_previous(after);
    (is_unspaced(before) || is_unspaced(after)) && !is_inside_word && !is_inside_letter
}

fn is_full_width_alphanumeric(character: char) -> bool {
    matches!(character, '\u{ff10}'..='\u{ff19}' | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}')
}

/// Matches characters that are written as a part of the next letter: vowels before their consonant in Thai and Lao, and the
/// signs of stacked consonants in Myanmar and Khmer.
fn joins_next(character: char) -> bool {
    matches!(character, '\u{e40}'..='\u{e44}' | '\u{ec0}'..='\u{ec4}' | '\u{1039}' | '\u{17d2}')
}

/// Matches marks, and other characters that continue the letter before: `am` in Thai and Lao, half-width voicing marks, and
/// joiners.
fn joins_previous(character: char) -> bool {
    is_combining_mark(character)
        || matches!(character, '\u{e33}' | '\u{eb3}' | '\u{ff9e}' | '\u{ff9f}' | '\u{200c}' | '\u{200d}')
}

/// Counts the characters of `content`.
pub fn count(content: &str) -> usize {
    content.as_bytes().chunks(BLOCK).map(starts).sum()
}

/// Returns the byte offset of the character at `position`, or the length of `content` if it is shorter.
pub fn byte_offset(content: &str, position: usize) -> usize {
    let bytes = content.as_bytes();
    let mut offset = 0;
    let mut left = position;
    for block in bytes.chunks(BLOCK) {
        let here = starts(block);
        if here > left {
            let mut seen = 0;
            for (index, byte) in block.iter().enumerate() {
                if is_start(*byte) {
                    if seen == left {
                        return offset + index;
                    }
                    seen += 1;
                }
            }
        }
        left -= here;
        offset += block.len();
    }
    bytes.len()
}

/// Returns at most `max` characters of `content` from character `start`, and their number.
///
/// A `start` beyond the end yields an empty text and 0. Any values up to `usize::MAX` are valid.
pub fn slice(content: &str, start: usize, max: usize) -> (&str, usize) {
    let rest = &content[byte_offset(content, start)..];
    let text = &rest[..byte_offset(rest, max)];
    (text, count(text))
}

/// Returns the first `max` characters of `content`.
pub fn truncate(content: &str, max: usize) -> &str {
    &content[..byte_offset(content, max)]
}

/// Counts the bytes that start a character: all but the continuation bytes `10xxxxxx`.
fn starts(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| is_start(**byte)).count()
}

fn is_start(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn slices_by_characters() {
        assert_eq!(slice("añ😀z", 1, 2), ("ñ😀", 2));
        assert_eq!(slice("añ😀z", 3, usize::MAX), ("z", 1));
        assert_eq!(slice("añ😀z", 4, 1), ("", 0));
        assert_eq!(slice("añ😀z", usize::MAX, usize::MAX), ("", 0));
        assert_eq!(slice("", 0, 5), ("", 0));
        assert_eq!(truncate("añ😀z", 3), "añ😀");
    }

    #[test]
    fn parts_end_between_words_and_letters() {
        let can_end_at_bar = |text: &str| {
            let (before, after) = text.split_once('|').unwrap_or_default();
            let around = before.chars().next_back().zip(after.chars().next());
            around.is_some_and(|(before, after)| can_end_between(before, after))
        };
        for text in
            ["于2008|年", "提供|API", "泵|，", "ab |cd", "ab|\u{3000}cd", "น้ำ|มั", "เก|า", "２０|年", "ｶﾞ|ｽ", "ក្រ|ម"]
        {
            assert!(can_end_at_bar(text), "{text}");
        }
        for text in ["20|08", "A|PI", "น|้", "น้|ำ", "เ|ก", "２|０", "ｶ|ﾞ", "ក្|រ", "か|\u{3099}", "한|국", "a|\u{301}"]
        {
            assert!(!can_end_at_bar(text), "{text}");
        }
    }

    #[test]
    fn offsets_beyond_one_block_are_located() {
        let text = "é".repeat(3 * BLOCK);
        assert_eq!(byte_offset(&text, BLOCK + 1), 2 * (BLOCK + 1));
        assert_eq!(slice(&text, 2 * BLOCK - 1, 3).1, 3);
    }

    proptest! {
        #[test]
        fn agrees_with_the_standard_library(text in "\\PC{0,80}", start in 0usize..90, max in 0usize..90) {
            let expected: String = text.chars().skip(start).take(max).collect();
            prop_assert_eq!(slice(&text, start, max), (expected.as_str(), expected.chars().count()));
            prop_assert_eq!(count(&text), text.chars().count());
        }

        #[test]
        fn continuation_reads_reassemble_the_content(text in "(?s).{0,300}", step in 1usize..50) {
            let (mut start, mut read) = (0, String::new());
            loop {
                let (part, length) = slice(&text, start, step);
                if length == 0 {
                    break;
                }
                read.push_str(part);
                start += length;
            }
            prop_assert_eq!(read, text);
        }
    }
}
