//! Which element of a page holds its content, and what in it does not belong there.

use dom_query::{NodeRef, Selection};

use super::measure::{Measures, weight};

/// Marks of the element that holds an article's text, the strictest first: structured data, then the names that
/// publishing systems use.
const BODIES: [&str; 4] = [
    "[itemprop=articleBody]",
    "[class*=article-body i], [class*=articlebody i], [class*=article_body i], [class*=story-body i], [class*=storybody i], \
     [class*=article-content i], [class*=article__content i], [class*=article__body i], [class*=post-content i], [class*=entry-content i], \
     [class*=post-body i], [class*=article-text i], [class*=content-body i], [class*=body-content i], \
     [id*=article-body i], [id*=articlebody i], [id*=story-body i], [id*=article-content i]",
    "article, [role=article]",
    "main, [role=main]",
];
/// Least share of the page's running text that a marked element must hold.
const BODY_SHARE: f64 = 0.5;
/// A child with such a share of its parent's running text is the content, and its siblings are not.
const CHILD_SHARE: f64 = 0.85;
/// An element beside it of the same classes, with such a share of its running text, belongs to it.
const SIBLING_SHARE: f64 = 0.05;
/// Another marked element with such a share of the running text of the largest is a piece of the same content.
const PIECE_SHARE: f64 = 0.15;
/// A page with less running text is a list or a form rather than an article.
const ARTICLE: f64 = 250.0;

/// The content of a page that has running text; `None` for lists, forms and the like.
pub(super) fn find<'a>(body: &NodeRef<'a>) -> Option<NodeRef<'a>> {
    let measures = Measures::of(body);
    let all = measures.get(body).running;
    if all < ARTICLE {
        return None;
    }
    let page = Selection::from(*body);
    let mut found = *body;
    for marks in BODIES {
        let marked = page.select(marks);
        let best = around_all(marked.nodes(), &measures);
        if let Some(best) = best.filter(|best| measures.get(best).running >= all * BODY_SHARE) {
            found = best;
            break;
        }
    }
    Some(narrow(found, &measures))
}

/// The element with the most running text, the innermost of those around the same text. Where the others hold a good
/// deal beside it (texts come cut in pieces, with advertising between), the element around all of them.
fn around_all<'a>(marked: &[NodeRef<'a>], measures: &Measures) -> Option<NodeRef<'a>> {
    let running = |node: &NodeRef| measures.get(node).running;
    let most = marked.iter().map(running).max_by(f64::total_cmp)?;
    let best = marked.iter().rev().find(|node| running(node) >= most * 0.95).copied()?;
    let mut pieces = vec![best];
    for node in marked {
        let large = running(node) >= most * PIECE_SHARE;
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

/// Goes down as long as one child has nearly all the running text.
fn narrow<'a>(mut element: NodeRef<'a>, measures: &Measures) -> NodeRef<'a> {
    loop {
        let running = measures.get(&element).running;
        let heavy = element
            .children_it(false)
            .filter(NodeRef::is_element)
            .find(|child| measures.get(child).running >= running * CHILD_SHARE);
        match heavy {
            // A paragraph or a list alone is a part of the content, and so is one of several pieces of a kind.
            Some(child) if holds_content(&child) && !is_one_of_several(&child, measures) => element = child,
            _ => return element,
        }
    }
}

/// Whether an element beside it has the same classes and running text worth speaking of.
fn is_one_of_several(element: &NodeRef, measures: &Measures) -> bool {
    let classes = element.attr("class");
    let Some(parent) = element.parent().filter(|_| classes.is_some()) else { return false };
    let least = measures.get(element).running * SIBLING_SHARE;
    parent
        .children_it(false)
        .filter(NodeRef::is_element)
        .any(|other| other.id != element.id && other.attr("class") == classes && measures.get(&other).running > least)
}

/// Whether the element can be the whole content: a paragraph, a list or a table of data is a part of it.
fn holds_content(element: &NodeRef) -> bool {
    let container =
        ["div", "section", "article", "main", "td", "table", "tbody", "tr", "center", "form", "span", "figure"];
    let data = element.has_name("table") && !Selection::from(*element).select("th").is_empty();
    container.iter().any(|name| element.has_name(name)) && !data
}

/// Takes out of an article what is woven into it: lists of links, links to other articles, empty headings.
pub(super) fn weed(content: &NodeRef) {
    let measures = Measures::of(content);
    let mut removed = Vec::new();
    pick(content, &measures, &mut removed);
    for element in removed {
        element.remove_from_parent();
    }
    trim_end(content, &measures);
}

fn pick<'a>(element: &NodeRef<'a>, measures: &Measures, removed: &mut Vec<NodeRef<'a>>) {
    for child in element.children_it(false).filter(NodeRef::is_element) {
        let measure = measures.get(&child);
        let name = child.node_name().unwrap_or_default();
        let links = measure.link_share();
        let gone = match &*name {
            "ul" | "ol" | "dl" => links > 0.7 && measure.running == 0.0 && measure.anchors >= 2,
            "div" | "section" | "aside" | "figure" | "header" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                links > 0.6 && measure.running == 0.0
            }
            "table" => links > 0.8 && measure.running == 0.0 && measure.anchors >= 4,
            // A paragraph that is nothing but a link, or a row of them, leads away from the text; one in a list that was
            // found to be content does not.
            "p" if !element.has_name("li") => {
                measure.running == 0.0 && (links > 0.95 || (links > 0.8 && measure.anchors >= 2))
            }
            "form" => measure.running == 0.0,
            _ => false,
        };
        if gone {
            removed.push(child);
        } else {
            pick(&child, measures, removed);
        }
    }
}

/// A few words that are no sentence.
fn is_label(element: &NodeRef) -> bool {
    let text = element.text();
    let text = text.trim();
    let sentence = text.ends_with(['.', '!', '?', ':', '"', '”', '»', ')', '。', '！', '？']) && !text.ends_with("..");
    !sentence && weight(text) < 30.0 && Selection::from(*element).select("img, pre, code, table").is_empty()
}

/// Headings and labels at the end, behind the last running text, head nothing any more.
fn trim_end(content: &NodeRef, measures: &Measures) {
    let mut element = *content;
    for _ in 0..32 {
        let last = element.children_it(true).find(|child| child.is_element() || !child.text().trim().is_empty());
        let Some(last) = last else { return };
        let measure = measures.get(&last);
        // What to read next, with a few words to each link.
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
