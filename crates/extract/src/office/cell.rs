//! Cells of a workbook as markdown.

use std::borrow::Cow;

use office_oxide::core::markdown::escape_text;
use office_oxide::ir::{Element, InlineContent, Paragraph, Section, TextSpan};
use office_oxide::xlsx::shared_strings::RichTextRun;

use super::document_of;
use super::xstring::decoded;

/// Cell with the text that it shows.
#[derive(Debug, Default)]
pub(super) struct Cell<'a> {
    /// Column, from zero.
    pub(super) column: u32,
    pub(super) text: Cow<'a, str>,
    pub(super) bold: bool,
    pub(super) italic: bool,
    pub(super) link: Option<&'a str>,
    /// Parts of the text with their own format; empty if all of it has that of the cell.
    pub(super) runs: &'a [RichTextRun],
}

impl Cell<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns the cell as inline markdown.
    pub(super) fn markdown(&self) -> String {
        if self.runs.is_empty() && self.link.is_none() && !self.bold && !self.italic {
            return escape_text(&self.text);
        }
        let span = |text: &str, bold: bool, italic: bool| TextSpan {
            bold,
            italic,
            hyperlink: self.link.map(str::to_owned),
            ..TextSpan::plain(text)
        };
        let spans: Vec<TextSpan> = if self.runs.is_empty() {
            vec![span(&self.text, self.bold, self.italic)]
        } else {
            let runs = self.runs.iter().map(|run| TextSpan {
                vertical_align: run.vert_align.clone(),
                ..span(&decoded(&run.text), run.bold.unwrap_or(false), run.italic.unwrap_or(false))
            });
            runs.collect()
        };
        inline(spans)
    }
}

fn inline(spans: Vec<TextSpan>) -> String {
    let content = spans.into_iter().map(InlineContent::Text).collect();
    let elements = vec![Element::Paragraph(Paragraph { content, ..Paragraph::default() })];
    document_of(Section { elements, ..Section::default() }).to_markdown()
}
