//! Parts of Word documents that the library leaves out: numbers of headings, text boxes, charts, diagrams and pictures in
//! list items; and the instructions of fields and drop caps, which it takes for text and for paragraphs.

mod body;
mod drop_caps;
mod fields;
mod frames;
mod headings;
mod levels;
mod numbers;

use office_oxide::docx::DocxDocument;
use office_oxide::ir::Section;

/// Returns a part of a document without the text in the instructions of fields. Returns `None` for a part without such
/// text.
pub(super) fn without_field_instructions(part: &str) -> Option<String> {
    fields::without_instructions(part)
}

/// Returns a part of a document with drop caps in the paragraphs behind them. Returns `None` for a part without drop
/// caps.
pub(super) fn with_joined_drop_caps(part: &str) -> Option<String> {
    drop_caps::joined(part)
}

/// Completes the sections that the library made of a document. `bytes` are those of its file.
pub(super) fn complete(document: &DocxDocument, bytes: &[u8], sections: &mut [Section]) {
    let paragraphs = body::paragraphs(document);
    headings::number(document, bytes, &paragraphs, sections);
    frames::restore(document, &paragraphs, sections);
}
