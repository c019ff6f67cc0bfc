//! Declarative shadow roots (HTML, 4.12.3): the trees of components that a page has in its source.

use std::collections::HashMap;

use dom_query::{Document, NodeRef};

use super::node_map::NodeSet;

/// Elements besides custom ones that may have a shadow root (DOM, 4.8).
const HOSTS: [&str; 18] = [
    "article",
    "aside",
    "blockquote",
    "body",
    "div",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "main",
    "nav",
    "p",
    "section",
    "span",
];

/// Puts the content of each shadow root into its host. The children of the host stand in the slots with their names, and
/// those without a slot behind the content. Returns false if elements then have more than `max_depth` nodes around them.
pub(super) fn attach(page: &Document, max_depth: usize) -> bool {
    let mut search = Search::default();
    search.tree(&page.tree.root());
    if search.roots.is_empty() {
        return true;
    }
    let mut slots = NodeSet::default();
    // The content of a shadow root may have further ones.
    while let Some(root) = search.roots.pop() {
        let contents = root.query(|node| node.as_element().and_then(|element| element.template_contents)).flatten();
        let contents = contents.and_then(|id| page.tree.get(&id));
        let (Some(host), Some(contents)) = (root.parent(), contents) else { continue };
        search.slots.clear();
        search.tree(&contents);
        slots.extend(search.slots.iter().map(|slot| slot.id));
        root.remove_from_parent();
        fill(&host, &contents, &search.slots);
    }
    unwrap(page, &slots, max_depth)
}

/// Shadow roots and slots that were found.
#[derive(Default)]
struct Search<'a> {
    hosts: NodeSet,
    /// Templates with the content of a shadow root.
    roots: Vec<NodeRef<'a>>,
    slots: Vec<NodeRef<'a>>,
}

impl<'a> Search<'a> {
    /// Finds the slots in a tree and the shadow roots of its elements, of which the first one counts.
    fn tree(&mut self, tree: &NodeRef<'a>) {
        for node in tree.descendants_it() {
            if node.has_name("slot") {
                self.slots.push(node);
            } else if is_shadow_root(&node)
                && let Some(host) = node.parent().filter(is_host)
                && self.hosts.insert(host.id)
            {
                self.roots.push(node);
            }
        }
    }
}

fn is_shadow_root(node: &NodeRef) -> bool {
    let is_mode = |mode: &str| ["open", "closed"].iter().any(|known| mode.eq_ignore_ascii_case(known));
    node.has_name("template") && node.attr("shadowrootmode").is_some_and(|mode| is_mode(&mode))
}

fn is_host(element: &NodeRef) -> bool {
    element.node_name().is_some_and(|name| name.contains('-') || HOSTS.contains(&&*name))
}

/// Moves the children of a host into the slots, and the contents of its shadow root to its start. The first slot of a name
/// counts, and its own children are left out if others take their place.
fn fill<'a>(host: &NodeRef<'a>, contents: &NodeRef<'a>, slots: &[NodeRef<'a>]) {
    let mut named = HashMap::new();
    for slot in slots {
        named.entry(slot.attr("name").unwrap_or_default().to_string()).or_insert((*slot, false));
    }
    let children: Vec<NodeRef> =
        host.children_it(false).filter(|child| child.is_element() || child.is_text()).collect();
    let mut rest = Vec::new();
    for child in children {
        let name = child.attr("slot").unwrap_or_default();
        let Some((slot, is_filled)) = named.get_mut(&*name) else {
            rest.push(child);
            continue;
        };
        if !std::mem::replace(is_filled, true) {
            slot.remove_children();
        }
        slot.append_child(&child);
    }
    let contents: Vec<NodeRef> = contents.children_it(false).collect();
    for node in contents.iter().chain(&rest) {
        host.append_child(node);
    }
}

