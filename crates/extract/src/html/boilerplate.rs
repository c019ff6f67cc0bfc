//! Removal of boilerplate around the content of a page: navigation, sharing, advertising, related articles, comments.

use std::collections::HashSet;

use dom_query::{NodeId, NodeRef};

use super::measure::Measures;

/// Selector of elements that are never content.
const NEVER_CONTENT: &str = "script, style, template, noscript, svg, canvas, iframe, object, embed, nav, button, input, select, \
     textarea, dialog, link, meta, menu, [role=navigation], [role=search], [role=dialog], [role=alertdialog], \
     [role=menu], [role=menubar], [role=toolbar], [aria-modal=true]";
/// Selector of anchor signs, line numbers and elements that repeat text as drawing.
const DECORATIONS: &str = "a[aria-hidden=true], [class~=mw-editsection], [class~=katex-html], td[class~=linenos], td[class~=gutter], \
     [class~=line-numbers-rows], [class~=linenodiv]";

/// Words in class names and ids that mark boilerplate on any site. They are English, as class names are.
const BOILERPLATE_WORDS: [&str; 79] = [
    "ad",
    "ads",
    "adv",
    "advert",
    "advertisement",
    "advertising",
    "adsense",
    "alsoread",
    "author",
    "banner",
    "bio",
    "breadcrumb",
    "breadcrumbs",
    "byline",
    "caption",
    "captions",
    "carousel",
    "consent",
    "cookie",
    "cookies",
    "credit",
    "crumbs",
    "dateline",
    "dfp",
    "disclaimer",
    "donate",
    "flyout",
    "follow",
    "gdpr",
    "jumplinks",
    "login",
    "masthead",
    "menu",
    "meta",
    "metadata",
    "mostread",
    "nav",
    "navbar",
    "navigation",
    "newsletter",
    "newsletters",
    "noprint",
    "outbrain",
    "overlay",
    "pager",
    "paginate",
    "pagination",
    "paywall",
    "pingback",
    "popular",
    "popup",
    "postmeta",
    "promo",
    "promoted",
    "promotion",
    "readmore",
    "readnext",
    "recirc",
    "recommend",
    "recommended",
    "recommendations",
    "related",
    "share",
    "sharebar",
    "sharing",
    "sidebar",
    "signup",
    "skip",
    "social",
    "sponsor",
    "sponsored",
    "subscribe",
    "subscription",
    "taboola",
    "tags",
    "teaser",
    "teasers",
    "toolbar",
    "trending",
];
/// Pairs of words that mark boilerplate only together.
const BOILERPLATE_PAIRS: [(&str, &str); 29] = [
    ("about", "author"),
    ("also", "read"),
    ("also", "like"),
    ("also", "on"),
    ("read", "more"),
    ("read", "next"),
    ("up", "next"),
    ("most", "read"),
    ("most", "viewed"),
    ("more", "stories"),
    ("more", "news"),
    ("more", "from"),
    ("more", "articles"),
    ("next", "article"),
    ("post", "nav"),
    ("prev", "next"),
    ("see", "also"),
    ("side", "bar"),
    ("tag", "list"),
    ("print", "only"),
    ("entry", "tags"),
    ("call", "action"),
    ("sr", "only"),
    ("screen", "reader"),
    ("visually", "hidden"),
    ("d", "none"),
    ("right", "rail"),
    ("left", "rail"),
    ("side", "rail"),
];
/// Words for the footer of a page, which may be most of a short page.
const FOOTER_WORDS: [&str; 4] = ["footer", "footers", "colophon", "copyright"];
/// Words for user comments, which may be most of a page.
const COMMENT_WORDS: [&str; 10] = [
    "comment",
    "comments",
    "commentlist",
    "commentform",
    "comentarios",
    "disqus",
    "discussion",
    "replies",
    "respond",
    "livefyre",
];
/// Words that make the next word a property of something else: `has-sidebar`, `no-comments`.
const PROPERTY_PREFIXES: [&str; 8] = ["has", "with", "no", "without", "hide", "is", "layout", "show"];

/// Running text that must remain for a page to be an article without the part in question.
const MIN_ARTICLE: f64 = 400.0;
const MIN_SHORT_ARTICLE: f64 = 150.0;

