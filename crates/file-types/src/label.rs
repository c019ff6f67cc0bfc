//! Labels that owners give to their files.

use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization;

/// Maximum length of a label in characters.
pub const MAX_CHARS: usize = 64;

/// Returns the label as it is stored: in NFC, without surrounding white space. `None` if it is empty, longer than
/// [`MAX_CHARS`], or contains control characters. Normalizing twice changes nothing.
pub fn normalize(label: &str) -> Option<String> {
    let label: String = label.trim().nfc().collect();
    let is_valid = !label.is_empty() && label.chars().count() <= MAX_CHARS && !label.contains(char::is_control);
    is_valid.then_some(label)
}

/// Drops repetitions, which may differ in case, and keeps the first of each.
pub fn unique(labels: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    labels.into_iter().filter(|label| seen.insert(fold(label))).collect()
}

/// Returns the form in which labels are compared, regardless of case.
pub fn fold(label: &str) -> String {
    label.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_normalized_or_refused() {
        for (label, expected) in [
            ("finance", Some("finance")),
            (" Q3 2026\t", Some("Q3 2026")),
            ("e\u{301}te\u{301}", Some("été")),
            ("a,b \"c\"", Some("a,b \"c\"")),
            ("", None),
            (" \n ", None),
            ("a\nb", None),
            ("a\0", None),
        ] {
            assert_eq!(normalize(label).as_deref(), expected, "{label:?}");
        }
        let longest = "😀".repeat(MAX_CHARS);
        assert_eq!(normalize(&longest), Some(longest.clone()));
        assert_eq!(normalize(&format!("{longest}x")), None);
    }

    #[test]
    fn repetitions_are_dropped_regardless_of_case() {
        let labels = ["Finance", "Q3", "finance", "q3"].map(str::to_owned);
        assert_eq!(unique(labels), ["Finance", "Q3"]);
    }

    #[test]
    fn case_is_folded_in_every_script() {
        assert_eq!(fold("Élan ÄÖ Ω"), fold("ÉLAN äö ω"));
        assert_ne!(fold("elan"), fold("élan"));
    }
}
