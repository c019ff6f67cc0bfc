//! Values of form fields. Viewers draw them where their widgets are, but they are not part of the page's content.

mod place;
mod value;

use pdf_oxide::{Annotation, AnnotationFlags, PdfDocument};

use self::place::Area;
use super::piece::Piece;

/// Maximum number of fields read on one page.
const MAX_FIELDS: usize = 10_000;
/// Maximum bytes of all values of a document: one value may be shown by many widgets.
const MAX_VALUES: usize = 16 << 20;
/// Maximum number of pieces that the values of a document are compared with. Without it, many fields on a page of many pieces would
/// take quadratic time.
const MAX_EFFORT: usize = 50_000_000;

/// Form fields of a document.
pub(super) struct Fields<'a> {
    document: &'a PdfDocument,
    /// Bytes of values that may be added.
    bytes: usize,
    effort: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn of(document: &'a PdfDocument) -> Self {
        Self { document, bytes: MAX_VALUES, effort: MAX_EFFORT }
    }

    /// Checks for fields on a page.
    pub(super) fn are_on(&self, page: usize) -> bool {
        self.document.get_annotations(page).unwrap_or_default().iter().any(is_shown)
    }

    /// Adds the values on a page to its pieces, which are in order, line by line from the top.
    pub(super) fn add(&mut self, page: usize, pieces: &mut Vec<Piece>) {
        // A page without annotations is the rule, and one whose annotations are unreadable still has its text.
        let annotations = self.document.get_annotations(page).unwrap_or_default();
        let sheet = self.document.get_page_media_box(page).ok();
        let size = place::text_size(pieces);
        for widget in annotations.iter().filter(|annotation| is_shown(annotation)).take(MAX_FIELDS) {
            let area = widget.rect.and_then(Area::of).filter(|area| sheet.is_none_or(|sheet| area.touches(sheet)));
            let Some(area) = area else { continue };
            let Some(value) = value::of(self.document, widget) else { continue };
            let lines = value.text().lines().count();
            let bytes = self.bytes.checked_sub(value.text().len());
            let effort = self.effort.checked_sub((pieces.len() + lines).saturating_mul(lines));
            let (Some(bytes), Some(effort)) = (bytes, effort) else { return };
            (self.bytes, self.effort) = (bytes, effort);
            place::add(&value, &area, size, pieces);
        }
    }
}

/// Returns true for a visible widget.
fn is_shown(annotation: &Annotation) -> bool {
    let hidden = AnnotationFlags::INVISIBLE | AnnotationFlags::HIDDEN | AnnotationFlags::NO_VIEW;
    annotation.subtype.as_deref() == Some("Widget") && annotation.flags.bits() & hidden == 0
}
