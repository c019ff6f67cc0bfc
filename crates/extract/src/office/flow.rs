//! Text documents: sections one after the other, with notes at the end.

use std::collections::HashMap;

use office_oxide::ir::{Element, HeaderFooter, InlineContent, List, Note, Section, TextSpan};

use super::escapes::is_block_mark;
use super::{append, margins, render};
use crate::blocks::one_line;

/// Noncharacters of Unicode around the number of a note while the library writes the markdown, which escapes brackets.
const OPEN: char = '\u{fdd0}';
const CLOSE: char = '\u{fdd1}';

/// Joins the sections of a text document, which are page layout and not structure. Each header or footer is written
/// once, where it first appears.
pub(super) fn write(mut sections: Vec<Section>) -> String {
    let notes = take_notes(&mut sections);
    let mut seen: Vec<HeaderFooter> = Vec::new();
    let mut markdown = String::new();
    for mut section in sections {
        section.title = None;
        for part in margins(&mut section) {
            if part.as_ref().is_some_and(|part| seen.contains(part)) {
                *part = None;
            }
            seen.extend(part.clone());
        }
        append(&mut markdown, &render(section));
    }
    let mut markdown = with_references(&markdown);
    for (number, note) in (1..).zip(notes) {
        let text = render(Section { elements: note.content, ..Section::default() });
        append(&mut markdown, &format!("[^{number}]: {}\n", one_line(&text)));
    }
    markdown
}

/// Writes the references to notes. A backslash escapes the bracket or colon that would make a link or a note of a reference.
fn with_references(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some((before, after)) = rest.split_once(CLOSE) {
        rest = after;
        // Without its counterpart it is a character of the document.
        let Some((text, number)) = before.rsplit_once(OPEN) else {
            out.push_str(before);
            continue;
        };
        let line = match text.rsplit_once('\n') {
            Some((_, line)) => Some(line),
            None => out.is_empty().then_some(text),
        };
        let begins_line = line.is_some_and(is_block_mark);
        out.push_str(text);
        out.push_str(&format!("[^{number}]"));
        if after.starts_with('(') || (begins_line && after.starts_with(':')) {
            out.push('\\');
        }
    }
    out.push_str(rest);
    out
}

/// Notes by kind (true for endnotes) and id, with the number of their first reference.
type Numbers = HashMap<(bool, u32), Option<usize>>;

/// Numbers the references to notes and takes the notes out of the sections, in the order of their numbers. Notes without
/// a reference, such as comments, stay in their place.
fn take_notes(sections: &mut [Section]) -> Vec<Note> {
    let mut numbers: Numbers =
        sections.iter().flat_map(|section| &section.elements).filter_map(key).map(|key| (key, None)).collect();
    if numbers.is_empty() {
        return Vec::new();
    }
    let mut count = 0;
    for section in sections.iter_mut() {
        number_references(&mut section.elements, &mut numbers, &mut count);
    }
    let mut notes: Vec<Option<Note>> = (0..count).map(|_| None).collect();
    for section in sections.iter_mut() {
        for mut element in std::mem::take(&mut section.elements) {
            let number = key(&element).and_then(|key| numbers.get(&key).copied().flatten());
            let place = number.and_then(|number| notes.get_mut(number - 1)).filter(|place| place.is_none());
            if let (Some(place), Element::Footnote(note) | Element::Endnote(note)) = (place, &mut element) {
                *place = Some(std::mem::take(note));
            } else {
                section.elements.push(element);
            }
        }
    }
    notes.into_iter().map(Option::unwrap_or_default).collect()
}

/// Returns the key of a note.
fn key(element: &Element) -> Option<(bool, u32)> {
    match element {
        Element::Footnote(note) => Some((false, note.id)),
        // Comments are endnotes with a label.
        Element::Endnote(note) if note.author.is_none() && note.marker.as_deref() != Some("Comment") => {
            Some((true, note.id))
        }
        _ => None,
    }
}

fn number_references(elements: &mut [Element], numbers: &mut Numbers, count: &mut usize) {
    for element in elements {
        match element {
            Element::Heading(heading) => number_inline(&mut heading.content, numbers, count),
            Element::Paragraph(paragraph) => number_inline(&mut paragraph.content, numbers, count),
            Element::Table(table) => {
                for cell in table.rows.iter_mut().flat_map(|row| &mut row.cells) {
                    number_references(&mut cell.content, numbers, count);
                }
            }
            Element::List(list) => number_list(list, numbers, count),
            Element::TextBox(frame) => number_references(&mut frame.content, numbers, count),
            _ => {}
        }
    }
}

fn number_list(list: &mut List, numbers: &mut Numbers, count: &mut usize) {
    for item in &mut list.items {
        number_references(&mut item.content, numbers, count);
        if let Some(nested) = &mut item.nested {
            number_list(nested, numbers, count);
        }
    }
}

/// Replaces references to notes by their numbers.
fn number_inline(content: &mut [InlineContent], numbers: &mut Numbers, count: &mut usize) {
    for item in content {
        let key = match item {
            InlineContent::FootnoteRef(reference) => (false, reference.note_id),
            InlineContent::EndnoteRef(reference) => (true, reference.note_id),
            _ => continue,
        };
        if let Some(number) = numbers.get_mut(&key) {
            let number = *number.get_or_insert_with(|| {
                *count += 1;
                *count
            });
            *item = InlineContent::Text(TextSpan::plain(format!("{OPEN}{number}{CLOSE}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_no_links_and_no_notes() {
        for (markdown, expected) in [
            ("Word<1>(see page 5)<2>\n", "Word[^1]\\(see page 5)[^2]\n"),
            ("<1>: a\n\n- <2>: b<3>: c", "[^1]\\: a\n\n- [^2]\\: b[^3]: c"),
            ("<1><2>: a <3>, b", "[^1][^2]: a [^3], b"),
            ("a> b<", "a b<"),
        ] {
            let marked = |text: &str| text.replace('<', &OPEN.to_string()).replace('>', &CLOSE.to_string());
            assert_eq!(with_references(&marked(markdown)), marked(expected));
        }
    }
}
