//! Class names, ids, roles and tags that mark an element as boilerplate or as content.

use std::collections::HashMap;

use dom_query::{NodeRef, Selection};

use super::mark_words::{
    BOILERPLATE_PAIRS, BOILERPLATE_WORDS, COMMENT_WORDS, CONTROL_PAIRS, CONTROL_WORDS, DISTINCTION_WORDS, FOOTER_WORDS,
    SIDE_PAIRS, SIDE_WORDS, TEASER_WORDS,
};
use super::measure::{first_heading, is_heading};

/// Words that make the next word a property of something else: `is-related`, `layout-sidebar`.
const PROPERTY_PREFIXES: [&str; 4] = ["hide", "is", "layout", "show"];
/// Words that make all further words properties of something else: `no-comments`, `anchorWithStickyNavbar`.
const PROPERTY_PREPOSITIONS: [&str; 4] = ["has", "no", "with", "without"];
/// Maximum length in bytes of a name space in a class name.
const MAX_NAME_SPACE: usize = 2;
/// Maximum number of digits of the counter at the end of an id. Longer numbers are those of posts.
const MAX_COUNTER: usize = 2;
/// Number of ancestors searched for a link around a teaser.
const MAX_LINK_DEPTH: usize = 6;
/// Number of siblings on either side that are searched for an equal part.
const MAX_EQUAL_DISTANCE: usize = 4;
/// Maximum number of links that a part has more than its equal, and of nodes of a part in which links are counted.
const MAX_MORE_LINKS: usize = 1;
const MAX_COUNTED: usize = 200;

/// Number of ancestors searched for the owner of a footer.
const MAX_OWNER_DEPTH: usize = 8;

/// Elements that have footers. A footer belongs to the nearest one around it.
const FOOTED: [&str; 7] = ["article", "aside", "blockquote", "body", "main", "nav", "section"];

/// Words for the first paragraph of an article, in the languages that have their own word for it.
const LEAD_WORDS: [&str; 21] = [
    "abstract",
    "bajada",
    "chapeau",
    "chapo",
    "copete",
    "einleitung",
    "entradilla",
    "excerpt",
    "ingress",
    "intro",
    "introduction",
    "introtext",
    "lead",
    "leadin",
    "leadtext",
    "lede",
    "perex",
    "preamble",
    "sapo",
    "teaser",
    "vorspann",
];
/// Words for a second headline.
const SUBTITLE_WORDS: [&str; 10] =
    ["blurb", "deck", "dek", "standfirst", "subhead", "subheading", "subheadline", "subtitle", "subtitulo", "summary"];

/// Name of a text between the headline and the article.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    Lead,
    Subtitle,
    Unnamed,
}

/// Returns the kind of opening that a class, id or property of the element names.
pub(super) fn opening(element: &NodeRef) -> Opening {
    let property = element.attr("itemprop").unwrap_or_default();
    if property.split_whitespace().any(|property| property == "alternativeHeadline") {
        return Opening::Subtitle;
    }
    let mut found = Opening::Unnamed;
    for value in ["class", "id"].iter().filter_map(|name| element.attr(name)) {
        for word in value.split_whitespace().flat_map(split_words) {
            if SUBTITLE_WORDS.contains(&word.as_str()) {
                return Opening::Subtitle;
            }
            if LEAD_WORDS.contains(&word.as_str()) {
                found = Opening::Lead;
            }
        }
    }
    if matches!(&*property, "description" | "abstract") { Opening::Lead } else { found }
}

/// Kind of boilerplate that an element is marked as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    None,
    Boilerplate,
    /// Part beside the content: sidebar, navigation, newsletter.
    Side,
    /// Button, date or the like; boilerplate only with a few words of text.
    Control,
    /// Form with fields for text.
    Form,
    Comments,
    Footer,
}

/// Meaning of a class name or id.
#[derive(Clone, Copy, Debug)]
struct Meaning {
    mark: Mark,
    /// Set for `entry-content`, `article__body`.
    body: bool,
    /// Set if nothing but the word for a teaser makes it boilerplate.
    teaser: bool,
    /// Set if nothing but a word that may set off one of several equal parts makes it boilerplate.
    distinction: bool,
}

/// Meanings of the class names and ids of a page, which repeat.
#[derive(Default)]
pub(super) struct Names(HashMap<String, Meaning>);

impl Names {
    fn meaning(&mut self, token: &str) -> Meaning {
        if let Some(known) = self.0.get(token) {
            return *known;
        }
        let words = split_words(token);
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        let is_distinction = |word: &String| DISTINCTION_WORDS.contains(&word.as_str());
        let others: Vec<String> = words.iter().filter(|word| !is_distinction(word)).cloned().collect();
        let meaning = Meaning {
            mark: mark_of(&words, token.split_once("__").map(|(block, _)| split_words(block).len())),
            body: is_body(&words),
            teaser: has(&TEASER_WORDS) && !has(&BOILERPLATE_WORDS),
            distinction: has(&DISTINCTION_WORDS) && mark_of(&others, None) == Mark::None,
        };
        self.0.insert(token.to_owned(), meaning);
        meaning
    }

