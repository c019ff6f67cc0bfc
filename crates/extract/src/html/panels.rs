//! Panels of tabs and accordions: closed elements that a control of the page opens.
//!
//! No reader of a page can tell what its scripts do on a click. A control that visitors see and can press is taken for
//! what it says, because the text behind it is as easy to reach as that of a closed `details` element.

use std::collections::{HashMap, HashSet};

use dom_query::{Document, NodeId, NodeRef};

use super::measure::{SILENT, is_heading};
use super::node_map::{NodeMap, NodeSet};

/// Attributes of a control that name a panel as `#id`.
const TARGETS: [&str; 3] = ["data-target", "data-bs-target", "href"];
/// Maximum number of closed elements around a panel. All of them are searched for its control.
pub(super) const MAX_NESTED: usize = 8;
/// Maximum number of nodes of a control or heading, and of characters of a text in it, that are searched for words.
const MAX_LABEL_NODES: usize = 64;
const MAX_LABEL_CHARS: usize = 256;

/// Returns the closed elements that a control opens. Hidden controls must be removed before: they open nothing.
pub(super) fn opened(page: &Document, closed: &NodeSet) -> NodeSet {
    let mut search = Search {
        closed,
        around: NodeMap::default(),
        first: HashMap::new(),
        named: HashSet::new(),
        opened: NodeSet::default(),
    };
    if closed.is_empty() {
        return search.opened;
    }
    search.element(&page.html_root(), None, &mut 0);
    // Scripts find the first element of an id.
    let named: Vec<NodeId> =
        search.first.iter().filter(|(id, panel)| search.is_named(id, **panel)).map(|(_, panel)| *panel).collect();
    search.opened.extend(named);
    search.opened
}

struct Search<'c> {
    closed: &'c NodeSet,
    /// The nearest closed element around each closed element.
    around: NodeMap<Option<NodeId>>,
    /// First element of each id.
    first: HashMap<String, NodeId>,
    /// Ids that controls name, with the nearest closed element around the control.
    named: HashSet<(String, Option<NodeId>)>,
    opened: NodeSet,
}

impl Search<'_> {
    /// Searches an element. `tabs` is the number of tabs before it that have no panel yet.
    fn element(&mut self, element: &NodeRef, mut around: Option<NodeId>, tabs: &mut usize) {
        if let Some(id) = element.attr("id") {
            self.first.entry(id.to_string()).or_insert(element.id);
        }
        if is_control(element) {
            let ids = targets(element);
            self.named.extend(ids.into_iter().map(|id| (id, around)));
        }
        let is_closed = self.closed.contains(&element.id);
        let role = element.attr("role").unwrap_or_default();
        match &*role {
            "tablist" => *tabs = 0,
            "tab" if is_control(element) => *tabs += 1,
            // Panels without an id follow their tabs in the same order.
            "tabpanel" if *tabs > 0 => {
                *tabs -= 1;
                if is_closed {
                    self.opened.insert(element.id);
                }
            }
            _ => {}
        }
        if is_closed {
            self.around.insert(element.id, around);
            around = Some(element.id);
        }
        // The tabs of one panel have no panels outside of it.
        let mut own_tabs = 0;
        let tabs = if is_closed || &*role == "tabpanel" { &mut own_tabs } else { tabs };
        let mut expands = false;
        for child in element.children_it(false).filter(NodeRef::is_element) {
            if expands && self.closed.contains(&child.id) {
                self.opened.insert(child.id);
            }
            expands = expands_next(&child);
            self.element(&child, around, tabs);
        }
    }

    /// Returns true if a control names the element. The control stands where visitors see it before they open the
    /// element: in no closed element, or in one that is around both.
    fn is_named(&self, id: &str, element: NodeId) -> bool {
        let Some(around) = self.around.get(&element) else { return false };
        let next = |around: &Option<NodeId>| around.map(|closed| self.around.get(&closed).copied().flatten());
        let mut all = std::iter::successors(Some(*around), next);
        all.any(|around| self.named.contains(&(id.to_owned(), around)))
    }
}

/// Returns true for a button, link or tab with words that visitors can press. Menus and dialogs have controls of their
/// own kind.
fn is_control(element: &NodeRef) -> bool {
    let is_set = |name: &str| element.attr(name).is_some_and(|value| !value.eq_ignore_ascii_case("false"));
    let role = element.attr("role").unwrap_or_default();
    let presses = element.has_name("button") || element.has_name("a") || matches!(&*role, "tab" | "button");
    presses
        && !is_set("aria-haspopup")
        && !is_set("aria-disabled")
        && !element.has_attr("disabled")
        && shows_words(element)
}

/// Returns true for an element with words. Signs and pictures do not tell visitors that something opens.
fn shows_words(element: &NodeRef) -> bool {
    let is_silent = |node: &NodeRef| node.node_name().is_some_and(|name| SILENT.contains(&&*name));
    element.descendants_it().take(MAX_LABEL_NODES).any(|node| {
        node.is_text()
            && node.text().chars().take(MAX_LABEL_CHARS).any(char::is_alphanumeric)
            && !node.parent().is_some_and(|parent| parent.id != element.id && is_silent(&parent))
    })
}

/// Returns the ids of the elements that a control names.
fn targets(control: &NodeRef) -> Vec<String> {
    let controlled = control.attr("aria-controls").unwrap_or_default();
    let mut ids: Vec<String> = controlled.split_whitespace().map(str::to_owned).collect();
    let fragments = TARGETS.iter().filter_map(|name| control.attr(name));
    ids.extend(fragments.filter_map(|value| Some(value.trim().strip_prefix('#')?.to_owned())));
    ids
}

/// Returns true for a control, or a heading with one, that expands the element behind it and names no other.
fn expands_next(element: &NodeRef) -> bool {
    let expands = |node: &NodeRef| {
        node.has_attr("aria-expanded") && is_control(node) && targets(node).iter().all(String::is_empty)
    };
    let is_title = is_heading(element) || element.has_name("dt");
    expands(element) || (is_title && element.descendants_it().take(MAX_LABEL_NODES).any(|inner| expands(&inner)))
}
