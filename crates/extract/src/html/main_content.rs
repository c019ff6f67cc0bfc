//! Main content of a page: the element that holds it.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use dom_query::{NodeRef, Selection};

use super::lead;
use super::measure::{HEADINGS, Measures, first_heading};
use super::node_map::NodeSet;
use super::prompts;
use super::recipe;

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
/// Minimum running text to keep a sibling: before the content, and in an element like it without a heading.
const MIN_LEAD: f64 = 120.0;
const MIN_CONTINUATION: f64 = 200.0;
/// Maximum link share of such a sibling.
const MAX_SIBLING_LINKS: f64 = 0.25;
/// Minimum number of entries in a plain list of facts.
const MIN_FACTS: usize = 2;
/// Minimum running text, relative to the largest marked element, for another one to be part of the same content.
const MIN_PIECE_SHARE: f64 = 0.15;
/// Minimum running text of an article; pages with less are lists or forms.
const MIN_ARTICLE: f64 = 250.0;
/// Minimum weight of text outside links in the declared content of a page with less.
const MIN_SHORT: f64 = 60.0;
/// Link share of such content above which it is a list.
const MAX_LINKS_OF_SHORT: f64 = 0.4;

/// Main content of a page.
pub(super) struct Content<'a> {
    pub element: NodeRef<'a>,
    /// Set for content that consists of links.
    pub is_list: bool,
}

/// Returns the content of a page with running text; `None` for lists, forms and the like.
pub(super) fn find<'a>(body: &NodeRef<'a>) -> Option<Content<'a>> {
    let measures = Measures::of(body);
    let all = measures.get(body).running;
    let page = Selection::from(*body);
    if all < MIN_ARTICLE {
        let element = find_short(&page, &measures)?;
        let is_list = measures.get(&element).link_share() > MAX_LINKS_OF_SHORT;
        return Some(Content { element, is_list });
    }
    let mut found = *body;
    for marks in BODY_SELECTORS {
        let marked = page.select(marks);
        let best = common_ancestor(marked.nodes(), &measures);
        if let Some(best) = best.filter(|best| measures.get(best).running >= all * MIN_BODY_SHARE) {
            found = best;
            break;
        }
    }
    Some(Content { element: narrow(body, found, &measures), is_list: false })
}

/// Returns the declared content of a page with little text. A single element must be declared, since lists have many.
fn find_short<'a>(page: &Selection<'a>, measures: &Measures) -> Option<NodeRef<'a>> {
    let own_text = |node: &NodeRef| {
        let measure = measures.get(node);
        measure.text - measure.links
    };
    BODY_SELECTORS.iter().find_map(|marks| {
        let marked = page.select(marks);
        let ids: NodeSet = marked.nodes().iter().map(|node| node.id).collect();
        let is_outer = |node: &&NodeRef| !node.ancestors_it(None).any(|around| ids.contains(&around.id));
        let mut outer = marked.nodes().iter().filter(is_outer);
        let (first, second) = (outer.next().copied(), outer.next());
        first.filter(|node| second.is_none() && own_text(node) >= MIN_SHORT)
    })
}

/// Returns the innermost element with nearly the most running text. If other marked elements hold a good deal too, as
/// in texts split by advertising, returns their common ancestor.
fn common_ancestor<'a>(marked: &[NodeRef<'a>], measures: &Measures) -> Option<NodeRef<'a>> {
    let running = |node: &NodeRef| measures.get(node).running;
    let most = marked.iter().map(running).max_by(f64::total_cmp)?;
    let best = marked.iter().rev().find(|node| running(node) >= most * 0.95).copied()?;
    let mut around = best;
    for piece in marked.iter().filter(|node| running(node) >= most * MIN_PIECE_SHARE && !is_within(&best, node)) {
        while piece.id != around.id && !is_within(piece, &around) {
            around = around.parent()?;
        }
    }
    Some(around)
}

fn is_within(inner: &NodeRef, outer: &NodeRef) -> bool {
    inner.ancestors_it(None).any(|ancestor| ancestor.id == outer.id)
}

