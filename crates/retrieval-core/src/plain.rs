//! Conversion of Markdown to readable text, served as `format` = `text`.

use std::ops::Range;

use crate::inline::{self, Images, Labels};
use crate::markdown::{self, Kind};

/// Returns the text of a Markdown document without its marks.
///
/// Paragraphs, headings and list items stay on separate lines, with at most one blank line in between. List items keep
/// their number; bullets become `- `. Links are replaced by their text, table cells are separated by tabs, and code is
/// kept without its fences. Images are dropped, except in headings and tables, where their alternative text is often
/// all there is. Thematic breaks, comments, HTML tags and link definitions are dropped. Raised and lowered numbers behind a
/// number become `10^6` and `10_2`. The result has no white space at either end.
pub fn from_markdown(markdown: &str) -> String {
    let whole = 0..markdown.len();
    parts(markdown, std::slice::from_ref(&whole)).pop().unwrap_or_default()
}

/// Returns the text of parts of a Markdown document, each as [`from_markdown`] does. A part that begins inside a block,
/// such as fenced code, is read as what it is in the document.
///
/// `ranges` are byte ranges on character boundaries, in order and without overlaps.
pub fn parts(markdown: &str, ranges: &[Range<usize>]) -> Vec<String> {
    let labels = labels(markdown);
    let mut texts = Vec::with_capacity(ranges.len());
    let mut ranges = ranges.iter();
    let mut part = ranges.next();
    let mut writer = Writer::new(&labels);
    for line in markdown::lines(markdown) {
        while let Some(range) = part {
            let (start, end) = (line.range.start.max(range.start), line.range.end.min(range.end));
            if start < end {
                // The rest of a list item has no mark.
                let is_rest = line.kind == Kind::Item && start > line.range.start;
                writer.line(if is_rest { Kind::Text } else { line.kind }, &markdown[start..end]);
            }
            if line.range.end < range.end {
                break;
            }
            texts.push(std::mem::replace(&mut writer, Writer::new(&labels)).finish());
            part = ranges.next();
        }
    }
    while part.is_some() {
        texts.push(std::mem::replace(&mut writer, Writer::new(&labels)).finish());
        part = ranges.next();
    }
    texts
}

/// Returns where each of the ranges lies in the text that [`from_markdown`] returns, without the white space at both ends. `ranges`
/// as in [`parts`]. Places inside table rows and headings are approximate.
pub fn locations(markdown: &str, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let labels = labels(markdown);
    let mut writer = Writer::new(&labels);
    // A range out of order, as of a damaged passage, is empty.
    let ordered = |last: &mut usize, offset: usize| {
        *last = offset.max(*last);
        Some(*last)
    };
    let mut offsets = ranges.iter().flat_map(|range| [range.start, range.end]).scan(0, ordered).peekable();
    for line in markdown::lines(markdown) {
        let here = std::iter::from_fn(|| offsets.next_if(|offset| *offset < line.range.end));
        let here = here.map(|offset| offset.saturating_sub(line.range.start));
        writer.located_line(line.kind, &markdown[line.range.clone()], here);
    }
    let (text, mut places) = writer.finish_located();
    places.resize(2 * ranges.len(), text.len());
    let trimmed = |place: &[usize]| {
        let part = &text[place[0]..place[1]];
        let start = place[0] + part.len() - part.trim_start().len();
        start..start + part.trim().len()
    };
    places.chunks_exact(2).map(trimmed).collect()
}

fn labels(markdown: &str) -> Labels {
    // Most documents have no definition, and this search is much cheaper than parsing all lines.
    if !markdown.contains("]:") {
        return Labels::new();
    }
    markdown::lines(markdown)
        .filter(|line| line.kind == Kind::Definition)
        .filter_map(|line| markdown::definition(markdown[line.range].trim()).map(inline::label))
        .collect()
}

struct Writer<'a> {
    out: String,
    /// Lines of the current paragraph or list item, which marks may span.
    paragraph: String,
    /// Offsets to locate in the current paragraph.
    offsets: Vec<usize>,
    /// Places in `out` of all offsets before.
    places: Vec<usize>,
    labels: &'a Labels,
}

