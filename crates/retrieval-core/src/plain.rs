//! Conversion of Markdown to readable text, served as `format` = `text`.

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
    let mut writer =
        Writer { out: String::with_capacity(markdown.len()), paragraph: String::new(), labels: labels(markdown) };
    for line in markdown::lines(markdown) {
        let source = &markdown[line.range];
        match line.kind {
            Kind::Text => writer.continue_paragraph(source),
            Kind::Item => writer.item(source),
            Kind::Heading { .. } => {
                writer.blank_line();
                writer.text_line(markdown::heading_text(source));
                writer.blank_line();
            }
            Kind::TableRow => writer.table_row(source),
            Kind::Code | Kind::IndentedCode => {
                writer.end_paragraph();
                writer.out.push_str(source.trim_end_matches(['\n', '\r']));
                writer.out.push('\n');
            }
            Kind::Blank | Kind::FenceOpen | Kind::FenceClose | Kind::ThematicBreak => writer.blank_line(),
            Kind::FrontMatter => {
                writer.end_paragraph();
                if source.trim_end() != "---" && source.trim_end() != "..." {
                    writer.out.push_str(source);
                }
            }
            Kind::Underline | Kind::TableRule | Kind::Definition => writer.end_paragraph(),
        }
    }
    writer.end_paragraph();
    let text = writer.out.trim_end().trim_start_matches(['\n', '\r']);
    text.to_owned()
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

struct Writer {
    out: String,
    /// Lines of the current paragraph or list item, which marks may span.
    paragraph: String,
    labels: Labels,
}

impl Writer {
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
            inline::push_text(cell, &self.labels, Images::AltText, &mut self.out);
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
        inline::push_text(source, &self.labels, Images::AltText, &mut self.out);
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
        inline::push_text(&self.paragraph, &self.labels, Images::Omitted, &mut self.out);
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
        fn any_input_yields_trimmed_text(markdown in "[-#`~|>=*_\\[\\]:().1 a\té<br>\r\n\\\\]{0,150}") {
            let text = from_markdown(&markdown);
            prop_assert_eq!(text.trim_end(), &*text);
        }
    }
}