/// Descends while one child has nearly all running text, and removes its siblings: headline, byline, related articles.
/// Siblings that introduce the text (a summary, a question), continue it or state facts are kept; the element around
/// them is then the content.
fn narrow<'a>(body: &NodeRef<'a>, found: NodeRef<'a>, measures: &Measures) -> NodeRef<'a> {
    let (mut content, mut element) = (found, found);
    let mut unrelated = Vec::new();
    let mut declared = found.ancestors_it(None).any(|around| is_declared(&around));
    loop {
        declared |= is_declared(&element);
        let running = measures.get(&element).running;
        let children: Vec<NodeRef> = element.children_it(false).filter(NodeRef::is_element).collect();
        let heavy = children.iter().position(|child| measures.get(child).running >= running * MIN_CHILD_SHARE);
        // A single paragraph or list is only part of the content.
        let Some((at, heavy)) = heavy.map(|at| (at, children[at])).filter(|(_, heavy)| holds_content(heavy)) else {
            break;
        };
        let found_levels = OnceCell::new();
        let levels = || found_levels.get_or_init(|| levels_of(&heavy)).as_slice();
        let belongs = |place: usize, child: &NodeRef| {
            place == at
                || (place < at && is_introduction(child, measures))
                || is_continuation(child, &heavy, declared, measures)
                || (declared && states_facts(child, levels, measures))
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
    let leads = lead::find(body, &element, measures);
    unrelated.retain(|element| leads.iter().all(|lead| lead.id != element.id));
    lead::attach(&leads, &content, &unrelated);
    recipe::attach(body, &content, measures);
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

/// Returns true for text in an element like that of the main text: a further section or post. Short text is one only in
/// `declared` content or in a `section`: around that, the columns and rows of a layout are alike too. Without a heading,
/// it is one by its class, if the main text has no heading either.
fn is_continuation(element: &NodeRef, of: &NodeRef, declared: bool, measures: &Measures) -> bool {
    let measure = measures.get(element);
    let alike = element.node_name() == of.node_name() && element.attr("class") == of.attr("class");
    if !alike || measure.text == 0.0 || measure.link_share() > MAX_SIBLING_LINKS {
        return false;
    }
    if measure.running >= MIN_CONTINUATION {
        return true;
    }
    match first_heading(element) {
        // A heading alone is the headline of the page.
        Some(heading) => {
            (declared || element.has_name("section"))
                && !element.has_name("td")
                && measure.text > measures.get(&heading).text
                && !leads_away(&heading)
        }
        None => declared && element.has_attr("class") && (measure.running > 0.0 || first_heading(of).is_none()),
    }
}

/// Returns true for a section with a heading and a table or list of facts: a specification, opening hours, benefits. A
/// plain list must have a heading like those of the main text, whose `levels` are given, if there are any.
fn states_facts<'l>(element: &NodeRef, levels: impl Fn() -> &'l [String], measures: &Measures) -> bool {
    if measures.get(element).link_share() > MAX_SIBLING_LINKS {
        return false;
    }
    let is_section = |heading: &NodeRef| heading.has_name("h2") || heading.has_name("h3");
    let Some(heading) = first_heading(element).filter(|heading| is_section(heading) && !leads_away(heading)) else {
        return false;
    };
    let is_alike = || {
        let levels = levels();
        levels.is_empty() || levels.iter().any(|level| heading.has_name(level))
    };
    let inside = Selection::from(*element);
    inside.select("th, dl").exists() || (inside.select("li").length() >= MIN_FACTS && is_alike())
}

/// Returns the names of the headings in an element, each once.
fn levels_of(element: &NodeRef) -> Vec<String> {
    let headings = Selection::from(*element).select(HEADINGS);
    let names: BTreeSet<String> =
        headings.nodes().iter().filter_map(|heading| Some(heading.node_name()?.to_string())).collect();
    names.into_iter().collect()
}

fn leads_away(heading: &NodeRef) -> bool {
    prompts::prompt(&heading.text()).is_some()
}

/// Returns true for an element whose tag or role declares it content.
fn is_declared(element: &NodeRef) -> bool {
    element.has_name("main") || element.has_name("article") || element.attr("role").as_deref() == Some("main")
}

/// Returns true if the element can be the whole content; a paragraph, list or data table is only part of it.
fn holds_content(element: &NodeRef) -> bool {
    let container =
        ["div", "section", "article", "main", "td", "table", "tbody", "tr", "center", "form", "span", "figure"];
    let data = element.has_name("table") && !Selection::from(*element).select("th").is_empty();
    container.iter().any(|name| element.has_name(name)) && !data
}
