//! Attributes, character references and text of XML events. Entities that a document declares are never expanded.

use quick_xml::Reader;
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesRef, BytesStart, Event};

/// Resolves `&name;`: character numbers and the five predefined names. Other names are empty.
pub(crate) fn reference(name: &BytesRef) -> String {
    if let Ok(Some(c)) = name.resolve_char_ref() {
        return c.to_string();
    }
    resolve_predefined_entity(name).unwrap_or_default().to_owned()
}

/// Returns the unescaped attribute with this qualified name.
pub(crate) fn attribute(element: &BytesStart, name: &str) -> Option<String> {
    let found = element.attributes().with_checks(false).flatten().find(|found| found.key.as_ref() == name)?;
    let raw: &str = &found.value;
    Some(unescape(raw).map_or_else(|_| raw.to_owned(), |value| value.into_owned()))
}

/// Returns a reader of markup whose end tags need not match.
pub(crate) fn lenient(markup: &str) -> Reader<&[u8]> {
    let mut reader = Reader::from_str(markup);
    reader.config_mut().check_end_names = false;
    reader
}

/// Returns the place of a reader behind its last event, in bytes.
pub(crate) fn place(reader: &Reader<&[u8]>) -> Option<usize> {
    usize::try_from(reader.buffer_position()).ok()
}

/// Reads up to the end tag of the open element, and returns the text in it. Returns `None` for malformed XML.
pub(crate) fn text(reader: &mut Reader<&[u8]>) -> Option<String> {
    let mut out = String::new();
    let mut depth = 0usize;
    loop {
        match reader.read_event().ok()? {
            Event::Start(_) => depth += 1,
            Event::End(_) if depth == 0 => return Some(out),
            Event::End(_) => depth -= 1,
            Event::Text(text) => out.push_str(&text),
            Event::CData(text) => out.push_str(&text),
            Event::GeneralRef(name) => out.push_str(&reference(&name)),
            Event::Eof => return None,
            _ => {}
        }
    }
}
