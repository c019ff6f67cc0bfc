//! Microsoft Office documents, read with `office_oxide`.

mod cell;
mod escapes;
mod flow;
mod grid;
mod list_numbers;
mod marks;
mod markup;
mod omml;
mod package;
mod placeholders;
mod ranges;
mod sheets;
mod slide_places;
mod word;
mod xls;
mod xls_formats;
mod xlsx;
mod xlsx_links;
mod xlsx_results;
mod xstring;

use std::io::Cursor;

use office_oxide::ir::{Element, HeaderFooter, Metadata, Section};
use office_oxide::options::{OnIncomplete, ParseOptions};
use office_oxide::{Document, DocumentFormat, DocumentIR, OfficeError};

use crate::{
    ExtractError, ExtractErrorKind, ExtractRequest, Extracted, FileKind, blocks, dates, language, literal, magic,
    names, tidy,
};

/// Reads one document: text documents as a whole, presentations by slide, workbooks by sheet.
pub(crate) fn read(request: &ExtractRequest, bytes: &[u8]) -> Result<Extracted, ExtractError> {
    let format = format_of(request.kind)?;
    check_container(request.kind, bytes)?;
    // Strict limits reject decompression bombs before unpacking; damaged documents are still read as far as possible.
    let mut options = ParseOptions::strict();
    options.on_incomplete = OnIncomplete::Report;
    let open = |bytes: Vec<u8>| Document::from_reader_with(Cursor::new(bytes), format, &options);
    let mut document = open(bytes.to_vec()).map_err(failure)?;
    if document.format() != format {
        let found = format!("{:?}", document.format()).to_lowercase();
        return Err(ExtractError::wrong_type(format!("the content is not `{}` but `{found}`", request.kind.as_str())));
    }
    // Behind the first reading, because the library rejects archives with several parts of the same name.
    if matches!(request.kind, FileKind::Docx | FileKind::Pptx)
        && let Some(rewritten) = rewritten(&document, bytes)
        && let Ok(rewritten) = open(rewritten)
    {
        document = rewritten;
    }
    let mut ir = document.to_ir();
    if let Some(word) = document.as_docx() {
        word::complete(word, bytes, &mut ir);
    }
    let DocumentIR { mut metadata, sections } = ir;
    // Without a title the library returns the first section's name, which is a sheet name in workbooks and not a
    // title.
    let sheets_named = matches!(request.kind, FileKind::Xlsx | FileKind::Xls);
    if sheets_named && sections.iter().any(|section| section.title.is_some() && section.title == metadata.title) {
        metadata.title = None;
    }
    let markdown = match request.kind {
        FileKind::Pptx | FileKind::Ppt => slides(sections),
        FileKind::Xlsx | FileKind::Xls => sheets::write(&document, bytes, sections),
        _ => flow::write(sections),
    };
    let detected = language::detect(&markdown);
    Ok(described(request, metadata, markdown, detected))
}

/// Returns the file with its parts in the form that the library reads. Returns `None` if they are in that form.
fn rewritten(document: &Document, bytes: &[u8]) -> Option<Vec<u8>> {
    let layouts = document.as_pptx().map(|slides| placeholders::Layouts::of(slides, bytes)).unwrap_or_default();
    package::rewritten(bytes, |name, part| slide_places::stated(part, layouts.of_slide(name)?))
}

fn described(request: &ExtractRequest, metadata: Metadata, markdown: String, detected: Option<String>) -> Extracted {
    let line = |value: &Option<String>| value.as_deref().and_then(names::one_line);
    let date = |value: &Option<String>| value.as_deref().and_then(dates::parse);
    Extracted {
        title: line(&metadata.title)
            .filter(|title| !is_default_title(title))
            .or_else(|| names::title_of(&request.name)),
        author: line(&metadata.author),
        description: line(&metadata.description).or_else(|| line(&metadata.subject)),
        language: detected.or_else(|| metadata.language.as_deref().and_then(language::from_tag)),
        published_at: date(&metadata.created).or_else(|| date(&metadata.modified)),
        markdown,
        ..Extracted::default()
    }
}

fn format_of(kind: FileKind) -> Result<DocumentFormat, ExtractError> {
    match kind {
        FileKind::Docx => Ok(DocumentFormat::Docx),
        FileKind::Pptx => Ok(DocumentFormat::Pptx),
        FileKind::Xlsx => Ok(DocumentFormat::Xlsx),
        FileKind::Doc => Ok(DocumentFormat::Doc),
        FileKind::Ppt => Ok(DocumentFormat::Ppt),
        FileKind::Xls => Ok(DocumentFormat::Xls),
        other => Err(ExtractError::new(ExtractErrorKind::Unsupported, format!("`{}`", other.as_str()))),
    }
}

