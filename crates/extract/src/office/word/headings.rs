//! Numbers of headings in a Word document.

use office_oxide::docx::{DocxDocument, Paragraph};
use office_oxide::ir::{Element, Heading, InlineContent, Section, TextSpan, inline_to_text};

use super::body::{self, Role};
use super::levels::Levels;
use super::numbers::Numbers;

/// Puts the numbers in front of the headings of the body. Leaves all headings as they are if they are not those of the
/// paragraphs.
pub(super) fn number(
    document: &DocxDocument,
    bytes: &[u8],
    paragraphs: &[(&Paragraph, Role)],
    sections: &mut [Section],
) {
    let styles = document.styles.as_ref();
    let Some(definitions) = &document.numbering else { return };
    let mut headings = paragraphs.iter().filter(|(_, role)| *role == Role::Heading);
    if !headings.any(|(paragraph, _)| body::numbering(paragraph, styles).is_some()) {
        return;
    }
    let mut numbers = Numbers::new(definitions, styles, Levels::read(bytes));
    let mut marked: Vec<(String, Option<String>)> = Vec::new();
    for (paragraph, role) in paragraphs {
        let place = numbers.count(paragraph);
        if *role == Role::Heading {
            // The library leaves the style of a heading out of account.
            let text = body::text(paragraph, None, styles);
            let marker = place.and_then(|place| numbers.marker(place)).filter(|marker| !is_repeated(marker, &text));
            marked.push((text, marker));
        }
    }
    // A heading without text may be a rule.
    marked.retain(|(text, _)| !text.trim().is_empty());
    let found = sections.iter_mut().flat_map(|section| &mut section.elements).filter_map(|element| match element {
        Element::Heading(heading) => Some((inline_to_text(&heading.content), heading)),
        _ => None,
    });
    let found: Vec<(String, &mut Heading)> = found.filter(|(text, _)| !text.trim().is_empty()).collect();
    let texts = found.iter().map(|(text, _)| text);
    if !texts.eq(marked.iter().map(|(text, _)| text)) {
        return;
    }
    for ((_, heading), (_, marker)) in found.into_iter().zip(marked) {
        if let Some(marker) = marker {
            push_front(heading, &marker);
        }
    }
}

/// Returns true for a number that the text of the heading begins with already.
fn is_repeated(marker: &str, text: &str) -> bool {
    const ENDS: [char; 3] = ['.', ')', ':'];
    let rest = text.trim_start().strip_prefix(marker.trim_end_matches(ENDS)).map(|rest| rest.trim_start_matches(ENDS));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

fn push_front(heading: &mut Heading, marker: &str) {
    if let Some(InlineContent::Text(first)) = heading.content.first_mut() {
        first.text = first.text.trim_start().to_owned();
    }
    heading.content.insert(0, InlineContent::Text(TextSpan::plain(format!("{marker} "))));
}

#[cfg(test)]
mod tests {
    use super::is_repeated;

    #[test]
    fn numbers_of_the_text_are_recognized() {
        for (marker, text) in
            [("1.", "1. Scope"), ("1.2", " 1.2\tScope"), ("(a)", "(a)"), ("Article I.", "Article I: Scope")]
        {
            assert!(is_repeated(marker, text), "{marker} {text}");
        }
        for (marker, text) in [("1.", "Scope"), ("1", "1.2 Scope"), ("4", "4th"), ("1.1", "1"), ("I", "It")] {
            assert!(!is_repeated(marker, text), "{marker} {text}");
        }
    }
}