    /// Returns true for the body of an article.
    pub(super) fn is_body(&mut self, element: &NodeRef) -> bool {
        element.attr("itemprop").as_deref() == Some("articleBody")
            || element.attr("class").is_some_and(|value| value.split_whitespace().any(|name| self.meaning(name).body))
    }

    /// Returns the mark of an element.
    pub(super) fn mark(&mut self, element: &NodeRef) -> Mark {
        let name = element.node_name().unwrap_or_default();
        match &*name {
            "footer" if names_source(element) => return Mark::None,
            "footer" => return Mark::Footer,
            "aside" => return Mark::Side,
            "html" | "body" | "article" | "main" | "h1" | "table" | "tbody" | "tr" | "td" | "pre" | "code"
            | "figcaption" | "caption" => return Mark::None,
            _ => {}
        }
        match element.attr("role").as_deref() {
            Some("complementary" | "banner") => return Mark::Side,
            Some("contentinfo") => return Mark::Footer,
            _ => {}
        }
        match element.attr("itemprop").as_deref() {
            Some("author") => return Mark::Boilerplate,
            Some("description" | "abstract") => return Mark::None,
            _ => {}
        }
        // A heading's id is derived from its text.
        let heading = is_heading(element);
        let mut found = Mark::None;
        for attribute in ["class", "id"] {
            let Some(value) = element.attr(attribute) else { continue };
            if attribute == "id" && (heading || is_slug_of_heading(element, &value)) {
                continue;
            }
            if attribute == "id" && &*value == "secondary" {
                return Mark::Side;
            }
            for token in value.split_whitespace() {
                if token == "d-none" && is_shown_on_wide_screens(&value) {
                    continue;
                }
                let Meaning { mark, teaser, distinction, .. } = self.meaning(token);
                match mark {
                    Mark::None => {}
                    Mark::Comments | Mark::Footer | Mark::Side => return mark,
                    Mark::Boilerplate if teaser && leads_nowhere(element) => {}
                    Mark::Boilerplate if distinction && self.has_equal(element) => {}
                    Mark::Boilerplate => found = Mark::Boilerplate,
                    Mark::Control | Mark::Form if found == Mark::None => found = mark,
                    Mark::Control | Mark::Form => {}
                }
            }
        }
        found
    }

    /// Returns true for an element beside one of the same kind that has no mark and hardly fewer links: the plan that most
    /// buy, among other plans.
    fn has_equal(&mut self, element: &NodeRef) -> bool {
        let Some(kind) = self.kind(element) else { return false };
        let before = std::iter::successors(element.prev_element_sibling(), NodeRef::prev_element_sibling);
        let after = std::iter::successors(element.next_element_sibling(), NodeRef::next_element_sibling);
        let links = count_links(element);
        before.take(MAX_EQUAL_DISTANCE).chain(after.take(MAX_EQUAL_DISTANCE)).any(|sibling| {
            sibling.node_name() == element.node_name()
                && self.kind(&sibling).as_ref() == Some(&kind)
                && !self.has_marked_class(&sibling)
                && links <= count_links(&sibling) + MAX_MORE_LINKS
        })
    }

    /// Returns the first class name without a mark, which names the kind of the element.
    fn kind(&mut self, element: &NodeRef) -> Option<String> {
        let classes = element.attr("class")?;
        classes.split_whitespace().find(|token| self.meaning(token).mark == Mark::None).map(str::to_owned)
    }

    fn has_marked_class(&mut self, element: &NodeRef) -> bool {
        let classes = element.attr("class").unwrap_or_default();
        classes.split_whitespace().any(|token| self.meaning(token).mark != Mark::None)
    }
}

/// Returns true for classes like `d-none d-lg-block`, which hide an element on small screens only.
fn is_shown_on_wide_screens(classes: &str) -> bool {
    classes.split_whitespace().any(|class| {
        let parts: Vec<&str> = class.split('-').collect();
        matches!(parts[..], ["d", width, display] if width != "print" && display != "none")
    })
}

/// Returns true for words that name the body of an article.
fn is_body(words: &[String]) -> bool {
    // A name space may precede the name: `c-entry-content`.
    let [space @ .., of, part] = words else { return false };
    space.iter().all(|space| space.len() <= MAX_NAME_SPACE)
        && matches!(of.as_str(), "entry" | "post" | "article" | "story" | "page" | "main")
        && matches!(part.as_str(), "content" | "body" | "text")
}

