//! Panels of tabs and accordions: closed elements that a control of the page opens.
//!
//! No reader of a page can tell what its scripts do on a click. A control that visitors see and can press is taken for
//! what it says, because the text behind it is as easy to reach as that of a closed `details` element. But most closed
//! elements of a page are tools, such as those to share it: a control counts only if it looks like that of a panel.

use std::collections::{HashMap, HashSet};

use dom_query::{Document, NodeId, NodeRef};

use super::boilerplate_parts::BoilerplateParts;
use super::measure::{SILENT, is_heading};
use super::node_map::{NodeMap, NodeSet};

/// Attributes of a control that name a panel as `#id`.
const TARGETS: [&str; 3] = ["data-target", "data-bs-target", "href"];
/// Attributes of a control that name what it does.
const TOGGLES: [&str; 2] = ["data-toggle", "data-bs-toggle"];
/// Elements around controls of the site or of an article, not of its text.
const APART: [&str; 3] = ["header", "footer", "nav"];
/// Levels above a control that are searched for a heading, and for controls of its kind.
const MAX_TITLE_DEPTH: usize = 4;
const MAX_GROUP_DEPTH: usize = 2;
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
        groups: HashMap::new(),
        parts: BoilerplateParts::default(),
        opened: NodeSet::default(),
    };
    if closed.is_empty() {
        return search.opened;
    }
    search.element(&page.html_root(), None, &mut 0, false);
    search.name_groups();
    // Scripts find the first element of an id.
    let named: Vec<NodeId> =
        search.first.iter().filter(|(id, panel)| search.is_named(id, **panel)).map(|(_, panel)| *panel).collect();
    search.opened.extend(named);
    search.opened
}

/// Id that a control names, with the nearest closed element around the control.
type Named = (String, Option<NodeId>);

/// Element around controls, with their name and class.
type Group = (NodeId, String, String);

struct Search<'c> {
    closed: &'c NodeSet,
    /// The nearest closed element around each closed element.
    around: NodeMap<Option<NodeId>>,
    /// First element of each id.
    first: HashMap<String, NodeId>,
    named: HashSet<Named>,
    /// Controls that may belong to a group, and what they name.
    groups: HashMap<Group, Vec<(NodeId, Named)>>,
    parts: BoilerplateParts,
    opened: NodeSet,
}

impl Search<'_> {
    /// Searches an element. `tabs` is the number of tabs before it that have no panel yet. `apart` is set inside of
    /// elements whose controls are not those of the text.
    fn element(&mut self, element: &NodeRef, mut around: Option<NodeId>, tabs: &mut usize, apart: bool) {
        if let Some(id) = element.attr("id") {
            self.first.entry(id.to_string()).or_insert(element.id);
        }
        if is_control(element) {
            self.control(element, around, apart);
        }
        let apart = apart || APART.iter().any(|name| element.has_name(name));
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
            expands = !apart && expands_next(&child) && !self.parts.hold(element);
            self.element(&child, around, tabs, apart);
        }
    }

    /// Gathers what a control names.
    fn control(&mut self, control: &NodeRef, around: Option<NodeId>, apart: bool) {
        let ids: Vec<String> = targets(control).into_iter().filter(|id| !id.is_empty()).collect();
        let is_tab = is_tab(control);
        if ids.is_empty() || (!is_tab && (apart || control.parent().is_some_and(|parent| self.parts.hold(&parent)))) {
            return;
        }
        if is_tab || toggles(control, &["collapse"]) || is_title(control) {
            self.named.extend(ids.into_iter().map(|id| (id, around)));
            return;
        }
        let name = control.node_name().unwrap_or_default();
        let class = control.attr("class").unwrap_or_default();
        for group in control.ancestors_it(Some(MAX_GROUP_DEPTH)) {
            let members = self.groups.entry((group.id, name.to_string(), class.to_string())).or_default();
            members.extend(ids.iter().map(|id| (control.id, (id.clone(), around))));
        }
    }

    /// Names the panels of controls that are a group: at least two that name different closed elements.
    fn name_groups(&mut self) {
        for members in std::mem::take(&mut self.groups).into_values() {
            let is_closed = |id: &String| self.first.get(id).is_some_and(|panel| self.closed.contains(panel));
            let members: Vec<(NodeId, Named)> = members.into_iter().filter(|(_, (id, _))| is_closed(id)).collect();
            let different = |(control, (id, _)): &(NodeId, Named)| {
                members.first().is_some_and(|(first, (named, _))| control != first && id != named)
            };
            if members.iter().any(different) {
                self.named.extend(members.into_iter().map(|(_, named)| named));
            }
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

/// Returns true for a tab, by its role or for its library.
fn is_tab(control: &NodeRef) -> bool {
    control.attr("role").as_deref() == Some("tab") || toggles(control, &["tab", "pill"])
}

fn toggles(control: &NodeRef, kinds: &[&str]) -> bool {
    TOGGLES.iter().filter_map(|name| control.attr(name)).any(|toggle| kinds.contains(&&*toggle))
}

/// Returns true for a control that is a heading or a term, or in one.
fn is_title(control: &NodeRef) -> bool {
    let mut around = std::iter::once(*control).chain(control.ancestors_it(Some(MAX_TITLE_DEPTH)));
    around.any(|node| is_heading(&node) || node.has_name("dt"))
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
