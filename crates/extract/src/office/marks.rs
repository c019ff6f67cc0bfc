//! Marks in the text of a document, by which [`super::escapes`] recognizes it in the markdown of the library.

use office_oxide::ir::{Element, InlineContent, List, Section, TextSpan};

use super::{list_numbers, margins};
use crate::blocks::one_line;
use crate::charset::normalize_lines;

/// Noncharacter of Unicode at the start of each line of text while the library writes the markdown.
pub(super) const LINE: char = '\u{fdd2}';
/// Noncharacter of Unicode in place of an exclamation mark that stands before a link.
pub(super) const EXCLAMATION: char = '\u{fdd3}';

/// Marks the text of a section.
pub(super) fn mark(section: &mut Section) {
    for part in margins(section).into_iter().flatten() {
        mark_elements(&mut part.content);
    }
    if let Some(notes) = &mut section.speaker_notes {
        mark_elements(notes);
    }
    mark_elements(&mut section.elements);
}

/// Returns lines of text with their marks. White space before a line is removed, because it would make code of the text.
pub(super) fn marked_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + LINE.len_utf8());
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        push_line(line, &mut out);
    }
    out
}

fn push_line(line: &str, out: &mut String) {
    let line = line.trim_start();
    if !line.is_empty() {
        out.push(LINE);
        out.push_str(line);
    }
}

fn mark_elements(elements: &mut [Element]) {
    for element in elements {
        match element {
            Element::Heading(heading) => {
                clean(&mut heading.content);
                join_lines(&mut heading.content);
                mark_lines(&mut heading.content);
            }
            Element::Paragraph(paragraph) => {
                clean(&mut paragraph.content);
                mark_lines(&mut paragraph.content);
            }
            Element::List(list) => {
                list_numbers::write(list);
                mark_list(list);
            }
            // The library writes the content of a table that frames others as paragraphs.
            Element::Table(table) => {
                for cell in table.rows.iter_mut().flat_map(|row| &mut row.cells) {
                    mark_elements(&mut cell.content);
                }
            }
            Element::TextBox(frame) => mark_elements(&mut frame.content),
            Element::Footnote(note) | Element::Endnote(note) => mark_elements(&mut note.content),
            // The library writes the description as emphasis, which ends with the paragraph.
            Element::Image(image) => image.alt_text = image.alt_text.as_deref().map(one_line),
            _ => {}
        }
    }
}

fn mark_list(list: &mut List) {
    for item in &mut list.items {
        mark_elements(&mut item.content);
        if let Some(nested) = &mut item.nested {
            mark_list(nested);
        }
    }
}

/// Normalizes line ends, and marks exclamation marks before links, which would make images of them.
fn clean(content: &mut [InlineContent]) {
    let mut link_follows = false;
    for item in content.iter_mut().rev() {
        match item {
            InlineContent::Text(span) => {
                span.text = normalize_lines(&span.text);
                if span.text.is_empty() {
                    continue;
                }
                if link_follows && span.hyperlink.is_none() && span.text.ends_with('!') {
                    span.text.pop();
                    span.text.push(EXCLAMATION);
                }
                link_follows = span.hyperlink.is_some() && !span.text.starts_with(char::is_whitespace);
            }
            InlineContent::LineBreak => link_follows = false,
            _ => {}
        }
    }
}

/// Puts a heading on one line.
fn join_lines(content: &mut [InlineContent]) {
    for item in content {
        match item {
            InlineContent::Text(span) => span.text = span.text.replace('\n', " "),
            InlineContent::LineBreak => *item = InlineContent::Text(TextSpan::plain(" ")),
            _ => {}
        }
    }
}

/// Marks the lines that have text, and removes the white space before it.
fn mark_lines(content: &mut Vec<InlineContent>) {
    let mut marked = Vec::with_capacity(content.len() + 1);
    let mut is_start = true;
    for mut item in std::mem::take(content) {
        match &mut item {
            InlineContent::Text(span) => {
                if is_start {
                    span.text = span.text.trim_start().to_owned();
                    if span.text.is_empty() {
                        continue;
                    }
                    // In the text itself the mark would be part of its emphasis.
                    marked.push(InlineContent::Text(TextSpan::plain(LINE)));
                }
                if let Some((first, rest)) = span.text.split_once('\n') {
                    span.text = format!("{first}\n{}", marked_lines(rest));
                }
                is_start = span.text.ends_with('\n');
            }
            InlineContent::LineBreak => is_start = true,
            _ => {}
        }
        marked.push(item);
    }
    *content = marked;
}

