//! Characters that readers do not see and that are part of no word.
//!
//! A text is analysed without its default ignorable code points, which Unicode's NFKC_Casefold and so Lucene's `ICUFoldingFilter`
//! remove, too: soft hyphens, joiners, marks of direction, variation selectors. The joiners of Indic scripts and of Persian
//! are among them: they select forms of letters, and many readers do not type them.

use std::borrow::Cow;
use std::ops::Range;

const ZERO_WIDTH_SPACE: char = '\u{200b}';

/// Returns the text as it is analysed.
pub(super) fn without_ignorable(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::new();
    let mut copied = 0;
    for (at, c) in text.char_indices().filter(|(at, c)| is_ignored(text, *at, *c)) {
        kept.push_str(&text[copied..at]);
        copied = at + c.len_utf8();
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(&text[copied..]);
    Cow::Owned(kept)
}

/// Places in a text of places in what [`without_ignorable`] returns for it.
///
/// Walks from the place before to the next one, because tokens follow each other. A table would be several times as long as a
/// text with many such characters.
pub(super) struct Origins<'t> {
    text: &'t str,
    /// Offset in the analysed text.
    kept: usize,
    /// Offset in the text of the character at `kept`, or the length of the text.
    at: usize,
}

impl<'t> Origins<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut origins = Self { text, kept: 0, at: 0 };
        origins.pass_ignored();
        origins
    }

    /// Returns the bytes of the text from the first of these characters to the one behind them: with the ignored ones after each.
    pub(super) fn range(&mut self, kept: &Range<usize>) -> Range<usize> {
        self.origin(kept.start)..self.origin(kept.end)
    }

    fn origin(&mut self, kept: usize) -> usize {
        while self.kept < kept
            && let Some(c) = self.next_char()
        {
            self.kept += c.len_utf8();
            self.at += c.len_utf8();
            self.pass_ignored();
        }
        while self.kept > kept
            && let Some(c) = self.text[..self.at].chars().next_back()
        {
            self.at -= c.len_utf8();
            self.kept -= if is_ignored(self.text, self.at, c) { 0 } else { c.len_utf8() };
        }
        self.at
    }

    fn pass_ignored(&mut self) {
        while let Some(c) = self.next_char().filter(|c| is_ignored(self.text, self.at, *c)) {
            self.at += c.len_utf8();
        }
    }

    fn next_char(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }
}

/// Returns true if the analysis passes over the character `c` at byte `at`.
///
/// A zero-width space ends a word for UAX #29. But in most scripts it only lets a line end inside a long word, and HTML is read
/// without it. So it ends a word only beside a letter of a script that writes it between words. Scripts of which each
/// character is a segment need no end of a word: there, a query without it has the same bigrams.
fn is_ignored(text: &str, at: usize, c: char) -> bool {
    if c != ZERO_WIDTH_SPACE {
        return is_ignorable(c);
    }
    let before = text[..at].chars().next_back();
    let after = text[at + c.len_utf8()..].chars().next();
    !before.into_iter().chain(after).any(is_separated)
}

/// Matches the code points with the property Default_Ignorable_Code_Point.
pub(super) fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Matches letters of scripts without spaces whose runs are words for the segmentation.
fn is_separated(c: char) -> bool {
    matches!(c,
        // Tai Le, New Tai Lue, Buginese, Tai Tham; Balinese; Batak.
        '\u{1950}'..='\u{1aaf}' | '\u{1b00}'..='\u{1b7f}' | '\u{1bc0}'..='\u{1bff}'
        // Javanese, Cham, Tai Viet, Ahom.
        | '\u{a980}'..='\u{a9df}' | '\u{aa00}'..='\u{aa5f}' | '\u{aa80}'..='\u{aadf}' | '\u{11700}'..='\u{1174f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ignorable_characters_are_left_out() {
        for (text, expected) in [
            ("", ""),
            ("\u{200b}", ""),
            ("co\u{ad}operate", "cooperate"),
            ("\u{feff}long\u{200b}\u{200b}word\u{2060}", "longword"),
            ("\u{61c}٣\u{200f} 3\u{202c}", "٣ 3"),
            ("می\u{200c}خواهم", "میخواهم"),
            ("葛\u{e0100}❤\u{fe0f}", "葛❤"),
            ("ก\u{200b}ข", "กข"),
            ("ꦗꦮ\u{200b}ꦧꦱ", "ꦗꦮ\u{200b}ꦧꦱ"),
            ("ꦗ\u{2060}ꦮ\u{200b}\u{200b}\u{ad}", "ꦗꦮ\u{200b}"),
        ] {
            assert_eq!(without_ignorable(text), expected, "{text:?}");
            assert_eq!(without_ignorable(expected), expected, "{text:?}");
        }
    }

    #[test]
    fn text_without_them_is_not_copied() {
        for text in ["", "plain", "naïve 東京 e\u{301} a\u{2029}b"] {
            assert!(matches!(without_ignorable(text), Cow::Borrowed(_)), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn places_are_found_in_any_order(
            text in "[aé東\u{200b}\u{ad}\u{e0100}\u{a997} ]{0,20}",
            order in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        ) {
            let mut kept = String::new();
            let mut places = Vec::new();
            for (at, c) in text.char_indices().filter(|(at, c)| !is_ignored(&text, *at, *c)) {
                places.push((kept.len(), at));
                kept.push(c);
            }
            places.push((kept.len(), text.len()));
            prop_assert_eq!(without_ignorable(&text), &*kept);
            let mut origins = Origins::new(&text);
            for index in order {
                let (kept, at) = *index.get(&places);
                prop_assert_eq!(origins.origin(kept), at);
            }
        }
    }
}
