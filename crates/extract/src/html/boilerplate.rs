//! Removal of boilerplate around the content of a page: navigation, sharing, advertising, related articles, comments.

use std::collections::{HashMap, HashSet};

use dom_query::NodeRef;

use super::forms;
use super::marks::{Mark, Names};
use super::measure::{HEADINGS, Measure, Measures};
use super::node_map::{NodeMap, NodeSet};

/// Selector of elements that are never content.
const NEVER_CONTENT: &str = "script, style, template, noscript, svg, canvas, iframe, object, embed, nav, button, input, select, \
     textarea, dialog, link, meta, menu, [role=navigation], [role=search], [role=dialog], [role=alertdialog], \
     [role=menu], [role=menubar], [role=toolbar], [aria-modal=true]";
/// Selector of anchor signs, line numbers and elements that repeat text as drawing.
const DECORATIONS: &str = "a[aria-hidden=true], [class~=mw-editsection], [class~=katex-html], td[class~=linenos], td[class~=gutter], \
     [class~=line-numbers-rows], [class~=linenodiv]";

/// Running text that must remain for a page to be an article without the part in question.
const MIN_ARTICLE: f64 = 400.0;
const MIN_SHORT_ARTICLE: f64 = 150.0;
/// Minimum text in declared content that makes the parts beside it boilerplate, however large they are.
const MIN_DECLARED: f64 = 40.0;
/// Maximum share of the page's running text in a boilerplate element, and with an article left over.
const MAX_SHARE: f64 = 0.3;
const MAX_SHARE_OF_ARTICLE: f64 = 0.6;
/// Maximum share of a part beside the article.
const MAX_SHARE_BESIDE: f64 = 0.8;
/// Minimum share of the page's running text outside comments for them to be boilerplate.
const MIN_LEFT_OF_COMMENTS: f64 = 0.15;
/// Maximum share of all comments in the running text of a page without an article; with more it is a discussion.
const MAX_SHARE_OF_COMMENTS: f64 = 0.5;
/// Maximum weight of a form's text.
const MAX_FORM: f64 = 1500.0;
/// Maximum weight of a button's or date's text.
const MAX_CONTROL: f64 = 60.0;

/// Removes elements that are never content, and marked elements that are small enough to be boilerplate. On pages from
/// the web, forms are boilerplate too.
pub(super) fn remove(body: &NodeRef, from_web: bool) {
    let page = dom_query::Selection::from(*body);
    // Fields are removed below.
    let forms = if from_web { forms::find(&page) } else { Vec::new() };
    page.select(NEVER_CONTENT).remove();
    page.select(DECORATIONS).remove();
    let measures = Measures::of(body);
    let Measure { text, running: all, .. } = measures.get(body);
    let (mut marks, bodies) = classify(&page);
    marks.extend(forms.iter().map(|form| (form.id, Mark::Form)));
    let headlines = page.select("h1");
    let headline = (headlines.length() == 1).then(|| headlines.nodes().first().copied()).flatten();
    let kept = content_and_ancestors(&page, &bodies, headline, &measures);
    let bodies = bodies.iter().map(|node| node.id).collect();
    let headings = page.select(HEADINGS);
    let headed = with_ancestors(headings.nodes().iter());
    let mut classifier = Classifier {
        measures,
        marks,
        bodies,
        text,
        all,
        outside_marks: Amount::default(),
        headline: headline.is_some(),
        kept,
        headed,
        shares: HashMap::new(),
    };
    classifier.outside_marks = classifier.outside_marks(body, false);
    let mut shares = HashMap::new();
    classifier.add_shares(body, &mut HashSet::new(), &mut shares);
    classifier.shares = shares;
    let mut removed = Vec::new();
    classifier.collect_boilerplate(body, false, &mut removed);
    for element in removed {
        element.remove_from_parent();
    }
}

/// Returns the marks of all marked elements, and the elements that are named the body of an article.
fn classify<'a>(page: &dom_query::Selection<'a>) -> (NodeMap<Mark>, Vec<NodeRef<'a>>) {
    let mut names = Names::default();
    let (mut marks, mut bodies) = (NodeMap::default(), Vec::new());
    for element in page.select("[class], [id], [role], [itemprop], footer, aside").nodes() {
        if names.is_body(element) {
            bodies.push(*element);
        } else {
            match names.mark(element) {
                Mark::None => {}
                mark => drop(marks.insert(element.id, mark)),
            }
        }
    }
    (marks, bodies)
}

