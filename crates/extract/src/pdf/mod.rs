//! PDF reader: `pdf_oxide` decodes glyphs, this module lays them out.
//!
//! The library's own markdown drops single punctuation marks, mixes table columns and reverses right-to-left lines
//! only in part. Its glyphs and their positions are correct.

mod bidi;
mod cells;
mod characters;
mod columns;
mod drop_cap;
mod fields;
mod glyph;
mod layout;
mod letters;
mod line;
mod pages;
mod pagination;
mod piece;
mod radicals;
mod raised;
mod replaced;
mod running_heads;
mod script;
mod table;
mod text_string;

use std::collections::HashMap;

use pdf_oxide::PdfDocument;
use pdf_oxide::converters::ConversionOptions;
use pdf_oxide::error::Error;
use pdf_oxide::object::Object;

use self::characters::Characters;
use self::fields::Fields;
use self::glyph::Glyph;
use self::layout::Style;
use self::pages::{PageStart, Pages};
use self::pagination::Pagination;
use self::piece::Piece;
use self::running_heads::Page;
use crate::{ExtractError, ExtractErrorKind, ExtractRequest, Extracted, dates, language, magic, names};

/// Maximum number of pages read; no book has more.
const MAX_PAGES: usize = 50_000;

/// Reads the text of all pages. Unreadable pages are skipped unless all are unreadable.
pub(crate) fn read(request: &ExtractRequest, bytes: &[u8]) -> Result<Extracted, ExtractError> {
    if !magic::is_pdf(bytes) {
        return Err(magic::wrong_type(request.kind, bytes));
    }
    let document = PdfDocument::from_bytes(bytes.to_vec()).map_err(failure)?;
    // Many files are encrypted with an empty password, only to restrict printing.
    if document.is_encrypted() && !document.is_authenticated() && !document.authenticate(b"").unwrap_or(false) {
        return Err(ExtractError::encrypted("the PDF is password protected"));
    }
    let pages = document.page_count().map_err(failure)?;
    if pages == 0 {
        return Err(ExtractError::corrupt("the PDF has no pages"));
    }
    let (Pages { markdown, starts }, unreadable) = pages_as_markdown(&document, pages.min(MAX_PAGES));
    if !markdown.chars().any(char::is_alphanumeric) {
        return Err(match unreadable {
            Some(error) => failure(error),
            None => ExtractError::new(ExtractErrorKind::NeedsOcr, format!("no text on {pages} pages")),
        });
    }
    let info = Info::of(&document);
    Ok(Extracted {
        title: info.text("Title").filter(|title| is_title(title)).or_else(|| names::title_of(&request.name)),
        author: info.text("Author").filter(|author| !is_placeholder(author)),
        description: info.text("Subject"),
        language: language::detect(&markdown),
        published_at: info.text("CreationDate").or_else(|| info.text("ModDate")).as_deref().and_then(dates::parse_pdf),
        markdown,
        page_starts: starts,
        ..Extracted::default()
    })
}

/// Reads all pages; also returns the error of the first unreadable page.
fn pages_as_markdown(document: &PdfDocument, count: usize) -> (Pages, Option<Error>) {
    let mut unreadable = None;
    let mut pages: Vec<Page> = Vec::new();
    // The library's markdown, for rotated and for vertical pages.
    let mut library_pages: HashMap<usize, String> = HashMap::new();
    let mut turned: HashMap<usize, [Vec<Piece>; 2]> = HashMap::new();
    let mut fields = Fields::of(document);
    for page in 0..count {
        let area = document.get_page_media_box(page).ok();
        let mut sheet = area.map(|(_, bottom, _, top)| (bottom, top));
        let mut marked = Pagination::default();
        let read = glyphs(document, page).and_then(|glyphs| match glyphs {
            // The places of fields are those on the sheet before it is turned.
            Some(glyphs) if !glyphs.is_sheet_turned || !fields.are_on(page) => {
                if glyphs.is_sheet_turned {
                    sheet = area.map(|(left, bottom, right, _)| (bottom, bottom + right - left));
                }
                let mut pieces = piece::pieces(glyphs.upright);
                fields.add(page, &mut pieces);
                turned.insert(page, glyphs.turned.map(piece::pieces));
                marked = glyphs.marked;
                Ok(pieces)
            }
            // With the values of its fields.
            _ => {
                let markdown = document.to_markdown(page, &ConversionOptions::default())?;
                let markdown = markdown.chars().map(radicals::unified).flat_map(letters::letters).collect();
                library_pages.insert(page, markdown);
                Ok(Vec::new())
            }
        });
        let pieces = read.unwrap_or_else(|error| {
            unreadable.get_or_insert(error);
            Vec::new()
        });
        pages.push(Page { pieces, sheet, marked, ..Page::default() });
    }
    running_heads::remove(&mut pages);
    let style = Style::of(pages.iter().flat_map(Page::all));
    let mut out = Pages::default();
    let mut blocks = Vec::new();
    let mut margin_notes = pages::MarginNotes::default();
    // Of the pages in `blocks`.
    let mut starts = Vec::new();
    for (page, Page { pieces, header, footer, .. }) in pages.into_iter().enumerate() {
        if let Some(text) = library_pages.remove(&page) {
            out.append(&std::mem::take(&mut blocks), &std::mem::take(&mut starts));
            out.append_page(&text);
            continue;
        }
        let begin = blocks.len();
        let mut start = PageStart::Block(begin);
        for region in columns::regions(pieces) {
            pages::append_region(&mut blocks, layout::blocks(region, &style), &mut start);
        }
        if start == PageStart::Inside {
            pages::start_empty_inside(&mut blocks, begin, &mut starts);
        }
        pages::insert_header(&mut blocks, layout::blocks(header, &style), begin, start);
        // Together: the second direction would otherwise be placed within the first, whose last paragraph looks open.
        let turned = turned.remove(&page).into_iter().flatten();
        let turned = turned.flat_map(|pieces| margin_notes.new_of(layout::blocks(pieces, &style)));
        let beside = turned.chain(layout::blocks(footer, &style)).collect();
        pages::append_beside(&mut blocks, beside, start);
        starts.push(start);
    }
    out.append(&blocks, &starts);
    (out, unreadable)
}

