//! Introduction of an article between its headline and its text.

use dom_query::{NodeRef, Selection};

use super::marks;
use super::measure::{Measures, is_block, weight};

/// Maximum number of paragraphs of an introduction.
const MAX_LEADS: usize = 3;
/// Minimum weight of an introduction by its name, and of an unnamed paragraph.
const MIN_NAMED: f64 = 25.0;
const MIN_UNNAMED: f64 = 70.0;
/// Maximum weight: longer text is another article.
const MAX_TEXT: f64 = 1500.0;
/// Maximum share of link text.
const MAX_LINKS: f64 = 0.3;
/// Length in characters of the start that shows if the text repeats the introduction.
const COMPARED: usize = 60;

/// Returns the paragraphs between the page's last headline before `text` and `text` itself: a summary in larger type.
/// Paragraphs that the text repeats are left out.
pub(super) fn find<'a>(body: &NodeRef<'a>, text: &NodeRef<'a>, measures: &Measures) -> Vec<NodeRef<'a>> {
    let mut search = Search { text: *text, measures, headline: false, found: Vec::new() };
    if !search.walk(body) || !search.headline || search.found.len() > MAX_LEADS {
        return Vec::new();
    }
    let whole = squeezed(&text.text());
    let repeated = |lead: &NodeRef| {
        let start: String = squeezed(&lead.text()).chars().take(COMPARED).collect();
        whole.contains(&start)
    };
    search.found.retain(|lead| !repeated(lead));
    search.found
}

/// Returns text without white space.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

struct Search<'a, 'm> {
    text: NodeRef<'a>,
    measures: &'m Measures,
    headline: bool,
    found: Vec<NodeRef<'a>>,
}

impl<'a> Search<'a, '_> {
    /// Walks the page in document order. Returns true at the text.
    fn walk(&mut self, element: &NodeRef<'a>) -> bool {
        for child in element.children_it(false).filter(NodeRef::is_element) {
            if child.id == self.text.id {
                return true;
            }
            if child.has_name("h1") {
                self.headline = true;
                self.found.clear();
            } else if self.is_lead(&child) {
                self.found.push(child);
            } else if !is_list(&child) && self.walk(&child) {
                return true;
            }
        }
        false
    }

    fn is_lead(&self, element: &NodeRef) -> bool {
        let measure = self.measures.get(element);
        if !self.headline || measure.text > MAX_TEXT || measure.link_share() > MAX_LINKS {
            return false;
        }
        if Selection::from(*element).select("h1, img, form, table, figure, li").exists() {
            return false;
        }
        let paragraph = ["p", "h2", "div", "span"].iter().any(|name| element.has_name(name));
        let simple = paragraph && !element.descendants_it().any(|inner| inner.node_name().is_some_and(|name| is_block(&name)));
        (marks::is_named_lead(element) && measure.text >= MIN_NAMED) || (simple && measure.text >= MIN_UNNAMED)
    }
}

/// Returns true for elements whose paragraphs introduce nothing.
fn is_list(element: &NodeRef) -> bool {
    ["ul", "ol", "dl", "table", "figure", "form", "nav", "aside", "footer"].iter().any(|name| element.has_name(name))
}

/// Puts the introduction before the text: where it is if that is part of the content, otherwise at the start.
pub(super) fn attach(leads: &[NodeRef], content: &NodeRef, unrelated: &[NodeRef]) {
    for lead in leads.iter().rev() {
        let around = lead.ancestors_it(None);
        let mut inside = false;
        let mut holder = None;
        for ancestor in around {
            if unrelated.iter().any(|element| element.id == ancestor.id) {
                holder = Some(ancestor);
            }
            inside |= ancestor.id == content.id;
        }
        match holder {
            Some(holder) if inside => holder.insert_after(lead),
            None if inside => {}
            _ => content.prepend_child(lead),
        }
    }
    let _ = weight;
}