impl<'a> Writer<'a> {
    fn new(labels: &'a Labels) -> Self {
        Self { out: String::new(), paragraph: String::new(), offsets: Vec::new(), places: Vec::new(), labels }
    }

    /// Writes a whole line and locates the offsets in it, which are in order.
    fn located_line(&mut self, kind: Kind, source: &str, offsets: impl Iterator<Item = usize>) {
        if kind != Kind::Text {
            self.end_paragraph();
        }
        let (out, paragraph) = (self.out.len(), self.paragraph.len());
        self.line(kind, source);
        // The paragraph got the end of the line, without white space.
        let (length, added) = (source.trim_end().len(), self.paragraph.len() - paragraph);
        for offset in offsets {
            let rest = length.saturating_sub(offset);
            if kind == Kind::Text || rest <= added {
                self.offsets.push(self.paragraph.len() - rest.min(added));
            } else {
                self.places.push(self.out.floor_char_boundary(out + offset));
            }
        }
    }

    fn line(&mut self, kind: Kind, source: &str) {
        match kind {
            Kind::Text => self.continue_paragraph(source),
            Kind::Item => self.item(source),
            Kind::Heading { .. } => {
                self.blank_line();
                self.text_line(markdown::heading_text(source));
                self.blank_line();
            }
            Kind::TableRow => self.table_row(source),
            Kind::Code | Kind::IndentedCode => {
                self.end_paragraph();
                self.out.push_str(source.trim_end_matches(['\n', '\r']));
                self.out.push('\n');
            }
            Kind::Blank | Kind::FenceOpen | Kind::FenceClose | Kind::ThematicBreak => self.blank_line(),
            Kind::FrontMatter => {
                self.end_paragraph();
                if source.trim_end() != "---" && source.trim_end() != "..." {
                    self.out.push_str(source);
                }
            }
            Kind::Underline | Kind::TableRule | Kind::Definition => self.end_paragraph(),
        }
    }

    fn finish(self) -> String {
        self.finish_located().0
    }

    /// Returns the text, and the places of the offsets in it.
    fn finish_located(mut self) -> (String, Vec<usize>) {
        self.end_paragraph();
        let trimmed = self.out.trim_end();
        let text = trimmed.trim_start_matches(['\n', '\r']);
        let removed = trimmed.len() - text.len();
        let places = self.places.iter().map(|place| place.saturating_sub(removed).min(text.len())).collect();
        (text.to_owned(), places)
    }

    fn continue_paragraph(&mut self, line: &str) {
        if !self.paragraph.is_empty() {
            self.paragraph.push('\n');
        }
        self.paragraph.push_str(markdown::inside_quotes(line).0);
    }

    fn item(&mut self, line: &str) {
        self.end_paragraph();
        let (inner, quoted) = markdown::inside_quotes(line);
        let text = markdown::after_item_mark(inner).unwrap_or(inner);
        let mark = inner[..inner.len() - text.len()].trim_end();
        if !quoted {
            // Indentation shows the nesting; without quotes it is white space only.
            self.out.push_str(&line[..line.len() - line.trim_start().len()]);
        }
        // A mark without text is more often a character.
        self.out.push_str(if mark.ends_with(['.', ')']) || text.is_empty() { mark } else { "-" });
        self.out.push(' ');
        self.paragraph.push_str(text);
    }

    fn table_row(&mut self, line: &str) {
        self.end_paragraph();
        for (index, cell) in cells(markdown::inside_quotes(line).0).enumerate() {
            if index > 0 {
                self.out.push('\t');
            }
            let start = self.out.len();
            inline::push_text(cell, self.labels, Images::AltText, &mut self.out);
            // A line break inside a cell would end the row.
            if self.out[start..].contains('\n') {
                let cell = self.out[start..].replace('\n', " ");
                self.out.truncate(start);
                self.out.push_str(&cell);
            }
        }
        self.out.push('\n');
    }

