//! Text that the program does not show (ODF 1.3 part 3, 20.401 and 19.787).

use quick_xml::events::BytesStart;

use super::styles::Styles;
use crate::xml;

/// Returns true for a hidden section, and for a paragraph or span with hidden text.
pub(super) fn is_hidden(element: &BytesStart, styles: &Styles) -> bool {
    match element.name().as_ref() {
        "text:section" => match xml::attribute(element, "text:display").as_deref() {
            Some("none") => true,
            Some("condition") => is_condition_met(element),
            _ => false,
        },
        "text:p" | "text:h" | "text:span" => {
            xml::attribute(element, "text:style-name").is_some_and(|style| styles.is_hidden(&style))
        }
        _ => false,
    }
}

/// Returns true if the condition to hide the element was met when the document was saved.
pub(super) fn is_condition_met(element: &BytesStart) -> bool {
    xml::attribute(element, "text:is-hidden").as_deref() == Some("true")
}