/// Removes elements that are never content, and marked elements that are small enough to be boilerplate.
pub(super) fn remove(body: &NodeRef) {
    let page = dom_query::Selection::from(*body);
    page.select(NEVER_CONTENT).remove();
    page.select(DECORATIONS).remove();
    let measures = Measures::of(body);
    let mut classifier =
        Classifier { all: measures.get(body).running, unmarked: 0.0, measures, kept: content_and_ancestors(&page) };
    classifier.unmarked = classifier.all - classifier.marked_text(body);
    let mut removed = Vec::new();
    classifier.collect_boilerplate(body, &mut removed);
    for element in removed {
        element.remove_from_parent();
    }
}

/// Returns elements that are content whatever their classes say, with their ancestors: those named so by structured
/// data or by their tag, and the page's only headline.
fn content_and_ancestors(page: &dom_query::Selection) -> HashSet<NodeId> {
    let declared = page.select("[itemprop=articleBody], main, [role=main]");
    let headlines = page.select("h1");
    let headline = if headlines.length() == 1 { headlines.nodes() } else { &[] };
    declared
        .nodes()
        .iter()
        .chain(headline)
        .flat_map(|node| node.ancestors_it(None).map(|around| around.id).chain([node.id]))
        .collect()
}

/// Maximum number of nodes before the heading of a section.
const MAX_BEFORE_HEADING: usize = 8;
/// Number of ancestors checked for boilerplate.
const MAX_ANCESTORS: usize = 8;

struct Classifier {
    measures: Measures,
    /// Running text of the page.
    all: f64,
    /// Running text outside marked elements.
    unmarked: f64,
    /// Elements that are never boilerplate, even with marks.
    kept: HashSet<NodeId>,
}

impl Classifier {
    fn collect_boilerplate<'a>(&self, element: &NodeRef<'a>, removed: &mut Vec<NodeRef<'a>>) {
        for child in element.children_it(false).filter(NodeRef::is_element) {
            let limit = self.max_share(&child);
            // A formula is content, even if the program that renders it is named like boilerplate.
            let removable = limit > 0.0 && self.share(&child) <= limit;
            if removable && !dom_query::Selection::from(child).select("math").exists() {
                removed.push(child);
            } else {
                self.collect_boilerplate(&child, removed);
            }
        }
    }

    fn mark(&self, element: &NodeRef) -> Mark {
        if self.kept.contains(&element.id) || is_named_content(element) { Mark::None } else { marked(element) }
    }

    fn marked_text(&self, element: &NodeRef) -> f64 {
        let children = element.children_it(false).filter(NodeRef::is_element);
        children
            .map(|child| match self.mark(&child) {
                Mark::None => self.marked_text(&child),
                _ => self.measures.get(&child).running,
            })
            .sum()
    }

    fn share(&self, element: &NodeRef) -> f64 {
        if self.all > 0.0 { self.measures.get(element).running / self.all } else { 0.0 }
    }

    /// Returns the largest share of the page's running text that the element may have as boilerplate; 0 without marks.
    fn max_share(&self, element: &NodeRef) -> f64 {
        // The rest must be an article without all marked elements, since they are removed for the same reason.
        let left = self.unmarked;
        match self.mark(element) {
            Mark::None => 0.0,
            // A toolbar on a code block must not remove the block.
            Mark::Boilerplate if dom_query::Selection::from(*element).select("pre").exists() => 0.0,
            Mark::Comments if left >= MIN_ARTICLE => 1.0,
            Mark::Footer if left >= MIN_SHORT_ARTICLE => 1.0,
            Mark::Boilerplate if left >= MIN_ARTICLE => 0.6,
            Mark::Boilerplate | Mark::Comments | Mark::Footer => 0.3,
        }
    }
}

/// Returns true if the element is part of a page's boilerplate.
pub(super) fn is_boilerplate(element: &NodeRef) -> bool {
    let around = element.ancestors_it(Some(MAX_ANCESTORS));
    std::iter::once(*element).chain(around).any(|node| {
        !matches!(marked(&node), Mark::None)
            || ["nav", "form", "dialog", "menu", "noscript", "button", "select", "svg", "a", "label"]
                .iter()
                .any(|name| node.has_name(name))
            || [
                "dialog",
                "alertdialog",
                "navigation",
                "search",
                "menu",
                "menubar",
                "toolbar",
                "tooltip",
                "alert",
                "status",
            ]
            .iter()
            .any(|role| node.attr("role").as_deref() == Some(role))
    })
}

