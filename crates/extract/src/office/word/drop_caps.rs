//! Drop caps of a Word document (ECMA-376 part 1, 17.3.1.11): first letters in a paragraph of their own, in front of that
//! with the rest of the word.

use std::ops::Range;

use quick_xml::events::{BytesStart, Event};

use crate::xml;

/// Returns the part with drop caps in the paragraph behind. Returns `None` for a part without them, and for malformed XML.
pub(super) fn joined(part: &str) -> Option<String> {
    if !part.contains("dropCap") {
        return None;
    }
    let mut reader = xml::lenient(part);
    let mut search = Search::default();
    loop {
        let start = xml::place(&reader)?;
        let event = reader.read_event().ok()?;
        let place = start..xml::place(&reader)?;
        match event {
            Event::Start(element) => search.start(&element, place),
            Event::Empty(element) => search.empty(&element, place),
            Event::End(_) => search.end(place),
            Event::Eof => break,
            _ => {}
        }
    }
    let mut moves = search.moves;
    moves.sort_unstable_by_key(|(cap, _)| cap.paragraph.start);
    let mut out = String::new();
    let mut copied = 0;
    for (cap, target) in &moves {
        out.push_str(part.get(copied..cap.paragraph.start)?);
        out.push_str(part.get(cap.paragraph.end..*target)?);
        out.push_str(part.get(cap.content.clone())?);
        copied = *target;
    }
    out.push_str(part.get(copied..)?);
    (!moves.is_empty()).then_some(out)
}

/// Paragraph with a drop cap.
struct Cap {
    paragraph: Range<usize>,
    /// Runs of the paragraph.
    content: Range<usize>,
    /// Number of elements around the paragraph.
    depth: usize,
}

/// Open element.
enum Open {
    Paragraph(Paragraph),
    /// Properties of a paragraph.
    Properties,
    Other,
}

struct Paragraph {
    start: usize,
    /// Place of its runs, behind its start tag and its properties.
    content: usize,
    is_cap: bool,
    /// Paragraph with the drop cap in front of it.
    cap: Option<Cap>,
}

#[derive(Default)]
struct Search {
    open: Vec<Open>,
    /// Number of open paragraphs with a drop cap. Those in them stay where they are.
    open_caps: usize,
    /// Last paragraph with a drop cap, as long as nothing else follows it.
    cap: Option<Cap>,
    /// Drop caps, each with the place in the part where its runs belong.
    moves: Vec<(Cap, usize)>,
}

impl Search {
    fn start(&mut self, element: &BytesStart, place: Range<usize>) {
        let name = element.local_name();
        let name: &str = name.as_ref();
        let cap = self.cap_before(name);
        let in_paragraph = matches!(self.open.last(), Some(Open::Paragraph(_)));
        self.note_frame(name, element);
        self.open.push(match name {
            "p" => Open::Paragraph(Paragraph { start: place.start, content: place.end, is_cap: false, cap }),
            "pPr" if in_paragraph => Open::Properties,
            _ => Open::Other,
        });
    }

    fn empty(&mut self, element: &BytesStart, place: Range<usize>) {
        let name = element.local_name();
        let name: &str = name.as_ref();
        self.cap_before(name);
        self.note_frame(name, element);
        if name == "pPr"
            && let Some(Open::Paragraph(paragraph)) = self.open.last_mut()
        {
            paragraph.content = place.end;
        }
    }

    /// Takes the drop cap in front of an element. Marks without text may stand in between.
    fn cap_before(&mut self, name: &str) -> Option<Cap> {
        let is_mark = matches!(name, "bookmarkStart" | "bookmarkEnd" | "proofErr");
        let depth = self.open.len();
        self.cap.take_if(|cap| cap.depth == depth && !is_mark)
    }

    /// Notes that the open paragraph is a drop cap, if the element in its properties says so.
    fn note_frame(&mut self, name: &str, element: &BytesStart) {
        let [.., Open::Paragraph(paragraph), Open::Properties] = self.open.as_mut_slice() else { return };
        if name == "framePr" && !paragraph.is_cap {
            let qualified = element.name();
            let qualified: &str = qualified.as_ref();
            let prefix = qualified.strip_suffix("framePr").unwrap_or_default();
            let kind = xml::attribute(element, &format!("{prefix}dropCap"));
            paragraph.is_cap = kind.is_some_and(|kind| kind != "none");
            self.open_caps += usize::from(paragraph.is_cap);
        }
    }

