//! Forms with fields for text: comments, newsletters, search, contact.

use dom_query::{NodeRef, Selection};

/// Fields that a visitor types into.
const FIELDS: &str = "textarea, input:not([type]), input[type=text], input[type=email], input[type=password], \
     input[type=search], input[type=tel], input[type=url]";
/// Elements that are more than a form: old systems wrap the whole page in a form.
const PAGE: &str = "h1, article, main";

/// Returns the forms with fields for text. Their labels and notes are not content.
pub(super) fn find<'a>(page: &Selection<'a>) -> Vec<NodeRef<'a>> {
    let forms = page.select("form");
    let is_form = |form: &&NodeRef<'a>| {
        let inside = Selection::from(**form);
        inside.select(FIELDS).exists() && !inside.select(PAGE).exists()
    };
    forms.nodes().iter().filter(is_form).copied().collect()
}
