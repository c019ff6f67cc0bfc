//! How deep a page is nested, by one linear scan and without a tree.

/// Elements whose end tag may be left out, or that have none: they do not count as open.
const UNCOUNTED: [&str; 33] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr", "p",
    "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup", "option", "optgroup", "html", "head",
    "body", "rt", "rp", "keygen",
];

/// The largest number of elements open at one time, or any number above `enough` as soon as it is passed.
pub(super) fn depth(source: &str, enough: usize) -> usize {
    let bytes = source.as_bytes();
    let (mut open, mut deepest) = (0usize, 0usize);
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|&byte| byte == b'<') {
        at += found + 1;
        if bytes[at..].starts_with(b"!--") {
            at += find(&bytes[at..], b"-->").unwrap_or(bytes.len() - at);
            continue;
        }
        let end_tag = bytes.get(at) == Some(&b'/');
        let start = at + usize::from(end_tag);
        let name_end =
            bytes[start..].iter().position(|byte| !byte.is_ascii_alphanumeric()).map_or(bytes.len(), |n| start + n);
        let name = &bytes[start..name_end];
        at = name_end;
        if !name.first().is_some_and(u8::is_ascii_alphabetic) || is_uncounted(name) {
            continue;
        }
        if end_tag {
            open = open.saturating_sub(1);
            continue;
        }
        if name.eq_ignore_ascii_case(b"script") || name.eq_ignore_ascii_case(b"style") {
            // Text up to the end tag, `<` included; the end tag itself has nothing to close.
            at += find_end_tag(&bytes[at..], name);
            continue;
        }
        open += 1;
        deepest = deepest.max(open);
        if deepest > enough {
            break;
        }
    }
    deepest
}

fn is_uncounted(name: &[u8]) -> bool {
    UNCOUNTED.iter().any(|uncounted| name.eq_ignore_ascii_case(uncounted.as_bytes()))
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

/// Distance to just behind the element's end tag's name.
pub(super) fn find_end_tag(bytes: &[u8], name: &[u8]) -> usize {
    let mut at = 0;
    while let Some(found) = find(&bytes[at..], b"</") {
        at += found + 2;
        if bytes[at..].get(..name.len()).is_some_and(|tag| tag.eq_ignore_ascii_case(name)) {
            return at + name.len();
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_is_counted_and_open_paragraphs_are_not() {
        assert_eq!(depth("<div><span>a</span><b>c</b></div>", 400), 2);
        assert_eq!(depth(&"<p>text<br><li>".repeat(1000), 400), 0);
        assert_eq!(depth("<script>if (a<b) { '<div><div>' }</script><div>", 400), 1);
        assert_eq!(depth("<!-- <div><div> --><i>", 400), 1);
        assert_eq!(depth("a < b <3 </ <", 400), 0);
        assert!(depth(&"<div>".repeat(50_000), 400) > 400);
    }
}
