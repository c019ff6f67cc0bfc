//! End of an article: labels, headings and lists of links behind its last paragraph.

use dom_query::{NodeRef, Selection};

use super::measure::{Measures, introduces, is_heading, weight};
use super::prompts;

/// Maximum number of labels in a row; more are the lines of a poem or an address.
const MAX_LABELS: usize = 3;
/// Number of siblings before a label or list that are searched for its heading.
const MAX_BEFORE: usize = 8;
/// Number of elements around a list whose siblings are searched for its heading.
const MAX_AROUND: usize = 4;
/// Minimum link share of a list that leads to other articles, and of one that the text announces.
const MIN_LINKS: f64 = 0.25;
const MIN_HEADED_LINKS: f64 = 0.7;
/// Signs that end a sentence.
const SENTENCE_ENDS: [char; 24] = [
    '.', '!', '?', ':', '"', '”', '“', '’', '»', ')', '。', '！', '？', '；', '」', '』', '।', '۔', '؟', '؛', '։', '።',
    '။', '｡',
];
/// Minimum number of digits in a telephone number, and in one of its groups.
const MIN_PHONE: usize = 6;
const MIN_GROUP: usize = 3;

/// Returns true for a paragraph of a few words that are not a sentence.
fn is_label(element: &NodeRef) -> bool {
    if !["p", "div", "span", "center"].iter().any(|name| element.has_name(name)) {
        return false;
    }
    let text = element.text();
    let text = text.trim();
    let sentence = text.ends_with(SENTENCE_ENDS) && !text.ends_with("..");
    !sentence
        && weight(text) < 30.0
        && !text.contains(is_without_full_stop)
        && !is_contact(text)
        && Selection::from(*element).select("img, math, pre, code, table").is_empty()
}

/// Matches characters of scripts whose sentences have no sign at their end: Thai, Lao, Burmese, Khmer.
fn is_without_full_stop(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
}

/// Returns true for a text with a mail address or a telephone number. Numbers with a year or without a longer group are
/// dates.
fn is_contact(text: &str) -> bool {
    let is_address = |word: &str| {
        word.split_once('@').is_some_and(|(user, host)| user.ends_with(char::is_alphanumeric) && host.contains('.'))
    };
    let groups: Vec<&str> = text.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty()).collect();
    let is_year = |group: &&str| group.len() == 4 && (group.starts_with("19") || group.starts_with("20"));
    let is_phone = groups.iter().map(|group| group.len()).sum::<usize>() >= MIN_PHONE
        && groups.iter().any(|group| group.len() >= MIN_GROUP)
        && !groups.iter().any(is_year);
    is_phone || text.split_whitespace().any(is_address)
}

/// Returns true for a label that belongs to no text: there are few of them, and no heading announces them.
fn is_loose_label(element: &NodeRef) -> bool {
    if !is_label(element) {
        return false;
    }
    let before = || std::iter::successors(element.prev_element_sibling(), NodeRef::prev_element_sibling);
    let is_row = before().take(MAX_LABELS).take_while(is_label).count() == MAX_LABELS;
    let above = before().take(MAX_BEFORE).find(|node| !is_empty(node) && !is_label(node));
    !is_row && !above.is_some_and(|above| is_heading(&above))
}

fn is_empty(element: &NodeRef) -> bool {
    weight(&element.text()) == 0.0 && !element.has_name("img") && Selection::from(*element).select("img").is_empty()
}

/// Returns true for related articles: a list with a few words per link. A list that the text above it announces is one
/// only if it is hardly more than its links: release notes and publications have links in each item, too.
fn is_list_of_articles(list: &NodeRef, content: &NodeRef, measures: &Measures) -> bool {
    let measure = measures.get(list);
    let items = Selection::from(*list).select("li").length();
    let linked = (list.has_name("ul") || list.has_name("ol"))
        && items >= 2
        && measure.anchors >= items
        && measure.link_share() > MIN_LINKS;
    if !linked || measure.link_share() > MIN_HEADED_LINKS {
        return linked;
    }
    let above = above(list, content);
    // Sentences behind a paragraph continue it.
    let continues = |above: &NodeRef| measure.running > 0.0 && measures.get(above).running > 0.0;
    !above.is_some_and(|above| continues(&above) || heads(&above, measures))
}

/// Returns true for a heading or sentence that announces a part of the text.
fn heads(element: &NodeRef, measures: &Measures) -> bool {
    let is_short = measures.get(element).text <= prompts::MAX_HEADING;
    let heads = is_heading(element)
        || introduces(element)
        || (is_short && element.descendants_it().any(|inner| is_heading(&inner)));
    heads && prompts::prompt(&element.text()).is_none()
}

/// Returns the nearest rule, or element with text or an image, before a list and before the elements around it.
fn above<'a>(list: &NodeRef<'a>, content: &NodeRef) -> Option<NodeRef<'a>> {
    let around = list.ancestors_it(Some(MAX_AROUND)).take_while(|around| around.id != content.id);
    std::iter::once(*list).chain(around).find_map(|inner| {
        let before = std::iter::successors(inner.prev_element_sibling(), NodeRef::prev_element_sibling);
        before.take(MAX_BEFORE).find(|before| !is_empty(before) || before.has_name("hr"))
    })
}

/// Removes headings, labels and, if `lists`, lists of links behind the last running text.
pub(super) fn trim(content: &NodeRef, measures: &Measures, lists: bool) {
    let mut element = *content;
    for _ in 0..32 {
        let last = element.children_it(true).find(|child| child.is_element() || !child.text().trim().is_empty());
        let Some(last) = last else { return };
        let list = lists && is_list_of_articles(&last, content, measures);
        let label = is_loose_label(&last);
        let heading = is_heading(&last) || last.has_name("hr");
        let empty = last.is_element() && is_empty(&last);
        if heading || empty || list || label {
            last.remove_from_parent();
        } else if last.is_element() && ["div", "section", "article"].iter().any(|name| last.has_name(name)) {
            element = last;
        } else {
            return;
        }
    }
}