/// Glyphs of a page.
struct Glyphs {
    upright: Vec<Glyph>,
    /// See [`glyph::turned`].
    turned: [Vec<Glyph>; 2],
    /// True if the positions are those on the sheet as it is shown, turned by a quarter.
    is_sheet_turned: bool,
    marked: Pagination,
}

/// Returns the glyphs of a page; `None` if most text is rotated or vertical.
fn glyphs(document: &PdfDocument, page: usize) -> Result<Option<Glyphs>, Error> {
    let spans = document.extract_spans(page)?;
    let vertical = spans.iter().filter(|span| span.wmode == 1).count();
    if vertical * 2 > spans.len() {
        return Ok(None);
    }
    let Characters { chars, are_hyphens_drawn } = characters::of_page(document, page, &spans)?;
    if let Some([upright, turned]) = glyph::turned_with_sheet(&spans, are_hyphens_drawn) {
        // Page numbers may be level on the sheet, and are turned as it is shown.
        let turned = [glyph::level(chars, are_hyphens_drawn), turned];
        // The marks have the places of the sheet before it is turned.
        return Ok(Some(Glyphs { upright, turned, is_sheet_turned: true, marked: Pagination::default() }));
    }
    let turned = glyph::turned(&spans, are_hyphens_drawn);
    let upright = glyph::upright(chars, are_hyphens_drawn);
    let marked = Pagination::of(&spans);
    Ok(upright.map(|upright| Glyphs { upright, turned, is_sheet_turned: false, marked }))
}

fn failure(error: Error) -> ExtractError {
    match error {
        Error::EncryptedPdf => ExtractError::encrypted("the PDF is password protected"),
        Error::RecursionLimitExceeded(_) => ExtractError::too_large(format!("unreadable PDF: {error}")),
        error => ExtractError::corrupt(format!("unreadable PDF: {error}")),
    }
}

/// Rejects titles that are the name of the source file or of the program that wrote it.
fn is_title(title: &str) -> bool {
    let lower = title.to_lowercase();
    let file_like =
        [".doc", ".docx", ".indd", ".qxd", ".tex", ".dvi", ".pdf", ".ppt", ".pptx", ".xls", ".xlsx", ".rtf"]
            .iter()
            .any(|extension| lower.ends_with(extension));
    !file_like
        && !is_placeholder(title)
        && !lower.starts_with("microsoft word - ")
        && lower != "untitled"
        && title.chars().any(char::is_alphabetic)
}

/// Recognizes placeholders that programs write instead of a value.
fn is_placeholder(value: &str) -> bool {
    let plain = value.trim_matches(['(', ')']).to_lowercase();
    ["anonymous", "unspecified", "unknown", "untitled", "none"].contains(&plain.as_str())
}

/// Document information dictionary (ISO 32000-1, 14.3.3).
struct Info(HashMap<String, Object>);

impl Info {
    fn of(document: &PdfDocument) -> Self {
        let entry = document.trailer().as_dict().and_then(|trailer| trailer.get("Info"));
        let resolved = entry.and_then(|info| document.resolve_references(info, 3).ok());
        Self(resolved.and_then(|info| info.as_dict().cloned()).unwrap_or_default())
    }

    fn text(&self, key: &str) -> Option<String> {
        names::one_line(&text_string::decode(self.0.get(key)?.as_string()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_not_titles() {
        assert!(is_title("Annual Report 2024"));
        for title in ["Microsoft Word - memo.doc", "untitled", "paper.dvi", "12345", "(anonymous)"] {
            assert!(!is_title(title), "{title}");
        }
    }
}
