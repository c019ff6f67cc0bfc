//! Parts of Word documents that the library leaves out: numbers of headings, text boxes, charts, diagrams and pictures in
//! list items.

mod body;
mod frames;
mod headings;
mod levels;
mod numbers;

use office_oxide::docx::DocxDocument;
use office_oxide::ir::Section;

/// Completes the sections that the library made of a document. `bytes` are those of its file.
pub(super) fn complete(document: &DocxDocument, bytes: &[u8], sections: &mut [Section]) {
    let paragraphs = body::paragraphs(document);
    headings::number(document, bytes, &paragraphs, sections);
    frames::restore(document, &paragraphs, sections);
}
