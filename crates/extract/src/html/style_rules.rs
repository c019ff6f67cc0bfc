//! Rules in a page's `style` elements that hide elements.

use dom_query::{Document, NodeRef};

use super::declarations::Declarations;

/// Maximum size of examined style sheets and scripts per page, in bytes.
const MAX_SHEET_BYTES: usize = 512 << 10;
/// Maximum number of selectors of hiding rules examined.
const MAX_RULES: usize = 64;

/// Returns elements that rules hide permanently. The selector must be a class or id, or a compound of these with an
/// element name, and no other rule or script of the page may name the class or id. Otherwise a click shows the element: tabs,
/// accordions, menus.
pub(super) fn hidden<'a>(page: &'a Document) -> Vec<NodeRef<'a>> {
    let sheets = texts(page, "style:not([media=print])");
    let hiding = hiding_selectors(&sheets);
    if hiding.is_empty() {
        return Vec::new();
    }
    let scripts = texts(page, "script");
    let permanent = hiding
        .iter()
        .filter(|selector| names(selector).all(|name| mentions(&sheets, name) == 1 && mentions(&scripts, name) == 0));
    permanent.filter_map(|selector| page.try_select(selector)).flat_map(|found| found.nodes().to_vec()).collect()
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

/// Returns the selectors of hiding rules outside of `@media` and other at-rules.
fn hiding_selectors(sheets: &str) -> Vec<String> {
    let mut selectors = Vec::new();
    let sheets = without_comments(sheets);
    let mut rest = sheets.as_str();
    while let Some(open) = rest.find(['{', ';']) {
        let prelude = rest[..open].trim();
        if rest.as_bytes()[open] == b';' {
            rest = &rest[open + 1..];
            continue;
        }
        let close = block_end(&rest[open + 1..]).map_or(rest.len(), |end| open + 1 + end);
        let block = rest[open + 1..close].to_ascii_lowercase();
        rest = rest.get(close + 1..).unwrap_or_default();
        if prelude.starts_with('@') || !Declarations::parse(&block).hide() {
            continue;
        }
        let simple = prelude.split(',').map(str::trim).filter(|selector| is_simple(selector)).map(str::to_owned);
        selectors.extend(simple.take(MAX_RULES - selectors.len()));
        if selectors.len() >= MAX_RULES {
            break;
        }
    }
    selectors
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
            assert_eq!(hiding_selectors(sheet), expected, "{sheet}");
        }
    }

    #[test]
    fn names_match_as_whole_words() {
        assert_eq!(names("p.a#b-c").collect::<Vec<_>>(), ["a", "b-c"]);
        assert_eq!(mentions("x .ab .a-b .b a .a{", "a"), 2);
    }
}
