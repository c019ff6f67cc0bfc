//! Main content of a page: the element that holds it, and clutter inside it.

use dom_query::{NodeRef, Selection};

use super::measure::{Measures, weight};

/// Selectors of the element with an article's text, the strictest first: structured data, then class names of
/// publishing systems.
const BODY_SELECTORS: [&str; 4] = [
    "[itemprop=articleBody]",
    "[class*=article-body i], [class*=articlebody i], [class*=article_body i], [class*=story-body i], [class*=storybody i], \
     [class*=article-content i], [class*=article__content i], [class*=article__body i], [class*=post-content i], [class*=entry-content i], \
     [class*=post-body i], [class*=article-text i], [class*=content-body i], [class*=body-content i], \
     [id*=article-body i], [id*=articlebody i], [id*=story-body i], [id*=article-content i]",
    "article, [role=article]",
    "main, [role=main]",
];
/// Minimum share of the page's running text in a marked element.
const MIN_BODY_SHARE: f64 = 0.5;
/// Minimum share of its parent's running text for a child to be the content without its siblings.
const MIN_CHILD_SHARE: f64 = 0.85;
/// Minimum running text to keep a sibling: before the content, and in an element like it.
const MIN_LEAD: f64 = 120.0;
const MIN_CONTINUATION: f64 = 200.0;
/// Maximum link share of such a sibling.
const MAX_SIBLING_LINKS: f64 = 0.25;
/// Minimum running text, relative to the largest marked element, for another one to be part of the same content.
const MIN_PIECE_SHARE: f64 = 0.15;
const HEADINGS: &str = "h2, h3, h4, h5, h6";
/// Minimum number of linked headings in a list of teasers, and maximum running text per heading.
const MIN_LISTED: usize = 4;
const MAX_TEASER: f64 = 250.0;
/// Minimum running text of an article; pages with less are lists or forms.
const MIN_ARTICLE: f64 = 250.0;

/// Returns the content of a page with running text; `None` for lists, forms and the like.
pub(super) fn find<'a>(body: &NodeRef<'a>) -> Option<NodeRef<'a>> {
    let measures = Measures::of(body);
    let all = measures.get(body).running;
    if all < MIN_ARTICLE {
        return None;
    }
    let page = Selection::from(*body);
    let mut found = *body;
    for marks in BODY_SELECTORS {
        let marked = page.select(marks);
        let best = common_ancestor(marked.nodes(), &measures);
        if let Some(best) = best.filter(|best| measures.get(best).running >= all * MIN_BODY_SHARE) {
            found = best;
            break;
        }
    }
    Some(narrow(found, &measures))
}

/// Returns the innermost element with nearly the most running text. If other marked elements hold a good deal too, as
/// in texts split by advertising, returns their common ancestor.
fn common_ancestor<'a>(marked: &[NodeRef<'a>], measures: &Measures) -> Option<NodeRef<'a>> {
    let running = |node: &NodeRef| measures.get(node).running;
    let most = marked.iter().map(running).max_by(f64::total_cmp)?;
    let best = marked.iter().rev().find(|node| running(node) >= most * 0.95).copied()?;
    let mut pieces = vec![best];
    for node in marked {
        let large = running(node) >= most * MIN_PIECE_SHARE;
        if large && pieces.iter().all(|piece| !is_within(node, piece) && !is_within(piece, node)) {
            pieces.push(*node);
        }
    }
    let mut around = best;
    while !pieces.iter().all(|piece| piece.id == around.id || is_within(piece, &around)) {
        around = around.parent()?;
    }
    Some(around)
}

fn is_within(inner: &NodeRef, outer: &NodeRef) -> bool {
    inner.ancestors_it(None).any(|ancestor| ancestor.id == outer.id)
}

/// Descends while one child has nearly all running text, and removes its siblings: headline, byline, related articles.
/// Siblings that introduce the text (a summary, a question) or continue it are kept; the element around them is then
/// the content.
fn narrow<'a>(found: NodeRef<'a>, measures: &Measures) -> NodeRef<'a> {
    let (mut content, mut element) = (found, found);
    let mut unrelated = Vec::new();
    loop {
        let running = measures.get(&element).running;
        let children: Vec<NodeRef> = element.children_it(false).filter(NodeRef::is_element).collect();
        let heavy = children.iter().position(|child| measures.get(child).running >= running * MIN_CHILD_SHARE);
        // A single paragraph or list is only part of the content.
        let Some((at, heavy)) = heavy.map(|at| (at, children[at])).filter(|(_, heavy)| holds_content(heavy)) else {
            break;
        };
        let belongs = |place: usize, child: &NodeRef| {
            place == at || (place < at && is_introduction(child, measures)) || is_continuation(child, &heavy, measures)
        };
        let (pieces, others): (Vec<_>, Vec<_>) =
            children.into_iter().enumerate().partition(|(place, child)| belongs(*place, child));
        if pieces.len() == 1 && content.id == element.id {
            content = heavy;
        } else {
            unrelated.extend(others.into_iter().map(|(_, child)| child));
        }
        element = heavy;
    }
    for element in unrelated {
        element.remove_from_parent();
    }
    content
}