/// Checks the container. Office 2007 files are zip archives; a compound file is either encrypted ([MS-OFFCRYPTO]
/// 2.3.1) or an older file that was renamed.
fn check_container(kind: FileKind, bytes: &[u8]) -> Result<(), ExtractError> {
    let modern = matches!(kind, FileKind::Docx | FileKind::Pptx | FileKind::Xlsx);
    if magic::is_compound_file(bytes) {
        if holds_utf16(bytes, "EncryptedPackage") {
            return Err(ExtractError::encrypted("the file is password protected"));
        }
        return if modern { Err(magic::wrong_type(kind, bytes)) } else { Ok(()) };
    }
    // Word 2 and Excel 2 to 4 files have no container.
    let plain_binary = !modern && magic::recognize(bytes).is_none() && bytes.contains(&0);
    if (modern && magic::is_zip(bytes)) || plain_binary { Ok(()) } else { Err(magic::wrong_type(kind, bytes)) }
}

fn holds_utf16(bytes: &[u8], name: &str) -> bool {
    let needle: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes.windows(needle.len()).any(|window| window == needle)
}

fn failure(error: OfficeError) -> ExtractError {
    let message = format!("unreadable document: {error}");
    let text = message.to_lowercase();
    let kind = match &error {
        OfficeError::Panic(_) => ExtractErrorKind::Crashed,
        _ if text.contains("encrypt") || text.contains("password") => ExtractErrorKind::Encrypted,
        _ if text.contains("limit exceeded") || text.contains("expands to more") => ExtractErrorKind::TooLarge,
        _ if text.contains("format mismatch") => ExtractErrorKind::WrongType,
        _ => ExtractErrorKind::Corrupt,
    };
    ExtractError::new(kind, message)
}

/// Writes each slide under a heading with its number and title.
fn slides(sections: Vec<Section>) -> String {
    let mut markdown = String::new();
    for (number, section) in (1..).zip(sections) {
        let (title, section) = take_title(section);
        let body = render(section);
        if body.is_empty() && title.is_none() {
            continue;
        }
        let label = match title.filter(|title| *title != format!("Slide {number}")) {
            Some(title) => format!("Slide {number}: {}", literal::block(&title)),
            None => format!("Slide {number}"),
        };
        append(&mut markdown, &(blocks::heading(2, &label) + "\n"));
        append(&mut markdown, &body);
    }
    markdown
}

/// Recognizes default titles of presentation programs.
fn is_default_title(title: &str) -> bool {
    [
        "PowerPoint Presentation",
        "PowerPoint-Präsentation",
        "Présentation PowerPoint",
        "Slide 1",
        "Title Slide",
        "Untitled",
    ]
    .contains(&title)
}

/// Returns the slide's title, and the section without the heading that repeats it.
fn take_title(mut section: Section) -> (Option<String>, Section) {
    let Some(title) = section.title.take().and_then(|title| names::one_line(&title)) else { return (None, section) };
    let at = section.elements.iter().position(|element| {
        matches!(element, Element::Heading(_))
            && names::one_line(&plain_text(element)).as_deref() == Some(title.as_str())
    });
    if let Some(at) = at {
        section.elements.remove(at);
    }
    (Some(title), section)
}

fn plain_text(element: &Element) -> String {
    document_of(Section { elements: vec![element.clone()], ..Section::default() }).plain_text()
}

fn render(mut section: Section) -> String {
    marks::mark(&mut section);
    tidied(&document_of(section).to_markdown())
}

/// Returns the headers and footers of a section.
fn margins(section: &mut Section) -> [&mut Option<HeaderFooter>; 6] {
    [
        &mut section.header,
        &mut section.footer,
        &mut section.first_page_header,
        &mut section.first_page_footer,
        &mut section.even_page_header,
        &mut section.even_page_footer,
    ]
}

/// Returns a document of one section, which the library can write.
fn document_of(section: Section) -> DocumentIR {
    DocumentIR { metadata: Metadata::default(), sections: vec![section] }
}

fn tidied(markdown: &str) -> String {
    tidy::markdown(&deepen_lists(&escapes::complete(markdown)))
}

/// Widens list indentation from two spaces per level, which the library writes, to four. Two spaces nest bullets but
/// not numbered items (CommonMark 5.2: up to the text of the item above); four nest both.
fn deepen_lists(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    for line in markdown.lines() {
        let item = line.trim_start_matches(' ');
        let indent = line.len() - item.len();
        let number = item.trim_start_matches(|c: char| c.is_ascii_digit());
        let marked = item.starts_with("- ")
            || (number.len() < item.len() && [". ", ") "].iter().any(|end| number.starts_with(end)));
        if marked && indent.is_multiple_of(2) {
            out.extend(std::iter::repeat_n(' ', indent));
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

fn append(markdown: &mut String, part: &str) {
    if part.is_empty() {
        return;
    }
    if !markdown.is_empty() {
        markdown.push('\n');
    }
    markdown.push_str(part);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_lists_nest() {
        assert_eq!(deepen_lists("1) a\n  1) b\n"), "1) a\n    1) b\n");
        assert_eq!(deepen_lists("1. a\n  1. b\n    - c\n\ntext - d\n"), "1. a\n    1. b\n        - c\n\ntext - d\n");
    }
}