    fn text_line(&mut self, source: &str) {
        inline::push_text(source, self.labels, Images::AltText, &mut self.out);
        self.out.push('\n');
    }

    fn end_paragraph(&mut self) {
        if self.paragraph.is_empty() {
            if self.out.ends_with("- ") || self.out.ends_with(". ") || self.out.ends_with(") ") {
                // List item without text.
                self.out.push('\n');
            }
            self.offsets.fill(self.out.len());
            self.places.append(&mut self.offsets);
            return;
        }
        let start = self.out.len();
        inline::push_located(&self.paragraph, self.labels, Images::Omitted, &mut self.offsets, &mut self.out);
        self.paragraph.clear();
        if self.out[start..].trim().is_empty() && self.out[..start].ends_with(['\n']) {
            // The paragraph contained only images.
            self.out.truncate(start);
            self.offsets.fill(start);
        } else {
            self.out.push('\n');
        }
        self.places.append(&mut self.offsets);
    }

    fn blank_line(&mut self) {
        self.end_paragraph();
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }
}

/// Splits a table row into cells; `\|` is part of a cell.
fn cells(row: &str) -> impl Iterator<Item = &str> {
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').filter(|front| !front.ends_with('\\')).unwrap_or(row);
    let mut escaped = false;
    row.split(move |character| {
        let splits = character == '|' && !escaped;
        escaped = character == '\\' && !escaped;
        splits
    })
    .map(str::trim)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markdown_is_converted_to_readable_text() {
        let markdown = "\
---
title: Guide
---
# The *Guide*
Some **bold
text** with a [link](http://x) and [ref].


- one
* two
  1. `nested`
> quoted _text_

| a | b \\| c |
|---|:-:|
| 1 | [2](x)<br>3 |
| ![yes](y.png) | |

![A picture of it](p.png)
*![Another](q.png)*

A word ![with a picture](r.png).

```rust
let x = 1; // *kept*
```
***
Sub
---
[ref]: http://y
end
";
        let expected = "\
title: Guide

The Guide

Some bold
text with a link and ref.

- one
- two
  1. nested
quoted text

a\tb | c
1\t2 3
yes\t

A word .

let x = 1; // *kept*

Sub

end";
        assert_eq!(from_markdown(markdown), expected);
    }

    #[test]
    fn parts_are_read_in_the_context_of_their_document() {
        let markdown = "# Code\n\n```py\ndef __init__(self):\n    a = b*c*d\n```\n- one *two* three\n\n`end`\n";
        let range = |from: &str, to: &str| markdown.find(from).unwrap()..markdown.find(to).unwrap() + to.len();
        let ranges = [
            range("# Code", "__init__"),
            range("(self)", "b*c*d\n"),
            range("three", "three\n"),
            range("`end", "`end`"),
        ];
        assert_eq!(parts(markdown, &ranges), ["Code\n\ndef __init__", "(self):\n    a = b*c*d", "three", "end"]);
        assert_eq!(parts(markdown, &[]), Vec::<String>::new());
        assert_eq!(parts("", std::slice::from_ref(&(0..0))), [""]);
    }

    #[test]
    fn parts_are_located_where_marks_span_them() {
        let markdown = "# The *guide*\n\nSome **bold words. And *more\nof* them.** <!-- a\ncomment --> End.\n\n\
            - one ![two](x.png) [three](y). Four &amp; `five`\n> quoted _text. And\n> more_\n\n```\ncode *a*\n```\n| a | b |\n";
        let text = from_markdown(markdown);
        let starts =
            ["Some", "And *more", "them", "comment", "End", "- one", "Four", "quoted", "And\n", "```", "*a*", "| a"];
        let mut offsets = vec![0];
        offsets.extend(starts.map(|start| markdown.find(start).unwrap()));
        offsets.push(markdown.len());
        let ranges: Vec<Range<usize>> = offsets.windows(2).map(|ends| ends[0]..ends[1]).collect();
        let located: Vec<&str> = locations(markdown, &ranges).into_iter().map(|place| &text[place]).collect();
        let expected = [
            "The guide",
            "Some bold words.",
            "And more\nof",
            "them.",
            "",
            "End.",
            "- one  three.",
            "Four & five",
            "quoted text.",
            "And\nmore",
            "code",
            "*a*",
            "a\tb",
        ];
        assert_eq!(located, expected);
        let [first, damaged, last] = &locations("- one\n\n- two three", &[0..12, 0..0, 12..18])[..] else { panic!() };
        assert_eq!((first, damaged, last), (&(0..12), &(12..12), &(13..18)));
        assert_eq!(locations(markdown, &[]), []);
        assert_eq!(locations("", std::slice::from_ref(&(0..0))), std::slice::from_ref(&(0..0)));
    }

    #[test]
    fn text_without_marks_is_unchanged() {
        for text in ["", "one line", "two\nlines\n\nand a paragraph", "日本語のテキスト。"] {
            assert_eq!(from_markdown(text), text);
        }
        assert_eq!(from_markdown("a\r\n\r\nb\r\n"), "a\n\nb");
        assert_eq!(from_markdown("-\n- x\n"), "- \n- x");
        assert_eq!(from_markdown("+\n\n* x\n"), "+ \n- x");
    }

    #[test]
    fn escaped_marks_are_text() {
        let markdown = "# The \\<table> \\#\n\n\\- 10\\*20*30, \\_\\_init__, \\&lt; and \\d\\\\.\n\\| a |\n\\===\n\n\\[a]: [b]\\(c) [\\^1]\n\n\
            | a\\|b\\\\ | \\~\\~c~~ |\n| --- | --- |\n";
        let text =
            "The <table> #\n\n- 10*20*30, __init__, &lt; and \\d\\.\n| a |\n===\n\n[a]: [b](c) [^1]\n\na|b\\\t~~c~~";
        assert_eq!(from_markdown(markdown), text);
    }

    #[test]
    fn adversarial_blocks_stay_linear() {
        for unit in [">", "> ", "- ", "#\n", "|", "|\n", "```\n", "a|b\n-|-\n", "[a]: b\n", "    ", "\n", "<p>"] {
            let source = unit.repeat(60_000 / unit.len());
            let _ = from_markdown(&source);
        }
    }

    proptest! {
        #[test]
        fn parts_of_lines_make_up_the_whole_words(
            lines in proptest::collection::vec("[a-z ]{0,12}", 0..12),
            cut in 0usize..12,
        ) {
            let text = lines.join("\n");
            let at = text.match_indices('\n').nth(cut).map_or(text.len(), |(at, _)| at + 1);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            let joined = parts(&text, &[0..at, at..text.len()]).join("\n");
            prop_assert_eq!(words(&joined), words(&text));
        }

        #[test]
        fn located_parts_make_up_the_whole(
            markdown in "[-#`~|>=*_\\[\\]!:().1 a\té<br>&;\r\n\\\\]{0,150}",
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
        ) {
            let mut offsets: Vec<usize> =
                cuts.iter().map(|cut| markdown.floor_char_boundary(cut.index(markdown.len() + 1))).collect();
            offsets.extend([0, markdown.len()]);
            offsets.sort_unstable();
            let ranges: Vec<Range<usize>> = offsets.windows(2).map(|ends| ends[0]..ends[1]).collect();
            let text = from_markdown(&markdown);
            let mut end = 0;
            for place in locations(&markdown, &ranges).into_iter().filter(|place| !place.is_empty()) {
                prop_assert_eq!(text[end..place.start].trim(), "");
                end = place.end;
            }
            prop_assert_eq!(text[end..].trim(), "");
        }

        #[test]
        fn any_input_yields_trimmed_text(markdown in "[-#`~|>=*_\\[\\]:().1 a\té<br>\r\n\\\\]{0,150}") {
            let text = from_markdown(&markdown);
            prop_assert_eq!(text.trim_end(), &*text);
        }
    }
}
