//! Raised and lowered text: exponents, marks of notes, ordinals, indexes.

use dom_query::{NodeRef, Selection};

/// Letters that make an ordinal even if there is only one of them: `2e`, `1o`, `3a`.
const ORDINALS: [&str; 3] = ["e", "o", "a"];

/// Returns true for a `sup` or `sub` that would become part of the word in front of it, and change it: `10` and `6` are
/// not 106. Ordinals (1st) and formulas (H2O) are words with their raised or lowered part, and are searched as such.
/// Links to notes keep their own brackets or stand behind a sentence.
pub(super) fn is_distinct(element: &NodeRef, before: &str) -> bool {
    // The end of emphasis or code may stand in between.
    let before = before.trim_end_matches(['*', '~', '`']).chars().next_back();
    let Some(before) = before.filter(|c| c.is_alphanumeric() || matches!(c, ')' | ']' | '}' | '|')) else {
        return false;
    };
    let text = element.text();
    if text.starts_with(char::is_whitespace) || !text.contains(char::is_alphanumeric) {
        return false;
    }
    let text = text.trim();
    let distinct = if element.has_name("sup") {
        !text.chars().all(char::is_alphabetic) || (text.chars().count() == 1 && !ORDINALS.contains(&text))
    } else {
        before.is_numeric() || !text.chars().all(char::is_alphanumeric)
    };
    distinct && !Selection::from(*element).select("a[href]").exists()
}
