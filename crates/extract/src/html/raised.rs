//! Raised and lowered text: exponents, marks of notes, ordinals, indexes.

use dom_query::{NodeRef, Selection};

use crate::literal::Shift;

/// Returns true for a `sup` or `sub` that is distinct from the word in front of it ([`Shift::is_distinct`]). Links to notes
/// keep their own brackets or stand behind a sentence.
pub(super) fn is_distinct(element: &NodeRef, before: &str) -> bool {
    let shift = if element.has_name("sup") { Shift::Raised } else { Shift::Lowered };
    shift.is_distinct(before, &element.text()) && !Selection::from(*element).select("a[href]").exists()
}