/// Returns elements that are content whatever their classes say, with their ancestors: those declared so by structured
/// data or by their tag, the largest one named so by its class, and the page's only headline.
fn content_and_ancestors(
    page: &dom_query::Selection,
    bodies: &[NodeRef],
    headline: Option<NodeRef>,
    measures: &Measures,
) -> NodeSet {
    let declared = page.select("[itemprop=articleBody], main, [role=main]");
    let running = |node: &&NodeRef| measures.get(node).running;
    let largest = bodies.iter().max_by(|one, other| running(one).total_cmp(&running(other)));
    with_ancestors(declared.nodes().iter().chain(largest).chain(&headline))
}

/// Returns the elements with their ancestors.
fn with_ancestors<'n, 'a: 'n>(elements: impl Iterator<Item = &'n NodeRef<'a>>) -> NodeSet {
    let mut found = NodeSet::default();
    for element in elements {
        for around in std::iter::once(*element).chain(element.ancestors_it(None)) {
            // Its ancestors are there already.
            if !found.insert(around.id) {
                break;
            }
        }
    }
    found
}

/// Amount of text.
#[derive(Clone, Copy, Debug, Default)]
struct Amount {
    running: f64,
    /// Text, running or not, in the bodies of articles. Links do not count.
    declared: f64,
    /// Running text of comments.
    comments: f64,
    /// Set if comments hold bodies of articles, as the posts of a forum do.
    posts: bool,
}

/// Name and class of elements that are parts of the same kind, such as the dishes of a menu.
type Kind = (String, String);

/// Returns the kind of an element. An element without a class is alone.
fn kind(element: &NodeRef) -> Option<Kind> {
    let class = element.attr("class")?;
    Some((element.node_name()?.to_string(), class.to_string()))
}

struct Classifier {
    measures: Measures,
    marks: NodeMap<Mark>,
    /// Elements that are named the body of an article.
    bodies: NodeSet,
    /// Text of the page, and its running text.
    text: f64,
    all: f64,
    /// Text outside marked elements, and comments outside other marked elements.
    outside_marks: Amount,
    /// Set if the page has one headline.
    headline: bool,
    /// Elements that are never boilerplate, even with marks.
    kept: NodeSet,
    /// Elements with headings inside.
    headed: NodeSet,
    /// Shares of the elements that are marked as boilerplate, by their kind.
    shares: HashMap<Kind, f64>,
}

