//! Nesting depth of a page, by one linear scan without a tree.

/// Maximum attributes of a tag; more count as unlimited depth, because parsers compare each with all previous ones.
const MAX_ATTRIBUTES: usize = 2_000;

/// Elements without an end tag or with an optional one, which do not count as open.
const UNCOUNTED: [&str; 33] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr", "p",
    "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup", "option", "optgroup", "html", "head",
    "body", "rt", "rp", "keygen",
];

/// Returns the largest number of open elements; stops as soon as it exceeds `enough`.
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
        if !name.first().is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        let (attributes, tag_end) = attributes(bytes, at);
        at = tag_end;
        if attributes > MAX_ATTRIBUTES {
            return usize::MAX;
        }
        if is_uncounted(name) {
            continue;
        }
        if end_tag {
            open = open.saturating_sub(1);
            continue;
        }
        if name.eq_ignore_ascii_case(b"script") || name.eq_ignore_ascii_case(b"style") {
            // Skips text up to the end tag including `<`; the end tag closes nothing itself.
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

/// Returns the approximate number of a tag's attributes and the offset of its end.
fn attributes(bytes: &[u8], from: usize) -> (usize, usize) {
    let (mut count, mut quote) = (0, None);
    // Last non-space byte, and whether white space followed it.
    let (mut before, mut apart) = (0u8, true);
    for (offset, &byte) in bytes[from..].iter().enumerate() {
        match quote {
            Some(open) if byte == open => quote = None,
            Some(_) => {}
            None if byte == b'>' => return (count, from + offset),
            None if byte.is_ascii_whitespace() => {
                apart = true;
                continue;
            }
            None if matches!(byte, b'"' | b'\'') && before == b'=' => quote = Some(byte),
            None => count += usize::from(apart && byte != b'='),
        }
        (before, apart) = (byte, false);
    }
    (count, bytes.len())
}

fn is_uncounted(name: &[u8]) -> bool {
    UNCOUNTED.iter().any(|uncounted| name.eq_ignore_ascii_case(uncounted.as_bytes()))
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

/// Returns the distance to the byte after the name of the element's end tag.
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
        assert_eq!(depth("<p title='a > b <div><div>' class = \"<i>\">", 400), 0);
        assert!(depth(&format!("<br{}>", " a=1".repeat(3_000)), 400) > 400);
    }
}
