//! Conversion of Markdown to readable text, served as `format` = `text`.

use std::ops::Range;

use crate::inline::{self, Images, Labels};
use crate::markdown::{self, Kind};

/// Returns the text of a Markdown document without its marks.
///
/// Paragraphs, headings and list items stay on separate lines, with at most one blank line in between. List items keep
/// their number; bullets become `- `. Links are replaced by their text, table cells are separated by tabs, and code is
/// kept without its fences. Images are dropped, except in headings and tables, where their alternative text is often
/// all there is. Thematic breaks, comments, HTML tags and link definitions are dropped. The result has no white space
/// at either end.
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
    labels: &'a Labels,
}

impl<'a> Writer<'a> {
    fn new(labels: &'a Labels) -> Self {
        Self { out: String::new(), paragraph: String::new(), labels }
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

    fn finish(mut self) -> String {
        self.end_paragraph();
        self.out.trim_end().trim_start_matches(['\n', '\r']).to_owned()
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
        self.out.push_str(if mark.ends_with(['.', ')']) { mark } else { "-" });
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
            return;
        }
        let start = self.out.len();
        inline::push_text(&self.paragraph, self.labels, Images::Omitted, &mut self.out);
        self.paragraph.clear();
        if self.out[start..].trim().is_empty() && self.out[..start].ends_with(['\n']) {
            // The paragraph contained only images.
            self.out.truncate(start);
        } else {
            self.out.push('\n');
        }
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
    fn text_without_marks_is_unchanged() {
        for text in ["", "one line", "two\nlines\n\nand a paragraph", "日本語のテキスト。"] {
            assert_eq!(from_markdown(text), text);
        }
        assert_eq!(from_markdown("a\r\n\r\nb\r\n"), "a\n\nb");
        assert_eq!(from_markdown("-\n- x\n"), "- \n- x");
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
        fn any_input_yields_trimmed_text(markdown in "[-#`~|>=*_\\[\\]:().1 a\té<br>\r\n\\\\]{0,150}") {
            let text = from_markdown(&markdown);
            prop_assert_eq!(text.trim_end(), &*text);
        }
    }
}
