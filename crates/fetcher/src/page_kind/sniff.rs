//! Content sniffing by the first bytes. Follows WHATWG "MIME Sniffing" for kinds that browsers know.

use file_types::FileKind;
use memchr::memmem;

use super::{is_text as is_text_kind, kind_of_extension};

/// Number of leading bytes that are examined.
const HEAD: usize = 2048;

/// Lowercase opening tags of HTML documents (MIME Sniffing, 7.1).
const HTML_STARTS: &[&str] = &[
    "<!doctype html",
    "<html",
    "<head",
    "<script",
    "<iframe",
    "<h1",
    "<div",
    "<font",
    "<table",
    "<a",
    "<style",
    "<title",
    "<b",
    "<body",
    "<br",
    "<p",
    "<meta",
    "<link",
    "<main",
    "<article",
    "<section",
];

/// Returns the kind of content without a usable declared type. `extension` comes from the URL path.
pub(crate) fn sniff(content: &[u8], extension: Option<&str>) -> Option<FileKind> {
    let named = extension.and_then(kind_of_extension);
    let head = &content[..content.len().min(HEAD)];
    if memmem::find(&head[..head.len().min(1024)], b"%PDF-").is_some() {
        return Some(FileKind::Pdf);
    }
    if head.starts_with(b"PK\x03\x04") {
        return zipped(content, named);
    }
    if head.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        return compound(content, named);
    }
    if head.starts_with(b"{\\rtf") {
        return Some(FileKind::Rtf);
    }
    if !is_text(head) {
        return None;
    }
    Some(markup(head).unwrap_or_else(|| named.filter(|kind| is_text_kind(*kind)).unwrap_or(FileKind::Txt)))
}

/// Recognizes office formats among ZIP archives: OpenDocument by its first entry, OOXML by the folder of its main part.
/// Other archives are unsupported.
fn zipped(content: &[u8], named: Option<FileKind>) -> Option<FileKind> {
    let first_entry = &content[..content.len().min(256)];
    if let Some(at) = memmem::find(first_entry, b"mimetypeapplication/vnd.oasis.opendocument.") {
        let rest = &first_entry[at + b"mimetypeapplication/vnd.oasis.opendocument.".len()..];
        return [(&b"text"[..], FileKind::Odt), (b"presentation", FileKind::Odp), (b"spreadsheet", FileKind::Ods)]
            .into_iter()
            .find_map(|(name, kind)| rest.starts_with(name).then_some(kind));
    }
    // File names are stored uncompressed, before each entry and again at the end.
    memmem::find(content, b"[Content_Types].xml")?;
    let parts = [
        (&b"word/document"[..], FileKind::Docx),
        (b"ppt/presentation", FileKind::Pptx),
        (b"xl/workbook", FileKind::Xlsx),
    ];
    let is_named = |kind: &FileKind| matches!(kind, FileKind::Docx | FileKind::Pptx | FileKind::Xlsx);
    parts.into_iter().find_map(|(part, kind)| memmem::find(content, part).map(|_| kind)).or(named.filter(is_named))
}

/// Recognizes compound files by their stream names, which are UTF-16.
fn compound(content: &[u8], named: Option<FileKind>) -> Option<FileKind> {
    let has = |name: &str| {
        let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        memmem::find(content, &name).is_some()
    };
    if has("WordDocument") {
        Some(FileKind::Doc)
    } else if has("PowerPoint Document") {
        Some(FileKind::Ppt)
    } else if has("Workbook") || has("Book") {
        Some(FileKind::Xls)
    } else {
        named.filter(|kind| matches!(kind, FileKind::Doc | FileKind::Ppt | FileKind::Xls))
    }
}

