//! Parser for untrusted pages, with limits that a page cannot evade by broken markup.

use dom_query::Document;
use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};

use super::sink::BoundedSink;
use super::{attributes, shadow};

/// Maximum size of a page, in bytes. The tree takes about ten times the size.
const MAX_BYTES: usize = 8 << 20;
/// Bytes between two checks of the tree. A page can exceed the limits by what fits into them.
const CHUNK: usize = 4 << 10;
/// Maximum nesting. Parsing and extraction take time in proportion to it, and real pages stay far below.
const MAX_DEPTH: usize = 512;
/// Maximum number of elements, besides one per three bytes: no tag is shorter. Unclosed formatting is repeated in every
/// block behind it and can exceed this.
const FREE_ELEMENTS: usize = 10_000;

/// Parses a page, with its declarative shadow roots. Returns `None` if it is too large or too deep, or if its markup
/// multiplies work.
pub(super) fn document(source: &str) -> Option<Document> {
    if source.len() > MAX_BYTES || !attributes::are_cheap(source) {
        return None;
    }
    let options = ParseOpts {
        tree_builder: TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() },
        ..ParseOpts::default()
    };
    let mut parser = parse_document(BoundedSink::default(), options);
    let mut rest = source;
    while !rest.is_empty() {
        let (chunk, behind) = rest.split_at(rest.floor_char_boundary(CHUNK));
        parser.process(chunk.into());
        let sink = &parser.tokenizer.sink.sink;
        if sink.depth() > MAX_DEPTH || sink.elements() > source.len() / 3 + FREE_ELEMENTS {
            return None;
        }
        rest = behind;
    }
    let page = parser.finish();
    shadow::attach(&page, MAX_DEPTH).then_some(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_within_the_limits_are_parsed_as_a_whole() {
        let text = "é".repeat(3 * CHUNK);
        for source in [
            format!("<p>{text}</p><p>end</p>"),
            "<p>text<br><li>".repeat(1_000) + "end",
            "<div>".repeat(300) + "end",
            format!("<p title='{}'>end", "<div>".repeat(2_000)),
            format!("<!-- {} -->end", "<div>".repeat(2_000)),
            format!("<script>'{}'</script>end", "<div>".repeat(2_000)),
        ] {
            assert!(document(&source).is_some_and(|page| page.text().ends_with("end")), "{source:.40}");
        }
    }

    #[test]
    fn deep_pages_are_refused_however_the_depth_is_hidden() {
        for (start, unit) in [
            ("", "<div>"),
            ("", "<div></b>"),
            ("", "<x><div></x></div>"),
            ("<!-- --!>", "<div>"),
            ("<title><script></title>", "<div>"),
            ("<select><xmp></select>", "<div>"),
            ("<p =\">", "<div>"),
            ("<p a==\">", "<div>"),
            ("<svg>", "<td>"),
            ("<table>", "<div>"),
            ("", "<x-a><template shadowrootmode=open>"),
        ] {
            assert!(document(&format!("{start}{}", unit.repeat(3_000))).is_none(), "{start}{unit}");
        }
    }

    #[test]
    fn repeated_formatting_is_refused() {
        let open: String = (0..300).map(|n| format!("<b class=c{n}>")).collect();
        assert!(document(&format!("<p>{open}{}", "<p>x".repeat(2_000))).is_none());
    }
}
