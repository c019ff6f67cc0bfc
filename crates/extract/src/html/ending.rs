//! End of an article: labels, headings and lists of links behind its last paragraph.

use dom_query::{NodeRef, Selection};

use super::measure::{Measures, is_heading, weight};

/// Maximum number of labels in a row; more are the lines of a poem or an address.
const MAX_LABELS: usize = 3;

/// Returns true for a paragraph of a few words that are not a sentence.
fn is_label(element: &NodeRef) -> bool {
    if !["p", "div", "span", "center"].iter().any(|name| element.has_name(name)) {
        return false;
    }
    let text = element.text();
    let text = text.trim();
    let sentence = text.ends_with(['.', '!', '?', ':', '"', '”', '»', ')', '。', '！', '？', '।', '۔', '؟'])
        && !text.ends_with("..");
    !sentence && weight(text) < 30.0 && Selection::from(*element).select("img, math, pre, code, table").is_empty()
}

/// Removes headings, labels and, if `lists`, lists of links behind the last running text.
pub(super) fn trim(content: &NodeRef, measures: &Measures, lists: bool) {
    let mut element = *content;
    for _ in 0..32 {
        let last = element.children_it(true).find(|child| child.is_element() || !child.text().trim().is_empty());
        let Some(last) = last else { return };
        let measure = measures.get(&last);
        // Related articles, with a few words per link.
        let items = Selection::from(last).select("li").length();
        let list = lists
            && (last.has_name("ul") || last.has_name("ol"))
            && items >= 2
            && measure.anchors >= items
            && measure.link_share() > 0.25;
        let before = std::iter::successors(last.prev_element_sibling(), NodeRef::prev_element_sibling);
        let label = is_label(&last) && before.take(MAX_LABELS).take_while(is_label).count() < MAX_LABELS;
        let heading = is_heading(&last) || last.has_name("hr");
        let empty = last.is_element()
            && weight(&last.text()) == 0.0
            && !last.has_name("img")
            && Selection::from(last).select("img").is_empty();
        if heading || empty || list || label {
            last.remove_from_parent();
        } else if last.is_element() && ["div", "section", "article"].iter().any(|name| last.has_name(name)) {
            element = last;
        } else {
            return;
        }
    }
}
