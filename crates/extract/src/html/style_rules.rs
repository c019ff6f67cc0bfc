//! Rules in a page's `style` elements that hide elements or text.

use std::rc::Rc;

use dom_query::{Document, NodeRef, Selection};

use super::declarations::{Declarations, TextStyle};
use super::measure::weight;
use super::node_map::NodeMap;

/// Maximum size of examined style sheets and scripts per page, in bytes.
const MAX_SHEET_BYTES: usize = 512 << 10;
/// Maximum number of selectors of hiding rules examined, and of rules that show text.
const MAX_RULES: usize = 64;
/// Maximum length of an examined selector, in bytes.
const MAX_SELECTOR: usize = 100;
/// Maximum size of rules and `style` attributes that are compared with each other per page, in bytes.
const MAX_COMPARED_BYTES: usize = 16 << 20;

/// Effect of the page's rules on an element.
#[derive(Clone, Copy, Default)]
pub(super) struct Ruled {
    /// The element is hidden with all elements inside, whatever its own style declares.
    pub hides_all: bool,
    /// Style that hides text.
    pub hiding: TextStyle,
    /// The important part of `hiding`, which wins against the element's own style.
    pub important: TextStyle,
    /// Style of other rules. Only known on pages with rules that hide text.
    pub showing: TextStyle,
}

/// Returns the effects of rules by element.
///
/// A rule hides its elements permanently if its selector is a class or id, or a compound of these with an element name,
/// and no other rule or script of the page names the class or id. Otherwise a click shows the element: tabs, accordions,
/// menus.
pub(super) fn read(page: &Document) -> NodeMap<Ruled> {
    let mut ruled = NodeMap::<Ruled>::default();
    let sheets = texts(page, "style:not([media=print])");
    let Rules { mut hiding, showing } = rules(&sheets);
    if hiding.is_empty() {
        return ruled;
    }
    let scripts = texts(page, "script");
    hiding
        .retain(|rule| names(&rule.selector).all(|name| mentions(&sheets, name) == 1 && mentions(&scripts, name) == 0));
    let most = page.body().map_or(0.0, |body| weight(&body.text())) / 2.0;
    let mut bytes_left = MAX_COMPARED_BYTES;
    for (rule, element) in matches(page, &hiding) {
        if !is_page(&element, most) {
            let hides_all = rule.hides_all && !is_overridden(rule, &element, &mut bytes_left);
            let effect = ruled.entry(element.id).or_default();
            effect.hides_all |= hides_all;
            effect.hiding = rule.text.or(effect.hiding);
            effect.important = rule.important.or(effect.important);
        }
    }
    if ruled.values().any(|effect| effect.hiding.hides()) {
        for (rule, element) in matches(page, &showing) {
            let effect = ruled.entry(element.id).or_default();
            effect.showing = rule.text.or(effect.showing);
        }
    }
    ruled
}

/// Returns the elements of each rule, in the order of the rules.
fn matches<'a, 'r>(page: &'a Document, rules: &'r [Rule]) -> impl Iterator<Item = (&'r Rule, NodeRef<'a>)> {
    rules.iter().flat_map(move |rule| {
        let found = page.try_select(&rule.selector).map(|found| found.nodes().to_vec()).unwrap_or_default();
        found.into_iter().map(move |element| (rule, element))
    })
}

/// Returns true if the element's own style shows it in spite of a rule that hides it with all elements inside. Takes
/// the size of both from `bytes_left`; if that is not enough, the rule wins.
fn is_overridden(rule: &Rule, element: &NodeRef, bytes_left: &mut usize) -> bool {
    let Some(own) = element.attr("style") else { return false };
    let Some(left) = bytes_left.checked_sub(rule.block.len() + own.len()) else { return false };
    *bytes_left = left;
    let style = format!("{};{}", rule.block, own.to_ascii_lowercase());
    !Declarations::parse(&style).hide_all()
}

/// Returns true if the element is the page itself, which a rule hides until an external script shows it.
fn is_page(element: &NodeRef, most: f64) -> bool {
    let own = ["html", "body", "main", "article"].iter().any(|name| element.has_name(name));
    own || Selection::from(*element).select("h1, main, article").exists() || weight(&element.text()) > most
}

fn texts(page: &Document, selector: &str) -> String {
    let mut all = String::new();
    for element in page.select(selector).nodes() {
        if all.len() > MAX_SHEET_BYTES {
            break;
        }
        all.push_str(&element.text());
        all.push('\n');
    }
    all
}

struct Rules {
    hiding: Vec<Rule>,
    showing: Vec<Rule>,
}

