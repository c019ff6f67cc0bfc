//! Text boxes, charts, diagrams and pictures of list items, which the library leaves out.

use office_oxide::docx::{DocxDocument, DrawingInfo, Paragraph, RunContent, StyleSheet};
use office_oxide::ir::{Element, Image, InlineContent, List, Section, TextBox, TextSpan};

use super::body::{self, Role};

/// Maximum length of all texts of charts and diagrams, in bytes: many drawings can show the same one.
const MAX_SHARED: usize = 1 << 20;

/// Number of a list's items, and frames in them.
#[derive(Default)]
struct Items {
    count: usize,
    /// Text boxes, charts, diagrams and pictures of its items.
    frames: Vec<Element>,
}

/// Puts what is missing behind the lists of the body. Leaves all lists as they are if they are not those of the
/// paragraphs.
pub(super) fn restore(document: &DocxDocument, paragraphs: &[(&Paragraph, Role)], sections: &mut [Section]) {
    let mut frames = Frames { styles: document.styles.as_ref(), room: MAX_SHARED };
    let mut lists: Vec<Items> = Vec::new();
    for (paragraph, role) in paragraphs {
        let Role::Item(list) = *role else { continue };
        if list == lists.len() {
            lists.push(Items::default());
        }
        if let Some(items) = lists.get_mut(list) {
            items.count += 1;
            frames.read(paragraph, &mut items.frames);
        }
    }
    if lists.iter().all(|items| items.frames.is_empty()) {
        return;
    }
    let found = sections.iter().flat_map(|section| &section.elements).filter_map(|element| match element {
        Element::List(list) => Some(items(list)),
        _ => None,
    });
    if !found.eq(lists.iter().map(|items| items.count)) {
        return;
    }
    let mut lists = lists.into_iter();
    for section in sections {
        for element in std::mem::take(&mut section.elements) {
            let is_list = matches!(element, Element::List(_));
            section.elements.push(element);
            if is_list && let Some(items) = lists.next() {
                section.elements.extend(items.frames);
            }
        }
    }
}

/// Returns the number of items of a list, also of those inside of it.
fn items(list: &List) -> usize {
    list.items.iter().map(|item| 1 + item.nested.as_ref().map_or(0, items)).sum()
}

struct Frames<'d> {
    styles: Option<&'d StyleSheet>,
    /// Room for texts of charts and diagrams, in bytes.
    room: usize,
}

impl Frames<'_> {
    /// Appends what a paragraph has besides text.
    fn read(&mut self, paragraph: &Paragraph, out: &mut Vec<Element>) {
        for content in body::runs(paragraph).flat_map(|run| &run.content) {
            match content {
                RunContent::TextBox(blocks) => {
                    let mut content = Vec::new();
                    for paragraph in body::flattened(blocks) {
                        let style = paragraph.properties.as_ref().and_then(|own| own.style_id.as_deref());
                        push(&body::text(paragraph, style, self.styles), &mut content);
                        self.read(paragraph, &mut content);
                    }
                    if !content.is_empty() {
                        out.push(Element::TextBox(TextBox { content, ..TextBox::default() }));
                    }
                }
                RunContent::Drawing(drawing) => self.draw(drawing, out),
                _ => {}
            }
        }
    }

    /// Appends the description of a picture, and the text of a chart or diagram.
    fn draw(&mut self, drawing: &DrawingInfo, out: &mut Vec<Element>) {
        let is_picture = !drawing.relationship_id.is_empty() || drawing.linked_image.is_some();
        if is_picture && drawing.description.is_some() {
            out.push(Element::Image(Image { alt_text: drawing.description.clone(), ..Image::default() }));
        }
        for line in drawing.chart_text.iter().chain(drawing.dgm_text.iter()) {
            let Some(room) = self.room.checked_sub(line.len() + 1) else { return };
            self.room = room;
            push(line, out);
        }
    }
}

/// Appends a paragraph, if it has text.
fn push(text: &str, out: &mut Vec<Element>) {
    if !text.trim().is_empty() {
        let content = vec![InlineContent::Text(TextSpan::plain(text))];
        out.push(Element::Paragraph(office_oxide::ir::Paragraph { content, ..Default::default() }));
    }
}
