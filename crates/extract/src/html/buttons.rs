//! Buttons that are the text of a heading, as in accordions.

use dom_query::{Document, NodeRef};

use super::measure::SILENT;

/// Elements that name the text below them.
const HEADINGS: &str = "h1, h2, h3, h4, h5, h6, [role=heading], summary, dt";

/// Replaces each button that holds all text of a heading by its content. Other buttons are controls.
pub(super) fn unwrap_headings(page: &Document) {
    for heading in page.select(HEADINGS).nodes() {
        let mut labels = Vec::new();
        if !find_labels(heading, &mut labels) {
            continue;
        }
        if let [button] = labels[..]
            && let Some(first) = button.first_child()
        {
            first.unwrap_node();
        }
    }
}

/// Collects the buttons with words. Returns false if there are words beside them, or more than one of them.
fn find_labels<'a>(element: &NodeRef<'a>, labels: &mut Vec<NodeRef<'a>>) -> bool {
    element.children_it(false).all(|child| {
        if child.has_name("button") {
            if shows_words(&child) {
                labels.push(child);
            }
            return labels.len() <= 1;
        }
        match child.node_name() {
            Some(name) => SILENT.contains(&&*name) || find_labels(&child, labels),
            None => !has_words(&child),
        }
    })
}

fn shows_words(element: &NodeRef) -> bool {
    element.children_it(false).any(|child| match child.node_name() {
        Some(name) => !SILENT.contains(&&*name) && shows_words(&child),
        None => has_words(&child),
    })
}

/// Returns true for a text that is more than an arrow or another sign.
fn has_words(node: &NodeRef) -> bool {
    node.is_text() && node.text().contains(char::is_alphanumeric)
}