/// Replaces the slots by what stands in them, so that elements such as lists have their parts as children. A slot that
/// may be hidden stays. Returns false at elements with more than `max_depth` nodes around them.
fn unwrap(page: &Document, slots: &NodeSet, max_depth: usize) -> bool {
    let stays = |slot: &NodeRef| ["hidden", "style", "class", "id"].iter().any(|name| slot.has_attr(name));
    let mut node = page.tree.root();
    let mut depth = 0;
    loop {
        if let Some(child) = node.first_child() {
            if slots.contains(&node.id) && !stays(&node) {
                child.unwrap_node();
            } else {
                depth += 1;
                if depth > max_depth {
                    return false;
                }
            }
            node = child;
            continue;
        }
        while node.next_sibling().is_none() {
            let Some(parent) = node.parent() else { return true };
            node = parent;
            depth -= 1;
        }
        let Some(next) = node.next_sibling() else { return true };
        node = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::render;

    fn attached(html: &str) -> Document {
        let page = Document::from(html);
        assert!(attach(&page, 100), "{html}");
        page
    }

    /// Builds a shadow root.
    fn shadow(content: &str) -> String {
        format!("<template shadowrootmode='open'>{content}</template>")
    }

    #[test]
    fn contents_of_shadow_roots_are_read() {
        let article = "<article><h1>Salt</h1><slot></slot><footer><slot name=f>no text</slot></footer><slot name=f></slot></article>";
        for (html, expected) in [
            (
                format!("<x-doc>{}<p slot=f>The footer</p><p>The text</p></x-doc>", shadow(article)),
                "# Salt\n\nThe text\n\nThe footer",
            ),
            (format!("<x-doc>{}</x-doc>", shadow("<p>One <slot>two</slot></p>")), "One two"),
            (format!("<div>{}three<b slot=x>four</b></div>", shadow("<p>One</p>")), "One\n\nthree**four**"),
            (format!("<div>{}{}</div>", shadow("One"), shadow("Two")), "One"),
            (format!("<x-l>{}<li>a</li><li>b</li></x-l>", shadow("<ul><slot></slot></ul>")), "- a\n- b"),
            (shadow("<p>One</p>").replace("open", "CLOSED"), "One"),
            (shadow(""), ""),
        ] {
            let page = attached(&format!("<body>{html}</body>"));
            assert_eq!(render::markdown(&page.body().expect("a body")), expected, "{html}");
        }
    }

    #[test]
    fn shadow_roots_nest() {
        let inner = shadow("<p>Two <slot name=s></slot></p>");
        let outer = shadow(&format!("<x-b>{inner}<slot slot=s name=t></slot></x-b><slot></slot>"));
        let third = shadow("<p>four <slot></slot></p>");
        let page = attached(&format!("<body><x-a>{outer}<b slot=t>three</b><x-c>{third}five</x-c></x-a></body>"));
        assert_eq!(render::markdown(&page.body().expect("a body")), "Two **three**\n\nfour five");
    }

    #[test]
    fn other_templates_are_no_text() {
        for html in [
            "<div><template><p>one</p></template></div>".to_owned(),
            shadow("<p>one</p>").replace("open", "none"),
            format!("<ul>{}</ul>", shadow("<li>one</li>")),
            format!("<template>{}</template>", shadow("<p>one</p>")),
        ] {
            let page = attached(&format!("<body>{html}</body>"));
            assert_eq!(render::markdown(&page.body().expect("a body")), "", "{html}");
        }
    }

    #[test]
    fn slots_that_may_be_hidden_stay() {
        let page = attached(&format!("<x-a>{}<p>one</p></x-a>", shadow("<slot hidden></slot>")));
        assert!(page.select("slot[hidden] p").exists());
    }

    #[test]
    fn deep_trees_are_found() {
        let open = "<x-a><template shadowrootmode=open>".repeat(200);
        assert!(!attach(&Document::from(open.as_str()), 100));
        // By slots in slots.
        let host = format!("<x-a>{}", shadow(&format!("{}<slot></slot>", "<i>".repeat(40))));
        assert!(!attach(&Document::from(host.repeat(5).as_str()), 100));
    }
}