fn markup(head: &[u8]) -> Option<FileKind> {
    // In UTF-16, dropping every other byte leaves the ASCII of the markup.
    let text: String = match head {
        [0xff, 0xfe, rest @ ..] => rest.iter().step_by(2).map(|&byte| char::from(byte)).collect(),
        [0xfe, 0xff, rest @ ..] => rest.iter().skip(1).step_by(2).map(|&byte| char::from(byte)).collect(),
        [0xef, 0xbb, 0xbf, rest @ ..] => rest.iter().map(|&byte| char::from(byte)).collect(),
        _ => head.iter().map(|&byte| char::from(byte)).collect(),
    };
    let text = text.to_ascii_lowercase();
    if text.trim_start().starts_with("<?xml") {
        return Some(if text.contains("<html") { FileKind::Html } else { FileKind::Txt });
    }
    let start = without_comments(&text);
    let is_tag = |tag: &&str| {
        start
            .strip_prefix(*tag)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r', '\x0c', '>']))
    };
    HTML_STARTS.iter().any(is_tag).then_some(FileKind::Html)
}

fn without_comments(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let Some((_, rest)) = text.strip_prefix("<!--").and_then(|comment| comment.split_once("-->")) else {
            return text;
        };
        text = rest;
    }
}

/// Returns true if there is no binary byte (MIME Sniffing, 7.2), or if a byte order mark declares UTF-16.
fn is_text(head: &[u8]) -> bool {
    let has_utf16_bom = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    has_utf16_bom || !head.iter().any(|byte| matches!(byte, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &[u8], extension: &str, expected: Option<FileKind>) {
        assert_eq!(sniff(content, Some(extension)), expected, "{}", String::from_utf8_lossy(content));
    }

    #[test]
    fn html_and_xml_are_recognized_by_their_first_tag() {
        for content in [
            &b"<!DOCTYPE HTML>"[..],
            b"\xef\xbb\xbf \n<html lang=en>",
            b"<!-- <b> --> <!---->\n<Body>",
            b"<p>Words",
            b"\xff\xfe<\0h\0t\0m\0l\0>\0",
            b"\xfe\xff\0<\0h\0t\0m\0l\0>",
        ] {
            check(content, "txt", Some(FileKind::Html));
        }
        check(b"<?xml version='1.0'?><!DOCTYPE html><html xmlns='x'>", "", Some(FileKind::Html));
        check(b"<?xml version='1.0'?><rss>", "", Some(FileKind::Txt));
        check(b"<bold>no tag of HTML", "", Some(FileKind::Txt));
        check(b"<!-- never closed <p>", "", Some(FileKind::Txt));
    }

    #[test]
    fn the_extension_refines_plain_text() {
        for (extension, kind) in [
            ("md", FileKind::Md),
            ("csv", FileKind::Csv),
            ("json", FileKind::Txt),
            ("pdf", FileKind::Txt),
            ("exe", FileKind::Txt),
            ("", FileKind::Txt),
        ] {
            check("# Ünïcode, words\n".as_bytes(), extension, Some(kind));
        }
        check(b"", "md", Some(FileKind::Md));
    }

    #[test]
    fn documents_are_recognized_by_content_regardless_of_extension() {
        check(b"\n%PDF-1.7\n\x01\x02", "html", Some(FileKind::Pdf));
        check(b"{\\rtf1 words}", "", Some(FileKind::Rtf));
        let mut odt = b"PK\x03\x04".to_vec();
        odt.resize(30, 0);
        odt.extend(b"mimetypeapplication/vnd.oasis.opendocument.spreadsheetPK");
        check(&odt, "docx", Some(FileKind::Ods));
        check(b"PK\x03\x04..[Content_Types].xml..word/document.xml", "zip", Some(FileKind::Docx));
        check(b"PK\x03\x04..[Content_Types].xml..xl/workbook.bin", "", Some(FileKind::Xlsx));
        let workbook: Vec<u8> = "Workbook".encode_utf16().flat_map(u16::to_le_bytes).collect();
        check(&[b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", workbook.as_slice()].concat(), "doc", Some(FileKind::Xls));
    }

    #[test]
    fn other_binary_content_is_unsupported() {
        check(b"PK\x03\x04 an archive", "docx", None);
        check(b"\x89PNG\r\n\x1a\n\0\0", "html", None);
        check(b"\x7fELF\x02\x01\x01\0", "", None);
        check(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "msi", None);
    }
}
