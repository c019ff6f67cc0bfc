//! Rules of a page's own `style` elements that hide what they match.

use dom_query::{Document, NodeRef};

use super::hidden::Declarations;

/// Style sheets and scripts in a page are looked at up to so many bytes.
const MAX_SHEETS: usize = 512 << 10;
/// So many hiding rules are followed.
const MAX_RULES: usize = 64;

/// What rules hide for good: the selector is one element name, class or id (or these in one), and no other rule and no
/// script of the page names the class or id. Those that do show it again on a click: tabs, accordions, menus.
pub(super) fn hidden<'a>(page: &'a Document) -> Vec<NodeRef<'a>> {
    let sheets = texts(page, "style:not([media=print])");
    let hiding = hiding_selectors(&sheets);
    if hiding.is_empty() {
        return Vec::new();
    }
    let scripts = texts(page, "script");
    let lasting = hiding
        .iter()
        .filter(|selector| names(selector).all(|name| mentions(&sheets, name) == 1 && mentions(&scripts, name) == 0));
    lasting.filter_map(|selector| page.try_select(selector)).flat_map(|found| found.nodes().to_vec()).collect()
}

fn texts(page: &Document, selector: &str) -> String {
    let mut all = String::new();
    for element in page.select(selector).nodes() {
        if all.len() > MAX_SHEETS {
            break;
        }
        all.push_str(&element.text());
        all.push('\n');
    }
    all
}

/// Selectors of the rules that hide, outside of `@media` and the like.
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
        selectors.extend(simple);
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

/// Where the block ends that was opened before `rest`.
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

/// `.x`, `#x`, `p.x`: no rule for all elements of a name, and none that depends on others.
fn is_simple(selector: &str) -> bool {
    selector.contains(['.', '#'])
        && selector.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '#' | '-' | '_'))
}

/// The classes and ids of a simple selector.
fn names(selector: &str) -> impl Iterator<Item = &str> {
    let behind_element = selector.find(['.', '#']).unwrap_or(selector.len());
    selector[behind_element..].split(['.', '#']).filter(|name| !name.is_empty())
}

/// How often a name stands in a text as a whole.
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
    fn simple_rules_that_hide_are_found() {
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
    fn names_are_found_as_a_whole() {
        assert_eq!(names("p.a#b-c").collect::<Vec<_>>(), ["a", "b-c"]);
        assert_eq!(mentions("x .ab .a-b .b a .a{", "a"), 2);
    }
}
