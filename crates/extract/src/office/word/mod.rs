//! Parts of Word documents that the library leaves out: numbers of headings, text boxes, charts, diagrams and pictures in
//! list items; and what it takes for something else: the instructions of fields, drop caps, titles, and the properties of a
//! template.

mod body;
mod drop_caps;
mod fields;
mod frames;
mod headings;
mod levels;
mod numbers;
mod template;
mod titles;

use office_oxide::docx::DocxDocument;
use office_oxide::ir::DocumentIR;

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

/// Completes what the library made of a document. `bytes` are those of its file.
pub(super) fn complete(document: &DocxDocument, bytes: &[u8], ir: &mut DocumentIR) {
    let DocumentIR { metadata, sections } = ir;
    let paragraphs = body::paragraphs(document);
    headings::number(document, bytes, &paragraphs, sections);
    frames::restore(document, &paragraphs, sections);
    let title = titles::raise(document, sections);
    // Without a title of the file the library takes the first heading.
    let stated = document.core_properties.as_ref().and_then(|properties| properties.title.as_deref());
    if title.is_some() && stated.is_none_or(|stated| stated.trim().is_empty()) {
        metadata.title = title;
    }
    template::remove_properties(metadata);
}
