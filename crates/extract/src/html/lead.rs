//! Introduction of an article between its headline and its text.

use dom_query::{NodeRef, Selection};

use super::marks::{self, Opening};
use super::measure::{Measures, is_block};

/// Maximum number of paragraphs of an introduction.
const MAX_LEADS: usize = 3;
/// Minimum weight of an introduction by its name, and of an unnamed paragraph.
const MIN_NAMED: f64 = 25.0;
const MIN_UNNAMED: f64 = 70.0;
/// Maximum weight of an introduction by its name, and of an unnamed paragraph: longer text is another article.
const MAX_NAMED: f64 = 700.0;
const MAX_UNNAMED: f64 = 400.0;
/// Maximum share of link text.
const MAX_LINKS: f64 = 0.3;
/// Length in characters of the start that shows if the text repeats the introduction.
const COMPARED: usize = 60;

/// Returns the paragraphs between the page's last headline before `text` and `text` itself: a summary in larger type.
/// Paragraphs that the text repeats are left out.
pub(super) fn find<'a>(body: &NodeRef<'a>, text: &NodeRef<'a>, measures: &Measures) -> Vec<NodeRef<'a>> {
    let has_h1 = Selection::from(*body).select("h1").exists();
    let mut search = Search { text: *text, measures, has_h1, headline: false, found: Vec::new() };
    if !search.walk(body, false) || !search.headline {
        return Vec::new();
    }
    let mut found = search.found;
    if found.len() > MAX_LEADS {
        found.retain(|(_, named)| *named);
    }
    if found.len() > MAX_LEADS {
        return Vec::new();
    }
    if found.is_empty() {
        return Vec::new();
    }
    let whole = squeezed(&text.text());
    let repeated = |lead: &NodeRef| {
        let start: String = squeezed(&lead.text()).chars().take(COMPARED).collect();
        whole.contains(&start)
    };
    found.into_iter().map(|(lead, _)| lead).filter(|lead| !repeated(lead)).collect()
}

/// Returns text without white space.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

struct Search<'a, 'm> {
    text: NodeRef<'a>,
    measures: &'m Measures,
    has_h1: bool,
    headline: bool,
    /// Paragraphs, and true for those in a named introduction.
    found: Vec<(NodeRef<'a>, bool)>,
}

impl<'a> Search<'a, '_> {
    /// Walks the page in document order. Returns true at the text. `named` is true inside a named introduction.
    fn walk(&mut self, element: &NodeRef<'a>, named: bool) -> bool {
        for child in element.children_it(false).filter(NodeRef::is_element) {
            if child.id == self.text.id {
                return true;
            }
            let text = self.measures.get(&child).text;
            // Larger elements are no introduction, whatever their name.
            let opening = if text <= MAX_NAMED { marks::opening(&child) } else { Opening::Unnamed };
            let named = match opening {
                Opening::Lead => true,
                Opening::Subtitle => false,
                Opening::Unnamed => named,
            };
            if self.is_headline(&child) {
                self.headline = true;
                self.found.clear();
            } else if opening != Opening::Subtitle && self.is_lead(&child, opening, named) {
                self.found.push((child, named));
            } else if text > 0.0 && !is_list(&child) && self.walk(&child, named) {
                return true;
            }
        }
        false
    }

    fn is_headline(&self, element: &NodeRef) -> bool {
        let level = if self.has_h1 { "h1" } else { "h2" };
        let declared =
            element.attr("itemprop").is_some_and(|property| property.split_whitespace().any(|word| word == "headline"));
        element.has_name(level) || declared
    }

    fn is_lead(&self, element: &NodeRef, opening: Opening, named: bool) -> bool {
        let measure = self.measures.get(element);
        let (least, most) = if named { (MIN_NAMED, MAX_NAMED) } else { (MIN_UNNAMED, MAX_UNNAMED) };
        if !self.headline || measure.text < least || measure.text > most || measure.link_share() > MAX_LINKS {
            return false;
        }
        if Selection::from(*element).select("h1, img, form, table, figure, li").exists() {
            return false;
        }
        let simple = !element.descendants_it().any(|inner| inner.node_name().is_some_and(|name| is_block(&name)));
        let text = ["p", "div", "span"].iter().any(|name| element.has_name(name)) && simple;
        let heading = ["h2", "h3"].iter().any(|name| element.has_name(name));
        text || (named && (heading || opening == Opening::Lead))
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
}