/// Checks for a class that names the element as content: `entry-content`, `article__body`.
fn is_named_content(element: &NodeRef) -> bool {
    let classes = element.attr("class").unwrap_or_default();
    classes.split_whitespace().any(|token| {
        let words = split_words(token);
        words.len() == 2
            && matches!(words[0].as_str(), "entry" | "post" | "article" | "story" | "page" | "main")
            && matches!(words[1].as_str(), "content" | "body" | "text")
    })
}

enum Mark {
    None,
    Boilerplate,
    Comments,
    Footer,
}

fn marked(element: &NodeRef) -> Mark {
    let name = element.node_name().unwrap_or_default();
    match &*name {
        "footer" => return Mark::Footer,
        "aside" => return Mark::Boilerplate,
        "html" | "body" | "article" | "main" | "p" | "h1" | "table" | "tbody" | "tr" | "td" | "pre" | "code"
        | "figcaption" | "caption" => return Mark::None,
        _ => {}
    }
    if matches!(element.attr("role").as_deref(), Some("complementary" | "banner")) {
        return Mark::Boilerplate;
    }
    if element.attr("role").as_deref() == Some("contentinfo") {
        return Mark::Footer;
    }
    let mut found = Mark::None;
    for attribute in ["class", "id"] {
        let Some(value) = element.attr(attribute) else { continue };
        if attribute == "id" && is_slug_of_heading(element, &value) {
            continue;
        }
        for token in value.split_whitespace() {
            let words = split_words(token);
            for (at, word) in words.iter().enumerate() {
                let property = at > 0 && PROPERTY_PREFIXES.contains(&words[at - 1].as_str());
                if property {
                    continue;
                }
                if COMMENT_WORDS.contains(&word.as_str()) {
                    return Mark::Comments;
                }
                if FOOTER_WORDS.contains(&word.as_str()) {
                    return Mark::Footer;
                }
                let pair =
                    words.get(at + 1).is_some_and(|next| BOILERPLATE_PAIRS.contains(&(word.as_str(), next.as_str())));
                if pair || BOILERPLATE_WORDS.contains(&word.as_str()) {
                    found = Mark::Boilerplate;
                }
            }
        }
    }
    found
}

/// Checks if the id is derived from the heading at the start of the element. In documentation a section about
/// pagination has that id.
fn is_slug_of_heading(element: &NodeRef, id: &str) -> bool {
    let is_section = element.has_name("section")
        || element.attr("class").is_some_and(|classes| classes.split_whitespace().any(|class| class == "section"));
    if !is_section {
        return false;
    }
    let heading = element
        .descendants_it()
        .take(MAX_BEFORE_HEADING)
        .find(|node| ["h1", "h2", "h3", "h4", "h5", "h6"].iter().any(|name| node.has_name(name)));
    let (heading, id) = (heading.map(|heading| split_words(&heading.text())).unwrap_or_default(), split_words(id));
    !id.is_empty() && heading.starts_with(&id)
}

/// Splits a class name into words: `relatedPosts`, `related-posts` and `related_posts` are the same two.
fn split_words(token: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower_before = false;
    for c in token.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && lower_before) {
            words.push(String::new());
        }
        lower_before = c.is_lowercase();
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use dom_query::Document;

    #[test]
    fn class_names_are_split_into_words() {
        assert_eq!(split_words("relatedPosts"), ["related", "posts"]);
        assert_eq!(split_words("c-related_posts--wide"), ["c", "related", "posts", "wide"]);
        assert_eq!(split_words("ADS"), ["ads"]);
    }

    #[test]
    fn marked_parts_are_removed_unless_they_are_the_page() {
        let text = "A sentence that is long enough to be taken for running text by anyone.";
        let page = Document::from(format!(
            "<body><div class='layout has-sidebar'><div class='article-author'>Ann</div><p>{text}</p><p>{text}</p><p>{text}</p><div class='related-posts'><p>{text}</p></div></div></body>"
        ));
        remove(&page.body().expect("a body"));
        let left = page.text();
        assert_eq!(left.matches("A sentence").count(), 3);
        assert!(!left.contains("Ann"));
        let forum = Document::from(format!("<body><div id='comments'><p>{text}</p><p>{text}</p></div></body>"));
        remove(&forum.body().expect("a body"));
        assert_eq!(forum.text().matches("A sentence").count(), 2);
    }
}
