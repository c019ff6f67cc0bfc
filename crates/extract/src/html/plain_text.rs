//! Text of a page without a tree, for pages that are too large or too deep to parse.

use super::end_tag;
use crate::blocks::push_escaped;
use crate::literal;

/// Elements without visible text.
const SKIPPED: [&str; 6] = ["script", "style", "template", "noscript", "svg", "iframe"];
/// Elements that do not interrupt a sentence.
const INLINE: [&str; 22] = [
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "del", "em", "font", "i", "ins", "kbd", "mark", "q", "s", "small",
    "span", "strong", "sub", "sup", "u",
];

/// Returns the text as Markdown, one line per block, and the page's title.
pub(super) fn text(source: &str) -> (String, Option<String>) {
    let mut raw = String::with_capacity(source.len() / 2);
    let mut title = None;
    let mut rest = source;
    while let Some(at) = rest.find('<') {
        raw.push_str(&resolved(&rest[..at]));
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let tag = rest[1..].trim_start_matches('/');
        let name_len = tag.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tag.len());
        let name = tag[..name_len].to_ascii_lowercase();
        if name.is_empty() && !rest.starts_with("</") && !rest.starts_with("<!") && !rest.starts_with("<?") {
            raw.push('<');
            rest = &rest[1..];
            continue;
        }
        let end_tag = rest.starts_with("</");
        let after = &rest[rest.find('>').map_or(rest.len(), |end| end + 1)..];
        if !end_tag && (SKIPPED.contains(&name.as_str()) || name == "title") {
            let distance = end_tag::find(after.as_bytes(), name.as_bytes());
            let inner_end = distance.saturating_sub(name.len() + 2).min(after.len());
            if name == "title" && title.is_none() && after.is_char_boundary(inner_end) {
                title = Some(resolved(&after[..inner_end]));
            }
            // The `>` of the end tag is removed with the next text.
            rest = after.get(distance..).unwrap_or_default().trim_start_matches('>');
            continue;
        }
        if !INLINE.contains(&name.as_str()) {
            raw.push('\n');
        }
        rest = after;
    }
    raw.push_str(&resolved(rest));
    let mut out = String::with_capacity(raw.len());
    for line in raw.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !words.is_empty() {
            if !out.is_empty() {
                out.push_str("\n\n");
            }
            push_escaped(&literal::block(&words.join(" ")), &mut out);
        }
    }
    (out, title)
}

/// Resolves character references. Line breaks and other control characters of ASCII become spaces, also those that references stand for.
fn resolved(text: &str) -> String {
    htmlize::unescape(text).chars().map(|c| if c.is_ascii_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_become_lines_and_scripts_are_dropped() {
        let (text, title) = text(
            "<html><title>A &amp; B</title><script>var a = '<p>';</script><div>One <b>two</b>\nthree<p>Four &#x41;<!-- no --></div> 1 < 2",
        );
        assert_eq!(text, "One two three\n\nFour A\n\n1 < 2");
        assert_eq!(title.as_deref(), Some("A & B"));
    }

    #[test]
    fn character_references_are_resolved_as_browsers_do() {
        for (source, expected) in [
            ("Caf&eacute;&nbsp;M&uuml;ller &rarr; 5&thinsp;&euro;", "Café Müller → 5 €"),
            ("&#150; &#x1F600; &#0; &#x7;!", "– 😀 \u{fffd} !"),
            ("&copy 2024, R&D, &nosuch;", "© 2024, R&D, \\&nosuch;"),
            ("a&lt;b&gt;c&#10;d", "a\\<b>c d"),
        ] {
            assert_eq!(text(source).0, expected, "{source}");
            let (_, title) = text(&format!("<title>{source}</title>"));
            assert!(title.is_some_and(|title| !title.contains(|c: char| c.is_ascii_control())), "{source}");
        }
    }

    #[test]
    fn malformed_markup_terminates() {
        for source in ["<", "</", "<div", "&", "&#;", "<!--", "<script>", "<title>", "é<é", "<title>é</titlé"] {
            let _ = text(source);
        }
        let (deep, _) = text(&("<div>".repeat(100_000) + "core"));
        assert_eq!(deep, "core");
        assert_eq!(text(&"&".repeat(1 << 20)).0.len(), 1 << 20);
        assert_eq!(text(&"*a".repeat(1 << 18)).0.len(), (3 << 18) - 1);
    }
}
