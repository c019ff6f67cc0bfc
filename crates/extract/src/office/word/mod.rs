//! Parts of Word documents that the library leaves out: numbers of headings, text boxes, charts, diagrams and pictures in
//! list items, the structure of formulas, and the text under phonetic guides.

mod body;
mod frames;
mod headings;
mod levels;
mod markup;
mod numbers;
mod omml;
mod package;

use office_oxide::docx::DocxDocument;
use office_oxide::ir::Section;

/// Returns the file with formulas and phonetic guides in a form that the library reads. Returns `None` for one without
/// them.
///
/// The library must have read the file before: it rejects archives with several parts of the same name.
pub(super) fn rewritten(bytes: &[u8]) -> Option<Vec<u8>> {
    package::rewritten(bytes)
}

/// Completes the sections that the library made of a document. `bytes` are those of its file.
pub(super) fn complete(document: &DocxDocument, bytes: &[u8], sections: &mut [Section]) {
    let paragraphs = body::paragraphs(document);
    headings::number(document, bytes, &paragraphs, sections);
    frames::restore(document, &paragraphs, sections);
}
