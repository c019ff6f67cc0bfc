//! Normal forms of a word: lowercase compatibility form, and that form without diacritics.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use super::MAX_TERM_BYTES;

/// Truncates a term to at most [`MAX_TERM_BYTES`], at a character boundary.
pub(super) fn truncate(term: &mut String) {
    if term.len() > MAX_TERM_BYTES {
        term.truncate(term.floor_char_boundary(MAX_TERM_BYTES));
    }
}

/// Appends the lowercase NFKC form of a word, reduced to letters, digits and combining marks.
///
/// Unifies letters with two spellings that readers treat as one: final sigma, Cyrillic `ё` (usually written `е`), and
/// digits of other scripts.
pub(super) fn lower_into(source: &str, out: &mut String) {
    // This much always fills a term; a pathological "word" may be megabytes long.
    let source = &source[..source.floor_char_boundary(8 * MAX_TERM_BYTES)];
    let lower =
        source.nfkc().flat_map(char::to_lowercase).map(unify).filter(|c| c.is_alphanumeric() || is_kept_mark(*c));
    // Lowercasing may produce a base and a mark that have a composed form.
    out.extend(lower.nfc());
}

fn is_kept_mark(c: char) -> bool {
    is_combining_mark(c)
}

fn unify(c: char) -> char {
    match c {
        'ς' => 'σ',
        'ё' => 'е',
        // Decimal digits whose blocks start at these code points.
        '\u{660}'..='\u{669}' => digit(c, 0x660),
        '\u{6f0}'..='\u{6f9}' => digit(c, 0x6f0),
        '\u{966}'..='\u{96f}' => digit(c, 0x966),
        '\u{9e6}'..='\u{9ef}' => digit(c, 0x9e6),
        '\u{e50}'..='\u{e59}' => digit(c, 0xe50),
        '\u{ed0}'..='\u{ed9}' => digit(c, 0xed0),
        '\u{1040}'..='\u{1049}' => digit(c, 0x1040),
        '\u{17e0}'..='\u{17e9}' => digit(c, 0x17e0),
        _ => c,
    }
}

fn digit(c: char, zero: u32) -> char {
    char::from_digit(c as u32 - zero, 10).unwrap_or(c)
}

/// Appends the word without diacritics. Letters that Unicode does not decompose but that users type without their
/// stroke or ligature are transliterated (`ø`, `ł`, `æ`, `ß`). Cyrillic is unchanged, because `й` and `ї` are separate
/// letters. Vowel signs of Indic scripts are not diacritics and stay.
pub(super) fn fold_into(lower: &str, out: &mut String) {
    if lower.is_ascii() {
        out.push_str(lower);
        return;
    }
    for c in lower.chars() {
        match c {
            '\0'..='\u{7f}' | '\u{400}'..='\u{52f}' | '\u{3040}'..='\u{d7a3}' => out.push(c),
            'ß' => out.push_str("ss"),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'ø' => out.push('o'),
            'đ' | 'ð' => out.push('d'),
            'ł' => out.push('l'),
            'ħ' => out.push('h'),
            'ı' => out.push('i'),
            'þ' => out.push_str("th"),
            _ => decompose_canonical(c, |part| {
                if !is_diacritic(part) {
                    out.push(part);
                }
            }),
        }
    }
    if out.is_empty() {
        // Only diacritics: keep them, because terms must not be empty.
        out.push_str(lower);
    }
}

fn is_diacritic(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
        | '\u{fe20}'..='\u{fe2f}'
        // Hebrew points; Arabic vowel signs, Quranic marks and the elongation character tatweel.
        | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}'
        | '\u{610}'..='\u{61a}' | '\u{640}' | '\u{64b}'..='\u{65f}' | '\u{670}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lower(word: &str) -> String {
        let mut out = String::new();
        lower_into(word, &mut out);
        out
    }

    fn fold(word: &str) -> String {
        let mut out = String::new();
        fold_into(&lower(word), &mut out);
        out
    }

    #[test]
    fn equivalent_spellings_fold_to_one_form() {
        for (word, folded) in [
            ("Crème", "creme"),
            ("Cre\u{300}me", "creme"),
            ("STRASSE", "strasse"),
            ("Straße", "strasse"),
            ("ŁÓDŹ", "lodz"),
            ("Ærø", "aero"),
            ("İstanbul", "istanbul"),
            ("ΣΟΦΟΣ", "σοφοσ"),
            ("σοφός", "σοφοσ"),
            ("ёлка", "елка"),
            ("йод", "йод"),
            ("ＡＢＣ１２", "abc12"),
            ("ﬁne", "fine"),
            ("٣٥", "35"),
            ("أحمد", "احمد"),
            ("co\u{ad}operate", "cooperate"),
        ] {
            assert_eq!(fold(word), folded, "{word}");
        }
    }

    #[test]
    fn vowel_signs_are_kept() {
        assert_eq!(fold("हिन्दी"), "हिन्दी");
        assert_ne!(fold("कि"), fold("कु"));
    }
}
