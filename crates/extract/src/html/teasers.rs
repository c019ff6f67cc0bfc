//! Truncated teasers of other articles, which list pages and columns beside an article share.

use dom_query::NodeRef;

use super::measure::Measures;

/// Minimum number of teasers in a list.
const MIN_TEASERS: usize = 3;
/// Maximum weight of one teaser.
const MAX_TEASER: f64 = 800.0;
/// Minimum running text that must remain: without it the teasers are the content.
pub(super) const MIN_LEFT: f64 = 500.0;
/// Maximum weight of the label of a list.
const MAX_LABEL: f64 = 40.0;
/// Maximum number of characters behind the ellipsis: `Read more`.
const MAX_BEHIND: usize = 24;

/// Returns lists of at least three similar elements with a link and a text that breaks off.
pub(super) fn find<'a>(content: &NodeRef<'a>, measures: &Measures) -> Vec<NodeRef<'a>> {
    let mut found = Vec::new();
    collect(content, content, measures, &mut found);
    let removed: f64 = found.iter().map(|list| measures.get(list).running).sum();
    if measures.get(content).running - removed >= MIN_LEFT { found } else { Vec::new() }
}

fn collect<'a>(element: &NodeRef<'a>, content: &NodeRef<'a>, measures: &Measures, found: &mut Vec<NodeRef<'a>>) {
    let children: Vec<NodeRef> =
        element.children_it(false).filter(|child| child.is_element() && measures.get(child).text > 0.0).collect();
    let is_teaser = |child: &&NodeRef<'a>| is_teaser(child, measures);
    let teasers: Vec<NodeRef> = children.iter().filter(is_teaser).copied().collect();
    let first = teasers.first().map(kind);
    if teasers.len() < MIN_TEASERS || !teasers.iter().all(|teaser| Some(kind(teaser)) == first) {
        children.iter().for_each(|child| collect(child, content, measures, found));
        return;
    }
    let text: f64 = teasers.iter().map(|teaser| measures.get(teaser).text).sum();
    let holds_only_them = |around: &NodeRef| around.id != content.id && measures.get(around).text <= text + MAX_LABEL;
    let list = std::iter::once(*element).chain(element.ancestors_it(None)).take_while(holds_only_them).last();
    match list {
        Some(list) => found.push(list),
        None => found.extend(teasers),
    }
}

fn is_teaser(element: &NodeRef, measures: &Measures) -> bool {
    let measure = measures.get(element);
    if measure.anchors == 0 || measure.running == 0.0 || measure.text > MAX_TEASER {
        return false;
    }
    let text = element.text();
    let end = ["…", "..."].iter().filter_map(|sign| text.rfind(sign).map(|at| at + sign.len())).max();
    end.is_some_and(|end| {
        text[end..].split_whitespace().map(|word| word.chars().count() + 1).sum::<usize>() <= MAX_BEHIND
    })
}

/// Returns the name and the first class of an element, without the number of a post. Further classes name its topics.
fn kind(element: &NodeRef) -> (String, String) {
    let classes = element.attr("class").unwrap_or_default();
    let first = classes.split_whitespace().next().unwrap_or_default();
    let name = element.node_name().unwrap_or_default().to_string();
    (name, first.chars().filter(|c| !c.is_ascii_digit()).collect())
}