#[derive(Debug, PartialEq)]
struct Rule {
    selector: String,
    /// Declarations in lower case.
    block: Rc<str>,
    hides_all: bool,
    text: TextStyle,
    /// The important part of `text`.
    important: TextStyle,
}

/// Returns the rules that hide elements or text, and those that declare visible text, outside of `@media` and other
/// at-rules.
fn rules(sheets: &str) -> Rules {
    let mut found = Rules { hiding: Vec::new(), showing: Vec::new() };
    let sheets = without_comments(sheets);
    let mut rest = sheets.as_str();
    while let Some(open) = rest.find(['{', ';']) {
        let prelude = rest[..open].trim();
        if rest.as_bytes()[open] == b';' {
            rest = &rest[open + 1..];
            continue;
        }
        let close = block_end(&rest[open + 1..]).map_or(rest.len(), |end| open + 1 + end);
        let block: Rc<str> = rest[open + 1..close].to_ascii_lowercase().into();
        rest = rest.get(close + 1..).unwrap_or_default();
        if prelude.starts_with('@') {
            continue;
        }
        let declarations = Declarations::parse(&block);
        let (hides_all, text) = (declarations.hide_all(), declarations.text_style());
        let important = declarations.important().text_style();
        let hides = hides_all || text.hides();
        if !hides && text == TextStyle::default() {
            continue;
        }
        let (rules, accepts): (_, fn(&str) -> bool) =
            if hides { (&mut found.hiding, is_simple) } else { (&mut found.showing, is_bounded) };
        let selectors = prelude.split(',').map(str::trim).filter(|selector| accepts(selector));
        let selected = selectors.map(|selector| Rule {
            selector: selector.to_owned(),
            block: Rc::clone(&block),
            hides_all,
            text,
            important,
        });
        rules.extend(selected.take(MAX_RULES - rules.len()));
        if found.hiding.len() >= MAX_RULES {
            break;
        }
    }
    found
}

fn without_comments(sheets: &str) -> String {
    let mut out = String::with_capacity(sheets.len());
    let mut rest = sheets;
    while let Some((before, comment)) = rest.split_once("/*") {
        out.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}

/// Returns the offset of the end of a block that was opened before `rest`.
fn block_end(rest: &str) -> Option<usize> {
    let mut open = 0usize;
    rest.bytes().position(|byte| {
        match byte {
            b'{' => open += 1,
            b'}' if open == 0 => return true,
            b'}' => open -= 1,
            _ => {}
        }
        false
    })
}

/// Accepts `.x`, `#x` and `p.x`; rejects rules for all elements of a name and rules that depend on other elements.
fn is_simple(selector: &str) -> bool {
    selector.contains(['.', '#'])
        && selector.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '#' | '-' | '_'))
}

/// Accepts selectors of names, classes, ids and the elements around them, which are cheap to match.
fn is_bounded(selector: &str) -> bool {
    selector.len() <= MAX_SELECTOR
        && selector.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '#' | '-' | '_' | ' ' | '>' | '*'))
}

/// Returns the classes and ids of a simple selector.
fn names(selector: &str) -> impl Iterator<Item = &str> {
    let behind_element = selector.find(['.', '#']).unwrap_or(selector.len());
    selector[behind_element..].split(['.', '#']).filter(|name| !name.is_empty())
}

/// Counts occurrences of a name as a whole word.
fn mentions(text: &str, name: &str) -> usize {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(name)
        .filter(|(at, _)| !text[..*at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_hiding_rules_are_found() {
        for (sheet, expected) in [
            (".a{display:none}", vec![".a"]),
            ("p.a , #b,\n.c > d { visibility:hidden }", vec!["p.a", "#b"]),
            ("@import url(x); /* .no{display:none} */ .a{color:red} .b{DISPLAY:NONE}", vec![".b"]),
            ("@media print { .a{display:none} .b{} } .c{display:none", vec![".c"]),
            ("p{display:none} *{display:none} .a:hover{display:none}", vec![]),
            ("{}}{{", vec![]),
        ] {
            let found = rules(sheet).hiding;
            assert_eq!(found.iter().map(|rule| &*rule.selector).collect::<Vec<_>>(), expected, "{sheet}");
        }
    }

    #[test]
    fn rules_with_a_visible_size_are_found() {
        let found = rules("a:hover,.b > p{font-size:14px} .c{font-size:0} .d{color:red} *{visibility:visible}").showing;
        assert_eq!(found.iter().map(|rule| &*rule.selector).collect::<Vec<_>>(), [".b > p", "*"]);
    }

    #[test]
    fn names_match_as_whole_words() {
        assert_eq!(names("p.a#b-c").collect::<Vec<_>>(), ["a", "b-c"]);
        assert_eq!(mentions("x .ab .a-b .b a .a{", "a"), 2);
    }
}
