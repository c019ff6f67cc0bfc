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
/// Least running text that stays beside such a child: in front of it, and in an element like it.
const LEAD: f64 = 120.0;
const MORE: f64 = 200.0;
/// Largest share of link text in these.
const LEAD_LINKS: f64 = 0.25;
/// Another marked element with such a share of the running text of the largest is a piece of the same content.
const PIECE_SHARE: f64 = 0.15;
const HEADINGS: &str = "h2, h3, h4, h5, h6";
/// Fewest headings that are links in a list of teasers, and the most running text to each of them.
const LISTED: usize = 4;
const TEASER: f64 = 250.0;
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

/// Goes down as long as one child has nearly all the running text, and takes out what stands beside it: headline,
/// byline, what to read next. Text beside it that leads up to it (a summary, a question), or that is more of the same,
/// stays: then the element around all of that is the content.
fn narrow<'a>(found: NodeRef<'a>, measures: &Measures) -> NodeRef<'a> {
    let (mut content, mut element) = (found, found);
    let mut strangers = Vec::new();
    loop {
        let running = measures.get(&element).running;
        let children: Vec<NodeRef> = element.children_it(false).filter(NodeRef::is_element).collect();
        let heavy = children.iter().position(|child| measures.get(child).running >= running * CHILD_SHARE);
        // A paragraph or a list alone is a part of the content.
        let Some((at, heavy)) = heavy.map(|at| (at, children[at])).filter(|(_, heavy)| holds_content(heavy)) else {
            break;
        };
        let belongs = |place: usize, child: &NodeRef| {
            place == at || (place < at && leads_up(child, measures)) || is_more(child, &heavy, measures)
        };
        let (pieces, others): (Vec<_>, Vec<_>) =
            children.into_iter().enumerate().partition(|(place, child)| belongs(*place, child));
        if pieces.len() == 1 && content.id == element.id {
            content = heavy;
        } else {
            strangers.extend(others.into_iter().map(|(_, child)| child));
        }
        element = heavy;
    }
    for stranger in strangers {
        stranger.remove_from_parent();
    }
    content
}

/// Text before the main text that is more than a line under the headline.
fn leads_up(element: &NodeRef, measures: &Measures) -> bool {
    let measure = measures.get(element);
    measure.running >= LEAD && measure.link_share() <= LEAD_LINKS
}

fn is_more(element: &NodeRef, of: &NodeRef, measures: &Measures) -> bool {
    let measure = measures.get(element);
    let alike = element.node_name() == of.node_name() && element.attr("class") == of.attr("class");
    alike && measure.running >= MORE && measure.link_share() <= LEAD_LINKS
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
    pick(content, &measures, is_listing(content, &measures), &mut removed);
    for element in removed {
        element.remove_from_parent();
    }
    trim_end(content, &measures);
}

fn pick<'a>(element: &NodeRef<'a>, measures: &Measures, listing: bool, removed: &mut Vec<NodeRef<'a>>) {
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
            pick(&child, measures, listing, removed);
        }
    }
}

fn holds_heading(element: &NodeRef) -> bool {
    Selection::from(*element).select(HEADINGS).exists()
}

/// Whether the text is a list of teasers: headings that are links, each with little running text.
fn is_listing(content: &NodeRef, measures: &Measures) -> bool {
    let headings = Selection::from(*content).select(HEADINGS);
    let linked = headings.nodes().iter().filter(|heading| measures.get(heading).link_share() > 0.6).count();
    linked >= LISTED && measures.get(content).running <= linked as f64 * TEASER
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
