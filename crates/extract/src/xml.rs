//! Attributes and character references of XML events. Entities that a document declares are never expanded.

use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesRef, BytesStart};

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
