//! Raised and lowered text: exponents, marks of notes, ordinals, indexes.

use dom_query::{NodeRef, Selection};

use crate::literal::{Shift, word_end};

/// Returns true for a `sup` or `sub` that is distinct from the word in front of it ([`Shift::is_distinct`]). Links to notes
/// keep their own brackets or stand behind a sentence; behind a number they are distinct too.
pub(super) fn is_distinct(element: &NodeRef, before: &str) -> bool {
    let shift = if element.has_name("sup") { Shift::Raised } else { Shift::Lowered };
    let text = element.text();
    shift.is_distinct(before, &text)
        && (continues_number(before, &text) || !Selection::from(*element).select("a[href]").exists())
}

/// Returns true for a text that would be read as part of the number in front of it: 1987 and the note 2 are not 19872.
pub(super) fn continues_number(before: &str, text: &str) -> bool {
    word_end(before).is_some_and(char::is_numeric) && text.trim_start().starts_with(char::is_alphanumeric)
}
