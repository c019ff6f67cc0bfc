//! Paragraphs of a Word document, and what the library makes of them.

use std::slice;

use office_oxide::docx::formatting::NumberingRef;
use office_oxide::docx::{
    BlockElement, BreakType, DocxDocument, Paragraph, ParagraphContent, Run, RunContent, RunProperties, Style,
    StyleSheet,
};

/// Maximum number of parent styles followed, as in the library.
const MAX_PARENTS: usize = 20;

/// Use of a paragraph by the library.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Role {
    /// Part of a table.
    Cell,
    Heading,
    /// Item of a list, with the index of the list in the body.
    Item(usize),
    Plain,
}

/// Returns the paragraphs of the body and of its tables in reading order.
pub(super) fn paragraphs(document: &DocxDocument) -> Vec<(&Paragraph, Role)> {
    let styles = document.styles.as_ref();
    let mut breaks = document.body.section_breaks.iter().peekable();
    let mut found = Vec::new();
    let mut lists = 0;
    // Numbering and index of the list that goes on. The library joins items of one numbering up to the end of a
    // section, also headings among them.
    let mut list: Option<(u32, usize)> = None;
    for (at, element) in document.body.elements.iter().enumerate() {
        while breaks.next_if(|end| **end <= at).is_some() {
            list = None;
        }
        let BlockElement::Paragraph(paragraph) = element else {
            list = None;
            found.extend(flattened(slice::from_ref(element)).into_iter().map(|paragraph| (paragraph, Role::Cell)));
            continue;
        };
        let id = numbering(paragraph, styles).map(|(reference, _)| reference.num_id);
        list = list.filter(|(open, _)| id == Some(*open));
        let role = if let Some((_, index)) = list {
            Role::Item(index)
        } else if is_heading(paragraph, styles) {
            Role::Heading
        } else if let Some(id) = id.filter(|id| *id != 0) {
            let index = lists;
            list = Some((id, index));
            lists += 1;
            Role::Item(index)
        } else {
            Role::Plain
        };
        found.push((paragraph, role));
    }
    found
}

/// Returns the paragraphs of elements and of their tables in reading order.
pub(super) fn flattened(elements: &[BlockElement]) -> Vec<&Paragraph> {
    let mut found = Vec::new();
    let mut open = vec![elements.iter()];
    while let Some(elements) = open.last_mut() {
        match elements.next() {
            Some(BlockElement::Paragraph(paragraph)) => found.push(paragraph),
            Some(BlockElement::Table(table)) => {
                let cells = table.rows.iter().rev().flat_map(|row| row.cells.iter().rev());
                open.extend(cells.map(|cell| cell.content.iter()));
            }
            None => {
                open.pop();
            }
        }
    }
    found
}

/// Returns the reference of a paragraph to a numbering, and the style that states it if the paragraph does not.
pub(super) fn numbering<'d>(
    paragraph: &'d Paragraph,
    styles: Option<&'d StyleSheet>,
) -> Option<(&'d NumberingRef, Option<&'d Style>)> {
    let properties = paragraph.properties.as_ref()?;
    if let Some(own) = &properties.numbering_ref {
        return Some((own, None));
    }
    let mut styles = chain(styles?, properties.style_id.as_deref()?);
    styles.find_map(|style| Some((reference(style)?, Some(style))))
}

/// Returns the reference to a numbering that a style states itself.
pub(super) fn reference(style: &Style) -> Option<&NumberingRef> {
    style.paragraph_properties.as_ref()?.numbering_ref.as_ref()
}

/// Returns a style and those that it is based on.
pub(super) fn chain<'d>(styles: &'d StyleSheet, id: &str) -> impl Iterator<Item = &'d Style> {
    let first = styles.styles.get(id);
    let next = |style: &&'d Style| styles.styles.get(style.based_on.as_deref()?);
    std::iter::successors(first, next).take(MAX_PARENTS)
}

/// Returns true for a heading: by its outline level, or by the name of its style.
fn is_heading(paragraph: &Paragraph, styles: Option<&StyleSheet>) -> bool {
    let Some(properties) = &paragraph.properties else { return false };
    if properties.outline_level.is_some() {
        return true;
    }
    let (Some(id), Some(styles)) = (properties.style_id.as_deref(), styles) else { return false };
    let name = || styles.styles.get(id).and_then(|style| style.name.as_deref());
    styles.resolve_outline_level(id).is_some() || names_heading(id) || name().is_some_and(names_heading)
}

/// Recognizes `Heading1` and `heading 1` to `9`.
fn names_heading(style: &str) -> bool {
    let style = style.trim();
    let level = style.get(..7).filter(|stem| stem.eq_ignore_ascii_case("heading")).and_then(|_| style.get(7..));
    level.and_then(|level| level.trim().parse::<u8>().ok()).is_some_and(|level| (1..=9).contains(&level))
}

/// Returns the text of a paragraph. The style, if any, may hide it.
pub(super) fn text(paragraph: &Paragraph, style: Option<&str>, styles: Option<&StyleSheet>) -> String {
    let mut out = String::new();
    for run in runs(paragraph).filter(|run| !is_hidden(run.properties.as_ref(), style, styles)) {
        for content in &run.content {
            match content {
                RunContent::Text(text) => out.push_str(text),
                RunContent::Tab => out.push('\t'),
                RunContent::Break(BreakType::Line) => out.push('\n'),
                RunContent::FormField(field) => out.push_str(field.display_text.as_deref().unwrap_or_default()),
                _ => {}
            }
        }
    }
    out
}

/// Returns the runs of a paragraph, also those of its links.
pub(super) fn runs(paragraph: &Paragraph) -> impl Iterator<Item = &Run> {
    paragraph.content.iter().flat_map(|content| match content {
        ParagraphContent::Run(run) => slice::from_ref(run),
        ParagraphContent::Hyperlink(link) => link.runs.as_slice(),
    })
}

/// Returns true for hidden text: by its own properties, or by the style of its paragraph.
pub(super) fn is_hidden(properties: Option<&RunProperties>, style: Option<&str>, styles: Option<&StyleSheet>) -> bool {
    match styles {
        Some(styles) => styles.effective_hidden(style, properties),
        None => properties.and_then(|properties| properties.hidden).unwrap_or(false),
    }
}