impl Classifier {
    fn collect_boilerplate<'a>(&self, element: &NodeRef<'a>, inside: bool, removed: &mut Vec<NodeRef<'a>>) {
        for child in element.children_it(false).filter(NodeRef::is_element) {
            // Classes inside code name the tokens of its language: `comment`, `meta`.
            if child.has_name("pre") || child.has_name("code") || child.has_name("math") {
                continue;
            }
            let inside = inside || self.bodies.contains(&child.id);
            // A formula is content, even if the program that renders it is named like boilerplate.
            if self.is_removable(&child, inside) && !dom_query::Selection::from(child).select("math").exists() {
                removed.push(child);
            } else {
                self.collect_boilerplate(&child, inside, removed);
            }
        }
    }

    fn mark(&self, element: &NodeRef) -> Mark {
        match self.marks.get(&element.id) {
            Some(mark) if !self.kept.contains(&element.id) => *mark,
            _ => Mark::None,
        }
    }

    /// Returns the amount of text below the element and outside marks, and of the comments in there; `declared` if the
    /// element is declared content.
    fn outside_marks(&self, element: &NodeRef, declared: bool) -> Amount {
        let whole = self.measures.get(element);
        let mut amount = Amount {
            running: whole.running,
            declared: if declared { whole.text - whole.links } else { 0.0 },
            ..Amount::default()
        };
        for child in element.children_it(false).filter(NodeRef::is_element) {
            let measure = self.measures.get(&child);
            let within = declared || self.bodies.contains(&child.id);
            let left = match self.mark(&child) {
                Mark::None | Mark::Control | Mark::Form => self.outside_marks(&child, within),
                Mark::Comments => {
                    let posts = child.descendants_it().any(|inner| self.bodies.contains(&inner.id));
                    Amount { comments: measure.running, posts, ..Amount::default() }
                }
                _ => Amount::default(),
            };
            amount.running -= measure.running - left.running;
            if declared {
                amount.declared -= measure.text - measure.links;
            }
            amount.declared += left.declared;
            amount.comments += left.comments;
            amount.posts |= left.posts;
        }
        amount
    }

    /// Returns true if the comments are the content, as in a forum. Beside declared content, only comments that declare
    /// content too are.
    fn is_discussion(&self) -> bool {
        let Amount { declared, comments, posts, .. } = self.outside_marks;
        comments > self.all * MAX_SHARE_OF_COMMENTS && (posts || declared < MIN_DECLARED)
    }

    fn share(&self, element: &NodeRef) -> f64 {
        if self.all > 0.0 { self.measures.get(element).running / self.all } else { 0.0 }
    }

    /// Returns the element's share of the page. Text below headings of its own counts even if it is not running, as in a
    /// menu with prices.
    fn own_share(&self, element: &NodeRef) -> f64 {
        let share = self.share(element);
        if self.text == 0.0 || !self.headed.contains(&element.id) {
            return share;
        }
        let measure = self.measures.get(element);
        share.max((measure.text - measure.links) / self.text)
    }

    /// Returns the share of all elements of the same kind, which are boilerplate or content together.
    fn share_of_kind(&self, element: &NodeRef) -> f64 {
        let share = self.own_share(element);
        kind(element).and_then(|kind| self.shares.get(&kind)).map_or(share, |all| all.max(share))
    }

    /// Adds the shares of boilerplate below the element. `open` has the kinds around it: an element in one of its kind
    /// counts once.
    fn add_shares(&self, element: &NodeRef, open: &mut HashSet<Kind>, shares: &mut HashMap<Kind, f64>) {
        for child in element.children_it(false).filter(NodeRef::is_element) {
            let kind = if self.mark(&child) == Mark::Boilerplate { kind(&child) } else { None };
            let opened = kind.filter(|kind| open.insert(kind.clone()));
            if let Some(kind) = &opened {
                *shares.entry(kind.clone()).or_default() += self.own_share(&child);
            }
            self.add_shares(&child, open, shares);
            if let Some(kind) = opened {
                open.remove(&kind);
            }
        }
    }

    /// Returns true for a marked element that is small enough, or whose page has enough other text. `inside` is true
    /// in the body of an article.
    ///
    /// The rest must be an article without all marked elements, since they are removed for the same reason.
    fn is_removable(&self, element: &NodeRef, inside: bool) -> bool {
        let Amount { running: left, declared, .. } = self.outside_marks;
        let share = self.share(element);
        let is_article = left >= MIN_ARTICLE || (self.headline && left >= MIN_SHORT_ARTICLE);
        match self.mark(element) {
            Mark::None => false,
            // A toolbar on a code block must not remove the block.
            Mark::Boilerplate | Mark::Control if dom_query::Selection::from(*element).select("pre").exists() => false,
            Mark::Control => self.measures.get(element).text <= MAX_CONTROL,
            Mark::Form => self.measures.get(element).text <= (self.text * MAX_SHARE).min(MAX_FORM),
            Mark::Footer if left >= MIN_SHORT_ARTICLE || declared >= MIN_DECLARED => true,
            Mark::Side if declared >= MIN_DECLARED && !inside => true,
            Mark::Comments if left >= MIN_ARTICLE => true,
            // Each of them is a small part of the page.
            Mark::Comments if self.is_discussion() => false,
            Mark::Comments if left >= MIN_SHORT_ARTICLE => share <= MAX_SHARE,
            // Without other text, the comments are the content.
            Mark::Comments => share <= MAX_SHARE && left >= self.all * MIN_LEFT_OF_COMMENTS,
            Mark::Side if is_article && !inside => share <= MAX_SHARE_BESIDE,
            // A short text may introduce what is marked.
            Mark::Boilerplate if is_article && left < MIN_ARTICLE => {
                self.share_of_kind(element) <= MAX_SHARE_OF_ARTICLE
            }
            Mark::Boilerplate | Mark::Side if is_article => share <= MAX_SHARE_OF_ARTICLE,
            Mark::Boilerplate => self.share_of_kind(element) <= MAX_SHARE,
            Mark::Side | Mark::Footer => share <= MAX_SHARE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dom_query::Document;

    #[test]
    fn marked_parts_are_removed_unless_they_are_the_page() {
        let text = "A sentence that is long enough to be taken for running text by anyone.";
        let page = Document::from(format!(
            "<body><div class='layout has-sidebar'><div class='article-author'>Ann</div><p>{text}</p><p>{text}</p><p>{text}</p><div class='related-posts'><p>{text}</p></div></div></body>"
        ));
        remove(&page.body().expect("a body"), false);
        let left = page.text();
        assert_eq!(left.matches("A sentence").count(), 3);
        assert!(!left.contains("Ann"));
        let forum = Document::from(format!("<body><div id='comments'><p>{text}</p><p>{text}</p></div></body>"));
        remove(&forum.body().expect("a body"), false);
        assert_eq!(forum.text().matches("A sentence").count(), 2);
    }
}
