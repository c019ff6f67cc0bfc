//! Amount of running text and link text per element.

use dom_query::NodeRef;

use super::node_map::NodeMap;

/// Elements without visible text.
pub(super) const SILENT: [&str; 16] = [
    "script", "style", "template", "noscript", "noembed", "noframes", "svg", "canvas", "iframe", "object", "head",
    "title", "select", "textarea", "button", "input",
];

/// Minimum weight of running text in a block: half a line.
const MIN_RUNNING: f64 = 40.0;
/// Maximum share of link text in a block of running text.
const MAX_RUNNING_LINKS: f64 = 0.4;
/// Maximum number of nodes before the heading of a section.
const MAX_BEFORE_HEADING: usize = 8;

/// Sums over an element and its descendants. Weights are in characters; a character of a script without spaces weighs
/// as much as half a word.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Measure {
    pub text: f64,
    pub links: f64,
    /// Weight of running text, without its links.
    pub running: f64,
    pub anchors: usize,
}

impl Measure {
    pub(super) fn link_share(&self) -> f64 {
        if self.text > 0.0 { self.links / self.text } else { 0.0 }
    }

    fn add(&mut self, other: Measure) {
        self.text += other.text;
        self.links += other.links;
        self.running += other.running;
        self.anchors += other.anchors;
    }
}

/// Measures of a page's elements.
pub(super) struct Measures(NodeMap<Measure>);

impl Measures {
    pub(super) fn of(root: &NodeRef) -> Self {
        let mut measures = Self(NodeMap::default());
        let mut own = Measure::default();
        measures.element(root, false, &mut own);
        measures
    }

    pub(super) fn get(&self, node: &NodeRef) -> Measure {
        self.0.get(&node.id).copied().unwrap_or_default()
    }

    /// Measures an element; adds its inline text to `block`, the nearest enclosing block.
    fn element(&mut self, element: &NodeRef, in_link: bool, block: &mut Measure) -> Measure {
        let name = element.node_name().unwrap_or_default();
        let name: &str = &name;
        if SILENT.contains(&name) {
            return Measure::default();
        }
        // Links to places on the same page do not count, because headings link to themselves.
        let leads_away = name == "a" && element.attr("href").is_some_and(|href| !href.trim_start().starts_with('#'));
        let link = in_link || leads_away;
        let is_block = is_block(name);
        let mut own = Measure::default();
        let mut sum = Measure { anchors: usize::from(leads_away), ..Measure::default() };
        for child in element.children_it(false) {
            if child.is_text() {
                let weight = weight(&child.text());
                let gathered = if is_block { &mut own } else { &mut *block };
                gathered.text += weight;
                sum.text += weight;
                if link {
                    gathered.links += weight;
                    sum.links += weight;
                }
            } else if child.is_element() {
                let gathered = if is_block { &mut own } else { &mut *block };
                sum.add(self.element(&child, link, gathered));
            }
        }
        if is_block && own.text >= MIN_RUNNING && own.links <= own.text * MAX_RUNNING_LINKS {
            sum.running += own.text - own.links;
        }
        self.0.insert(element.id, sum);
        sum
    }
}

/// Returns the weight of a text; white space has none.
pub(super) fn weight(text: &str) -> f64 {
    let letters = text.chars().filter(|c| !c.is_whitespace());
    letters.map(|c| if is_wide(c) { 2.5 } else { 1.0 }).sum()
}

/// Matches characters that are worth half a word: Chinese, Japanese, Korean.
pub(super) fn is_wide(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Selector of headings of any level.
pub(super) const HEADINGS: &str = "h1, h2, h3, h4, h5, h6";

/// Returns true for a heading of any level.
pub(super) fn is_heading(node: &NodeRef) -> bool {
    ["h1", "h2", "h3", "h4", "h5", "h6"].iter().any(|name| node.has_name(name))
}

/// Returns the heading at the start of an element.
pub(super) fn first_heading<'a>(element: &NodeRef<'a>) -> Option<NodeRef<'a>> {
    element.descendants_it().take(MAX_BEFORE_HEADING).find(is_heading)
}

/// Returns true for a paragraph that ends with a colon.
pub(super) fn introduces(element: &NodeRef) -> bool {
    element.has_name("p") && element.text().trim_end().ends_with([':', '：'])
}

/// Returns true for elements that end a paragraph.
pub(super) fn is_block(name: &str) -> bool {
    matches!(
        name,
        "html"
            | "body"
            | "address"
            | "article"
            | "aside"
            | "blockquote"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "hr"
            | "li"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "p"
            | "pre"
            | "section"
            | "summary"
            | "table"
            | "caption"
            | "tbody"
            | "thead"
            | "tfoot"
            | "tr"
            | "td"
            | "th"
            | "ul"
            | "video"
            | "audio"
    )
}