/// Returns the mark of a class name's or id's words. `part` is the place of the first word that names a part of what the
/// words before it name, as in `player-with-cover__caption`.
fn mark_of(words: &[String], part: Option<usize>) -> Mark {
    let mut found = Mark::None;
    let mut is_property = false;
    for (at, word) in words.iter().enumerate() {
        is_property &= part != Some(at);
        if is_property || (at > 0 && PROPERTY_PREFIXES.contains(&words[at - 1].as_str())) {
            continue;
        }
        let word = word.as_str();
        if PROPERTY_PREPOSITIONS.contains(&word) {
            is_property = true;
            continue;
        }
        let pair = words.get(at + 1).map(|next| (word, next.as_str()));
        let is_pair = |pairs: &[(&str, &str)]| pair.is_some_and(|pair| pairs.contains(&pair));
        if COMMENT_WORDS.contains(&word) {
            return Mark::Comments;
        }
        if FOOTER_WORDS.contains(&word) {
            return Mark::Footer;
        }
        if SIDE_WORDS.contains(&word) || (at == 0 && is_pair(&SIDE_PAIRS)) {
            return Mark::Side;
        }
        if is_pair(&BOILERPLATE_PAIRS) || BOILERPLATE_WORDS.contains(&word) || TEASER_WORDS.contains(&word) {
            found = Mark::Boilerplate;
        } else if found == Mark::None && (CONTROL_WORDS.contains(&word) || is_pair(&CONTROL_PAIRS)) {
            found = Mark::Control;
        }
    }
    found
}

/// Returns true for the footer of a quotation, which names its author.
fn names_source(footer: &NodeRef) -> bool {
    let mut around = footer.ancestors_it(Some(MAX_OWNER_DEPTH));
    around.find(|around| FOOTED.iter().any(|name| around.has_name(name))).is_some_and(|of| of.has_name("blockquote"))
}

/// Counts the links at the start of an element.
fn count_links(element: &NodeRef) -> usize {
    element.descendants_it().take(MAX_COUNTED).filter(|inner| inner.has_name("a") && inner.has_attr("href")).count()
}

/// Returns true for an element without a link, inside or around. A teaser without a link introduces the text below it.
fn leads_nowhere(element: &NodeRef) -> bool {
    !element.ancestors_it(Some(MAX_LINK_DEPTH)).any(|around| around.has_name("a"))
        && !Selection::from(*element).select("a[href]").exists()
}

/// Checks if the id is derived from the heading at the start of the element. In documentation a section about
/// pagination has that id.
fn is_slug_of_heading(element: &NodeRef, id: &str) -> bool {
    let is_section = element.has_name("section")
        || element.attr("class").is_some_and(|classes| classes.split_whitespace().any(|class| class == "section"));
    if !is_section {
        return false;
    }
    first_heading(element).is_some_and(|heading| {
        let text = heading.text();
        let titles = [&*text, without_number(&heading, &text)];
        let slugs = [id, without_counter(id)];
        titles.iter().any(|title| slugs.iter().any(|slug| begins_with_slug(title, slug)))
    })
}

/// Returns the text of a heading without the number of its section. A bare number may be a count: `5 Comments`.
fn without_number<'t>(heading: &NodeRef, text: &'t str) -> &'t str {
    let title = text.trim_start_matches(|c: char| !c.is_alphabetic());
    let is_number = text.strip_suffix(title).is_some_and(|number| number.contains('.'))
        || Selection::from(*heading).select("[class*=section-number]").exists();
    if is_number { title } else { text }
}

/// Returns an id without the counter that tells it from the same id above: `usage-1`.
fn without_counter(id: &str) -> &str {
    let slug = id.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = id.len() - slug.len();
    slug.strip_suffix(['-', '_']).filter(|_| (1..=MAX_COUNTER).contains(&digits)).unwrap_or(id)
}

/// Returns true if the text begins with the letters and digits of the slug, and a word ends there. Slugs of one text
/// differ in their hyphens: `whats-new` and `what-s-new`.
fn begins_with_slug(text: &str, slug: &str) -> bool {
    let letters = |c: char| c.to_lowercase().filter(|c| c.is_alphanumeric());
    let mut expected = slug.chars().flat_map(letters).peekable();
    if expected.peek().is_none() {
        return false;
    }
    for c in text.chars() {
        if expected.peek().is_none() {
            return !c.is_alphanumeric();
        }
        if !letters(c).all(|letter| expected.next() == Some(letter)) {
            return false;
        }
    }
    expected.peek().is_none()
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

    #[test]
    fn class_names_are_split_into_words() {
        assert_eq!(split_words("relatedPosts"), ["related", "posts"]);
        assert_eq!(split_words("c-related_posts--wide"), ["c", "related", "posts", "wide"]);
        assert_eq!(split_words("ADS"), ["ads"]);
    }

    #[test]
    fn slugs_are_compared_by_their_letters() {
        for (text, slug) in [
            ("GitHub comments", "github-comments"),
            ("What’s new in cookies?", "whats-new-in-cookies"),
            ("What's new", "what-s-new"),
            ("Discussion ¶", "discussion"),
            ("Straße İ", "straße-i̇"),
        ] {
            assert!(begins_with_slug(text, slug), "{text}");
        }
        for (text, slug) in [("Comments", "comment"), ("Discussion", "discussion-of-it"), ("Nav", "-"), ("", "nav")] {
            assert!(!begins_with_slug(text, slug), "{text}");
        }
        assert_eq!(without_counter("cookies-12"), "cookies");
        assert_eq!(without_counter("comments-1234"), "comments-1234");
        assert_eq!(without_counter("covid19"), "covid19");
        assert_eq!(without_counter("1"), "1");
    }
}
