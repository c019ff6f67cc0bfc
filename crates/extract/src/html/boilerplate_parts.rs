//! Recognition of boilerplate by the elements around a text.

use dom_query::NodeRef;

use super::marks::{Mark, Names};
use super::node_map::NodeMap;

/// Number of ancestors examined.
const MAX_ANCESTORS: usize = 8;
/// Elements that hold no running text of a page.
const ELEMENTS: [&str; 10] = ["nav", "form", "dialog", "menu", "noscript", "button", "select", "svg", "a", "label"];
/// Roles that hold no running text of a page.
const ROLES: [&str; 10] =
    ["alert", "alertdialog", "dialog", "menu", "menubar", "navigation", "search", "status", "toolbar", "tooltip"];

/// Parts of a page that are boilerplate or not, by element: many elements share their ancestors.
#[derive(Default)]
pub(super) struct BoilerplateParts {
    names: Names,
    known: NodeMap<bool>,
}

impl BoilerplateParts {
    /// Returns true if the element or one of its nearest ancestors is boilerplate.
    pub(super) fn hold(&mut self, element: &NodeRef) -> bool {
        let mut around = std::iter::once(*element).chain(element.ancestors_it(Some(MAX_ANCESTORS)));
        around.any(|node| *self.known.entry(node.id).or_insert_with(|| is_boilerplate(&node, &mut self.names)))
    }
}

fn is_boilerplate(node: &NodeRef, names: &mut Names) -> bool {
    names.mark(node) != Mark::None
        || ELEMENTS.iter().any(|name| node.has_name(name))
        || node.attr("role").is_some_and(|role| ROLES.contains(&&*role))
}