#[cfg(test)]
mod tests {
    use super::*;
    use office_oxide::ir::{HeaderFooter, Image, ListItem, Note, Paragraph, TextBox};

    fn paragraph(content: Vec<InlineContent>) -> Element {
        Element::Paragraph(Paragraph { content, ..Paragraph::default() })
    }

    /// Returns the markdown of the library for a marked section.
    fn written(mut section: Section) -> String {
        mark(&mut section);
        super::super::document_of(section).to_markdown()
    }

    fn marked(content: Vec<InlineContent>) -> String {
        let frame = Element::TextBox(TextBox { content: vec![paragraph(content)], ..TextBox::default() });
        written(Section { elements: vec![frame], ..Section::default() })
    }

    fn text(text: &str) -> InlineContent {
        InlineContent::Text(TextSpan::plain(text))
    }

    fn bold(text: &str) -> InlineContent {
        InlineContent::Text(TextSpan { bold: true, ..TextSpan::plain(text) })
    }

    fn link(text: &str) -> InlineContent {
        InlineContent::Text(TextSpan { hyperlink: Some("http://a.b".into()), ..TextSpan::plain(text) })
    }

    #[test]
    fn lines_are_marked_where_their_text_begins() {
        for (content, expected) in [
            (vec![bold(" Note:"), text(" x")], "|**Note:** x"),
            (vec![text("\t"), text(" "), text("# x")], "|# x"),
            (vec![text("a\n\n   b"), text("\n"), bold(" c")], "|a\n\n|b\n|**c**"),
            (vec![text("a"), InlineContent::LineBreak, text("  "), text("b\r- c")], "|a  \n|b\n|- c"),
            (vec![text(" "), InlineContent::LineBreak], "  \n"),
        ] {
            assert_eq!(marked(content), expected.replace('|', &LINE.to_string()));
        }
    }

    #[test]
    fn exclamation_marks_before_links_are_marked() {
        for (content, expected) in [
            (vec![text("a!"), text(""), link("b")], "|a?[b](http://a.b)"),
            (vec![text("a!"), link(" b")], "|a! [b](http://a.b)"),
            (vec![text("a! "), link("b!"), text("c!")], "|a! [b!](http://a.b)c!"),
        ] {
            let expected = expected.replace('|', &LINE.to_string()).replace('?', &EXCLAMATION.to_string());
            assert_eq!(marked(content), expected);
        }
    }

    #[test]
    fn all_parts_are_marked() {
        let named = |name: &str| vec![paragraph(vec![text(name)])];
        let part = |name: &str| Some(HeaderFooter { content: named(name) });
        let nested = List { items: vec![ListItem { content: named("g"), nested: None }], ..List::default() };
        let item = ListItem { content: named("h"), nested: Some(nested) };
        let section = Section {
            elements: vec![
                Element::List(List { items: vec![item], ..List::default() }),
                Element::Endnote(Note { content: named("i"), ..Note::default() }),
            ],
            header: part("a"),
            footer: part("b"),
            first_page_header: part("c"),
            first_page_footer: part("d"),
            even_page_header: part("e"),
            even_page_footer: part("f"),
            speaker_notes: Some(named("j")),
            ..Section::default()
        };
        let markdown = written(section);
        for name in 'a'..='j' {
            assert!(markdown.contains(&format!("{LINE}{name}")), "{name} in {markdown}");
        }
    }

    #[test]
    fn descriptions_of_images_are_one_line() {
        let image = Image { alt_text: Some("A chart\n\n# made".into()), ..Image::default() };
        let section = Section { elements: vec![Element::Image(image)], ..Section::default() };
        assert_eq!(written(section), "*A chart # made*");
    }
}
