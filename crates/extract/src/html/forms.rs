//! Removal of forms: comments, newsletters, search, contact.

use dom_query::{NodeRef, Selection};

use super::measure::Measures;

/// Fields that a visitor types into.
const FIELDS: &str = "textarea, input:not([type]), input[type=text], input[type=email], input[type=password], \
     input[type=search], input[type=tel], input[type=url]";
/// Elements that are more than a form: old systems wrap the whole page in a form.
const PAGE: &str = "h1, article, main";
/// Maximum weight of a form's text, and its maximum share of the page's text.
const MAX_TEXT: f64 = 1500.0;
const MAX_SHARE: f64 = 0.3;

/// Removes forms with fields for text, because their labels and notes are not content.
pub(super) fn remove(body: &NodeRef) {
    let page = Selection::from(*body);
    let forms = page.select("form");
    if !forms.exists() {
        return;
    }
    let measures = Measures::of(body);
    let limit = (measures.get(body).text * MAX_SHARE).min(MAX_TEXT);
    for form in forms.nodes() {
        let inside = Selection::from(*form);
        if measures.get(form).text <= limit && inside.select(FIELDS).exists() && !inside.select(PAGE).exists() {
            form.remove_from_parent();
        }
    }
}
