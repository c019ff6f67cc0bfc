//! Microsoft Office documents, by office_oxide.

use std::io::Cursor;

use office_oxide::ir::{Element, HeaderFooter, Metadata, Section};
use office_oxide::options::{OnIncomplete, ParseOptions};
use office_oxide::{Document, DocumentFormat, DocumentIR, OfficeError};

use crate::{ExtractError, ExtractErrorKind, ExtractRequest, Extracted, FileKind, dates, language, magic, names, tidy};

/// One document: text documents whole, presentations slide by slide, workbooks sheet by sheet.
pub(crate) fn read(request: &ExtractRequest, bytes: &[u8]) -> Result<Extracted, ExtractError> {
    let format = format_of(request.kind)?;
    check_container(request.kind, bytes)?;
    // Strict limits refuse bombs before they are unpacked; what a damaged document still holds is worth having.
    let mut options = ParseOptions::strict();
    options.on_incomplete = OnIncomplete::Report;
    let document = Document::from_reader_with(Cursor::new(bytes.to_vec()), format, &options).map_err(failure)?;
    if document.format() != format {
        let found = format!("{:?}", document.format()).to_lowercase();
        return Err(ExtractError::wrong_type(format!("the content is not `{}` but `{found}`", request.kind.as_str())));
    }
    let DocumentIR { mut metadata, sections } = document.to_ir();
    // The library takes the first section's name for a document without a title; a sheet's name is no title.
    let sheets_named = matches!(request.kind, FileKind::Xlsx | FileKind::Xls);
    if sheets_named && sections.iter().any(|section| section.title.is_some() && section.title == metadata.title) {
        metadata.title = None;
    }
    drop(document);
    let markdown = match request.kind {
        FileKind::Pptx | FileKind::Ppt => slides(sections),
        FileKind::Xlsx | FileKind::Xls => sheets(sections),
        _ => flow(sections),
    };
    let detected = language::detect(&markdown);
    Ok(described(request, metadata, markdown, detected))
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

/// Office 2007 files are zip archives; as a compound file they are encrypted ([MS-OFFCRYPTO] 2.3.1) or older files
/// under a new name.
fn check_container(kind: FileKind, bytes: &[u8]) -> Result<(), ExtractError> {
    let modern = matches!(kind, FileKind::Docx | FileKind::Pptx | FileKind::Xlsx);
    if magic::is_compound_file(bytes) {
        if holds_utf16(bytes, "EncryptedPackage") {
            return Err(ExtractError::encrypted("the file opens with a password only"));
        }
        return if modern { Err(magic::wrong_type(kind, bytes)) } else { Ok(()) };
    }
    // Word 2 and Excel 2 to 4 wrote no container.
    let plain_binary = !modern && magic::recognize(bytes).is_none() && bytes.contains(&0);
    if (modern && magic::is_zip(bytes)) || plain_binary { Ok(()) } else { Err(magic::wrong_type(kind, bytes)) }
}

fn holds_utf16(bytes: &[u8], name: &str) -> bool {
    let needle: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes.windows(needle.len()).any(|window| window == needle)
}

fn failure(error: OfficeError) -> ExtractError {
    let message = format!("unreadable document: {error}");
    let said = message.to_lowercase();
    let kind = match &error {
        OfficeError::Panic(_) => ExtractErrorKind::Crashed,
        _ if said.contains("encrypt") || said.contains("password") => ExtractErrorKind::Encrypted,
        _ if said.contains("limit exceeded") || said.contains("expands to more") => ExtractErrorKind::TooLarge,
        _ if said.contains("format mismatch") => ExtractErrorKind::WrongType,
        _ => ExtractErrorKind::Corrupt,
    };
    ExtractError::new(kind, message)
}

/// Sections of a text document are page layout, not structure: they follow one another. A header or footer is
/// written where it first appears.
fn flow(sections: Vec<Section>) -> String {
    let mut seen: Vec<HeaderFooter> = Vec::new();
    let mut markdown = String::new();
    for mut section in sections {
        section.title = None;
        for part in [
            &mut section.header,
            &mut section.footer,
            &mut section.first_page_header,
            &mut section.first_page_footer,
            &mut section.even_page_header,
            &mut section.even_page_footer,
        ] {
            if part.as_ref().is_some_and(|part| seen.contains(part)) {
                *part = None;
            }
            seen.extend(part.clone());
        }
        append(&mut markdown, &render(section));
    }
    markdown
}

/// Each slide under a heading that says its number and title.
fn slides(sections: Vec<Section>) -> String {
    let mut markdown = String::new();
    for (number, section) in (1..).zip(sections) {
        let (title, section) = take_title(section);
        let body = render(section);
        if body.is_empty() && title.is_none() {
            continue;
        }
        let heading = match title.filter(|title| *title != format!("Slide {number}")) {
            Some(title) => format!("## Slide {number}: {title}\n"),
            None => format!("## Slide {number}\n"),
        };
        append(&mut markdown, &heading);
        append(&mut markdown, &body);
    }
    markdown
}

/// Each sheet under a heading that says its name. The only sheet of a workbook needs none unless it was named.
fn sheets(sections: Vec<Section>) -> String {
    let bodies: Vec<(Option<String>, String)> = sections
        .into_iter()
        .map(|mut section| (section.title.take().and_then(|title| names::one_line(&title)), render(section)))
        .filter(|(_, body)| !body.is_empty())
        .collect();
    let alone = bodies.len() == 1;
    let mut markdown = String::new();
    for (name, body) in bodies {
        let telling = name.filter(|name| !alone || !is_default_name(name));
        if let Some(name) = telling {
            append(&mut markdown, &format!("## Sheet: {name}\n"));
        }
        append(&mut markdown, &body);
    }
    markdown
}

/// Titles that presentation programs give by themselves.
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

/// Names that spreadsheet programs give by themselves, in the languages seen most.
fn is_default_name(name: &str) -> bool {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim();
    ["Sheet", "Tabelle", "Feuil", "Hoja", "Foglio", "Plan", "Planilha", "Лист", "Blad", "Arkusz", "シート"]
        .contains(&stem)
}

/// The slide's title, taken out of its elements where it stands there as a heading.
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
    let section = Section { elements: vec![element.clone()], ..Section::default() };
    DocumentIR { metadata: Metadata::default(), sections: vec![section] }.plain_text()
}

fn render(section: Section) -> String {
    let markdown = DocumentIR { metadata: Metadata::default(), sections: vec![section] }.to_markdown();
    tidy::markdown(&deepen_lists(&markdown))
}

/// The library indents list items by two spaces a level, which nests bullets but not numbers (CommonMark 5.2: as far
/// as the text of the item above). Four nest both.
fn deepen_lists(markdown: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    for line in markdown.lines() {
        let item = line.trim_start_matches(' ');
        let indent = line.len() - item.len();
        let number = item.trim_start_matches(|c: char| c.is_ascii_digit());
        let marked = item.starts_with("- ") || (number.len() < item.len() && number.starts_with(". "));
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
    fn numbers_nest_in_numbers() {
        assert_eq!(deepen_lists("1. a\n  1. b\n    - c\n\ntext - d\n"), "1. a\n    1. b\n        - c\n\ntext - d\n");
    }
}
