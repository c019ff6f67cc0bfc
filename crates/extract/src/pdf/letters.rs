//! Letters that ligatures and contextual forms stand for.
//!
//! Fonts name their glyphs so. It looks right, but no search for the letters finds it, and no quotation equals it.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Returns the letters of a Latin ligature or of an Arabic presentation form, in logical order; any other character as it is.
pub(super) fn letters(c: char) -> impl Iterator<Item = char> {
    let is_form = matches!(c, '\u{fb00}'..='\u{fb06}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}');
    // The compatibility form of an isolated mark begins with a space.
    let form = is_form.then(|| c.nfkc().skip_while(|letter| *letter == ' '));
    form.into_iter().flatten().chain((!is_form).then_some(c))
}

/// Matches marks that combine with a letter, in any form.
pub(super) fn is_mark(c: char) -> bool {
    letters(c).all(is_combining_mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ligatures_and_forms_become_letters_and_other_characters_stay() {
        for (source, text) in [
            ("\u{fb00}\u{fb01}\u{fb02}\u{fb03}\u{fb04}\u{fb05}\u{fb06}", "fffiflffifflstst"),
            // Beh in the middle, lam-alef, the word Allah.
            ("\u{fe92}\u{fefb}\u{fdf2}", "\u{628}\u{644}\u{627}\u{627}\u{644}\u{644}\u{647}"),
            // Shadda alone, and with a fatha.
            ("\u{fe7c}\u{fc60}", "\u{651}\u{64e}\u{651}"),
            // Parentheses and the marks of the layout are no letters.
            ("\u{fd3e}\u{fdd0}\u{fdd1}\u{fdd2}", "\u{fd3e}\u{fdd0}\u{fdd1}\u{fdd2}"),
            ("a \u{fb13}½\u{e9}\u{2163}", "a \u{fb13}½\u{e9}\u{2163}"),
        ] {
            let read: String = source.chars().flat_map(letters).collect();
            assert_eq!(read, text, "{source}");
        }
    }

    #[test]
    fn marks_are_known_in_all_forms() {
        for mark in ['\u{301}', '\u{5b8}', '\u{651}', '\u{947}', '\u{fe7c}', '\u{fc60}'] {
            assert!(is_mark(mark), "{mark:?}");
        }
        for other in ['a', ' ', '-', '\u{628}', '\u{fe92}', '\u{fb01}', '\u{ad}'] {
            assert!(!is_mark(other), "{other:?}");
        }
    }
}
