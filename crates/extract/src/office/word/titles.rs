//! Paragraphs in the style of titles, which the library takes for plain ones.

use std::collections::HashSet;

use office_oxide::docx::{DocxDocument, StyleSheet};
use office_oxide::ir::{Element, Heading, InlineContent, Paragraph, Section, TextSpan, inline_to_text};

use super::body;

/// Name of the style of titles, in any language of the program.
const TITLE: &str = "title";

/// Makes headings of level 1 of the paragraphs in the style of titles, and in styles that are based on it. Returns the text of the
/// first one.
pub(super) fn raise(document: &DocxDocument, sections: &mut [Section]) -> Option<String> {
    let styles = names(document.styles.as_ref()?);
    if styles.is_empty() {
        return None;
    }
    let mut first = None;
    for element in sections.iter_mut().flat_map(|section| &mut section.elements) {
        let Element::Paragraph(paragraph) = element else { continue };
        let text = inline_to_text(&paragraph.content);
        if text.trim().is_empty() || !paragraph.style.as_deref().is_some_and(|style| styles.contains(style)) {
            continue;
        }
        *element = Element::Heading(heading(std::mem::take(paragraph)));
        first.get_or_insert(text);
    }
    first
}

/// Returns the names of the styles of titles.
fn names(styles: &StyleSheet) -> HashSet<&str> {
    let is_title = |name: &Option<String>| name.as_deref().is_some_and(|name| name.trim().eq_ignore_ascii_case(TITLE));
    let titles = styles.styles.iter().filter(|(id, _)| body::chain(styles, id).any(|style| is_title(&style.name)));
    titles.filter_map(|(_, style)| style.name.as_deref()).collect()
}

/// Makes a heading of a paragraph, without the bold and italic letters of its style.
fn heading(paragraph: Paragraph) -> Heading {
    let mut content = paragraph.content;
    let all = |is_set: fn(&TextSpan) -> bool| spans(&content).all(is_set);
    let (bold, italic) = (all(|span| span.bold), all(|span| span.italic));
    for item in &mut content {
        if let InlineContent::Text(span) = item {
            span.bold &= !bold;
            span.italic &= !italic;
        }
    }
    Heading { level: 1, content, ..Heading::default() }
}

fn spans(content: &[InlineContent]) -> impl Iterator<Item = &TextSpan> {
    content.iter().filter_map(|item| match item {
        InlineContent::Text(span) => Some(span),
        _ => None,
    })
}
