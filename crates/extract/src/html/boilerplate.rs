//! What stands around the content of a page: navigation, sharing, advertising, what to read next, comments.

use std::collections::HashSet;

use dom_query::{NodeId, NodeRef};

use super::measure::Measures;

/// Elements that are never content.
const NEVER: &str = "script, style, template, noscript, svg, canvas, iframe, object, embed, nav, button, input, select, \
     textarea, dialog, link, meta, menu, [role=navigation], [role=search], [role=dialog], [role=alertdialog], \
     [role=menu], [role=menubar], [role=toolbar], [aria-modal=true]";
/// Signs beside headings and lines of code, and what draws again what stands there as text.
const SIGNS: &str = "a[aria-hidden=true], [class~=mw-editsection], [class~=katex-html], td[class~=linenos], td[class~=gutter], \
     [class~=line-numbers-rows], [class~=linenodiv]";

/// Words in class names and ids of what surrounds content, whatever the site: words of the trade, in English, as
/// class names are.
const WORDS: [&str; 79] = [
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
/// Two words that mean it only together.
const PAIRS: [(&str, &str); 29] = [
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
/// The end of a page. On a short page it may be the greater part.
const ENDS: [&str; 4] = ["footer", "footers", "colophon", "copyright"];
/// What readers wrote. It may be the greater part of a page.
const COMMENTS: [&str; 10] = [
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
/// Words that turn the one behind them into a property of something else: `has-sidebar`, `no-comments`.
const PROPERTIES: [&str; 8] = ["has", "with", "no", "without", "hide", "is", "layout", "show"];

/// With so much running text left, a page is an article without the part in question.
const ARTICLE: f64 = 400.0;
const SHORT_ARTICLE: f64 = 150.0;

/// Removes what is never content, and what is marked as boilerplate and small enough to be it.
pub(super) fn remove(body: &NodeRef) {
    let page = dom_query::Selection::from(*body);
    page.select(NEVER).remove();
    page.select(SIGNS).remove();
    let measures = Measures::of(body);
    let mut sorting =
        Sorting { all: measures.get(body).running, unmarked: 0.0, measures, kept: content_and_around(&page) };
    sorting.unmarked = sorting.all - sorting.marked_in(body);
    let mut removed = Vec::new();
    sorting.sort_out(body, &mut removed);
    for element in removed {
        element.remove_from_parent();
    }
}

/// What structured data or the element's own name says to be the content is it, and so is what has the page's only
/// headline, whatever the classes on it and around it say.
fn content_and_around(page: &dom_query::Selection) -> HashSet<NodeId> {
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

/// Nodes of a section that may come before its heading.
const MAX_BEFORE_HEADING: usize = 8;
/// How many elements around one are asked whether they are boilerplate.
const MAX_AROUND: usize = 8;

struct Sorting {
    measures: Measures,
    /// Running text of the page.
    all: f64,
    /// Running text in no marked element.
    unmarked: f64,
    /// Elements that are not boilerplate, whatever their marks.
    kept: HashSet<NodeId>,
}

impl Sorting {
    fn sort_out<'a>(&self, element: &NodeRef<'a>, removed: &mut Vec<NodeRef<'a>>) {
        for child in element.children_it(false).filter(NodeRef::is_element) {
            let limit = self.largest_share(&child);
            // A formula is content, whatever the program is called that sets it.
            let removable = limit > 0.0 && self.share(&child) <= limit;
            if removable && !dom_query::Selection::from(child).select("math").exists() {
                removed.push(child);
            } else {
                self.sort_out(&child, removed);
            }
        }
    }

    fn mark(&self, element: &NodeRef) -> Mark {
        if self.kept.contains(&element.id) || is_named_content(element) { Mark::Nothing } else { marked(element) }
    }

    fn marked_in(&self, element: &NodeRef) -> f64 {
        let children = element.children_it(false).filter(NodeRef::is_element);
        children
            .map(|child| match self.mark(&child) {
                Mark::Nothing => self.marked_in(&child),
                _ => self.measures.get(&child).running,
            })
            .sum()
    }

    fn share(&self, element: &NodeRef) -> f64 {
        if self.all > 0.0 { self.measures.get(element).running / self.all } else { 0.0 }
    }

    /// The share of the page's running text up to which the element's marks are believed; 0 without marks.
    fn largest_share(&self, element: &NodeRef) -> f64 {
        // What is left must be an article without the other marked elements, too: they go for the same reason.
        let left = self.unmarked;
        match self.mark(element) {
            Mark::Nothing => 0.0,
            // A tool bar on a block of code is not the block.
            Mark::Around if dom_query::Selection::from(*element).select("pre").exists() => 0.0,
            Mark::Comments if left >= ARTICLE => 1.0,
            Mark::End if left >= SHORT_ARTICLE => 1.0,
            Mark::Around if left >= ARTICLE => 0.6,
            Mark::Around | Mark::Comments | Mark::End => 0.3,
        }
    }
}

/// Whether the element is, or stands in, what surrounds the content of a page.
pub(super) fn surrounds(element: &NodeRef) -> bool {
    let around = element.ancestors_it(Some(MAX_AROUND));
    std::iter::once(*element).chain(around).any(|node| {
        !matches!(marked(&node), Mark::Nothing)
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

/// Whether a class calls the element the text of something: `entry-content`, `article__body`.
fn is_named_content(element: &NodeRef) -> bool {
    let classes = element.attr("class").unwrap_or_default();
    classes.split_whitespace().any(|token| {
        let words = words(token);
        words.len() == 2
            && matches!(words[0].as_str(), "entry" | "post" | "article" | "story" | "page" | "main")
            && matches!(words[1].as_str(), "content" | "body" | "text")
    })
}

enum Mark {
    Nothing,
    Around,
    Comments,
    End,
}

fn marked(element: &NodeRef) -> Mark {
    let name = element.node_name().unwrap_or_default();
    match &*name {
        "footer" => return Mark::End,
        "aside" => return Mark::Around,
        "html" | "body" | "article" | "main" | "p" | "h1" | "table" | "tbody" | "tr" | "td" | "pre" | "code"
        | "figcaption" | "caption" => return Mark::Nothing,
        _ => {}
    }
    if matches!(element.attr("role").as_deref(), Some("complementary" | "banner")) {
        return Mark::Around;
    }
    if element.attr("role").as_deref() == Some("contentinfo") {
        return Mark::End;
    }
    let mut found = Mark::Nothing;
    for attribute in ["class", "id"] {
        let Some(value) = element.attr(attribute) else { continue };
        if attribute == "id" && is_slug_of_heading(element, &value) {
            continue;
        }
        for token in value.split_whitespace() {
            let words = words(token);
            for (at, word) in words.iter().enumerate() {
                let property = at > 0 && PROPERTIES.contains(&words[at - 1].as_str());
                if property {
                    continue;
                }
                if COMMENTS.contains(&word.as_str()) {
                    return Mark::Comments;
                }
                if ENDS.contains(&word.as_str()) {
                    return Mark::End;
                }
                let pair = words.get(at + 1).is_some_and(|next| PAIRS.contains(&(word.as_str(), next.as_str())));
                if pair || WORDS.contains(&word.as_str()) {
                    found = Mark::Around;
                }
            }
        }
    }
    found
}

/// Whether the id is made of the heading that the element begins with, as documentation does it: a section about
/// pagination is called so.
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
    let (heading, id) = (heading.map(|heading| words(&heading.text())).unwrap_or_default(), words(id));
    !id.is_empty() && heading.starts_with(&id)
}

/// The words of a class name: `relatedPosts`, `related-posts` and `related_posts` have the same two.
fn words(token: &str) -> Vec<String> {
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
    fn class_names_are_cut_into_words() {
        assert_eq!(words("relatedPosts"), ["related", "posts"]);
        assert_eq!(words("c-related_posts--wide"), ["c", "related", "posts", "wide"]);
        assert_eq!(words("ADS"), ["ads"]);
    }

    #[test]
    fn marked_parts_go_and_marked_pages_stay() {
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