/// Returns true for text before the main text that is longer than a line below the headline.
fn is_introduction(element: &NodeRef, measures: &Measures) -> bool {
    let measure = measures.get(element);
    measure.running >= MIN_LEAD && measure.link_share() <= MAX_SIBLING_LINKS
}

fn is_continuation(element: &NodeRef, of: &NodeRef, measures: &Measures) -> bool {
    let measure = measures.get(element);
    let alike = element.node_name() == of.node_name() && element.attr("class") == of.attr("class");
    alike && measure.running >= MIN_CONTINUATION && measure.link_share() <= MAX_SIBLING_LINKS
}

/// Returns true if the element can be the whole content; a paragraph, list or data table is only part of it.
fn holds_content(element: &NodeRef) -> bool {
    let container =
        ["div", "section", "article", "main", "td", "table", "tbody", "tr", "center", "form", "span", "figure"];
    let data = element.has_name("table") && !Selection::from(*element).select("th").is_empty();
    container.iter().any(|name| element.has_name(name)) && !data
}

/// Removes clutter inside an article: lists of links, links to other articles, empty headings.
pub(super) fn remove_clutter(content: &NodeRef) {
    let measures = Measures::of(content);
    let mut removed = Vec::new();
    collect_clutter(content, &measures, is_listing(content, &measures), &mut removed);
    for element in removed {
        element.remove_from_parent();
    }
    trim_end(content, &measures);
}

fn collect_clutter<'a>(element: &NodeRef<'a>, measures: &Measures, listing: bool, removed: &mut Vec<NodeRef<'a>>) {
    for child in element.children_it(false).filter(NodeRef::is_element) {
        let measure = measures.get(&child);
        let name = child.node_name().unwrap_or_default();
        let links = measure.link_share();
        let gone = match &*name {
            "ul" | "ol" | "dl" => links > 0.7 && measure.running == 0.0 && measure.anchors >= 2,
            "h2" | "h3" | "h4" | "h5" | "h6" => links > 0.6 && measure.running == 0.0 && !listing,
            "div" | "section" | "aside" | "figure" | "header" => {
                links > 0.6 && measure.running == 0.0 && !(listing && holds_heading(&child))
            }
            "table" => links > 0.8 && measure.running == 0.0 && measure.anchors >= 4,
            // A paragraph of links only leads away from the text. In a list that was found to be content it is kept.
            "p" if !element.has_name("li") => {
                measure.running == 0.0 && (links > 0.95 || (links > 0.8 && measure.anchors >= 2))
            }
            "form" => measure.running == 0.0,
            _ => false,
        };
        if gone {
            removed.push(child);
        } else {
            collect_clutter(&child, measures, listing, removed);
        }
    }
}

fn holds_heading(element: &NodeRef) -> bool {
    Selection::from(*element).select(HEADINGS).exists()
}

/// Returns true for a list of teasers: linked headings, each with little running text.
fn is_listing(content: &NodeRef, measures: &Measures) -> bool {
    let headings = Selection::from(*content).select(HEADINGS);
    let linked = headings.nodes().iter().filter(|heading| measures.get(heading).link_share() > 0.6).count();
    linked >= MIN_LISTED && measures.get(content).running <= linked as f64 * MAX_TEASER
}

/// Returns true for a few words that are not a sentence.
fn is_label(element: &NodeRef) -> bool {
    let text = element.text();
    let text = text.trim();
    let sentence = text.ends_with(['.', '!', '?', ':', '"', '”', '»', ')', '。', '！', '？']) && !text.ends_with("..");
    !sentence && weight(text) < 30.0 && Selection::from(*element).select("img, pre, code, table").is_empty()
}

/// Removes headings and labels behind the last running text.
fn trim_end(content: &NodeRef, measures: &Measures) {
    let mut element = *content;
    for _ in 0..32 {
        let last = element.children_it(true).find(|child| child.is_element() || !child.text().trim().is_empty());
        let Some(last) = last else { return };
        let measure = measures.get(&last);
        // Related articles, with a few words per link.
        let items = Selection::from(last).select("li").length();
        let list = (last.has_name("ul") || last.has_name("ol"))
            && items >= 2
            && measure.anchors >= items
            && measure.link_share() > 0.25;
        let label = ["p", "div", "span", "center"].iter().any(|name| last.has_name(name)) && is_label(&last);
        let heading = ["h1", "h2", "h3", "h4", "h5", "h6", "hr"].iter().any(|name| last.has_name(name));
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