    fn end(&mut self, place: Range<usize>) {
        let closed = self.open.pop();
        let depth = self.open.len();
        // The end of what the drop cap stands in.
        self.cap = self.cap.take().filter(|cap| cap.depth <= depth);
        match closed {
            Some(Open::Properties) => {
                if let Some(Open::Paragraph(paragraph)) = self.open.last_mut() {
                    paragraph.content = place.end;
                }
            }
            Some(Open::Paragraph(paragraph)) if paragraph.is_cap => {
                let content = paragraph.content..place.start;
                self.cap = Some(Cap { paragraph: paragraph.start..place.end, content, depth });
                self.open_caps -= 1;
            }
            Some(Open::Paragraph(Paragraph { content, cap: Some(cap), .. })) if self.open_caps == 0 => {
                self.moves.push((cap, content));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(attributes: &str, content: &str) -> String {
        format!("<w:p><w:pPr><w:framePr {attributes}/></w:pPr>{content}</w:p>")
    }

    #[test]
    fn drop_caps_belong_to_the_next_paragraph() {
        let cap = frame("w:dropCap='drop' w:lines='3'", "<w:r>D</w:r>");
        let margin = frame("w:dropCap='margin'", "<w:r>D</w:r>");
        for (part, expected) in [
            (format!("{cap}<w:p><w:r>rop</w:r></w:p>"), "<w:p><w:r>D</w:r><w:r>rop</w:r></w:p>"),
            (
                format!("<w:tc>{margin} <w:p x=''><w:pPr><w:b/></w:pPr><w:r/></w:p></w:tc>"),
                "<w:tc> <w:p x=''><w:pPr><w:b/></w:pPr><w:r>D</w:r><w:r/></w:p></w:tc>",
            ),
            (
                format!("{cap}<w:bookmarkEnd/><w:p><w:pPr/></w:p>{margin}<w:p></w:p>"),
                "<w:bookmarkEnd/><w:p><w:pPr/><w:r>D</w:r></w:p><w:p><w:r>D</w:r></w:p>",
            ),
            (
                format!("<w:p><w:r>{cap}<w:p></w:p></w:r></w:p>{cap}<w:p><w:r>{cap}<w:p></w:p></w:r></w:p>"),
                "<w:p><w:r><w:p><w:r>D</w:r></w:p></w:r></w:p><w:p><w:r>D</w:r><w:r><w:p><w:r>D</w:r></w:p></w:r></w:p>",
            ),
        ] {
            assert_eq!(joined(&part).as_deref(), Some(expected), "{part}");
        }
    }

    #[test]
    fn other_paragraphs_stay() {
        let cap = frame("w:dropCap='drop'", "<w:r>D</w:r>");
        for part in [
            cap.clone(),
            format!("{cap}<w:p/><w:p></w:p>"),
            format!("{cap}<w:tbl><w:p></w:p></w:tbl>"),
            format!("<w:tc>{cap}</w:tc><w:p></w:p>"),
            format!("<w:tc>{cap}</w:tc><w:tc><w:p></w:p></w:tc>"),
            frame("w:dropCap='none'", "") + "<w:p></w:p>",
            frame("w:w='3'", "dropCap") + "<w:p></w:p>",
            format!(
                "{}<w:p></w:p>",
                cap.replace("<w:framePr", "<w:x><w:framePr").replace("</w:pPr>", "</w:x></w:pPr>")
            ),
            format!("{cap}<w:p></w:p><"),
        ] {
            assert_eq!(joined(&part), None, "{part}");
        }
    }

    /// A drop cap stands in front of another one, and in one.
    #[test]
    fn drop_caps_side_by_side_are_moved_once() {
        let cap = frame("w:dropCap='drop'", "<w:r>D</w:r>");
        let two = format!("{cap}{cap}<w:p></w:p>");
        assert_eq!(joined(&two), Some(format!("{cap}<w:p><w:r>D</w:r></w:p>")));
        let nested = frame("w:dropCap='drop'", &format!("<w:r>{cap}<w:p></w:p></w:r>"));
        let expected = format!("<w:p><w:r>{cap}<w:p></w:p></w:r></w:p>");
        assert_eq!(joined(&format!("{nested}<w:p></w:p>")), Some(expected));
    }
}
