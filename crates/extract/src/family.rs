//! Detection of Office files with the extension of a related format, such as a `.doc` that is a docx or an `.xls` that
//! is a web page. Office programs open these without a warning, so they are common.

use crate::{ExtractError, FileKind, magic};

/// Number of bytes of an archive or a text examined for its type.
const HEAD: usize = 1 << 20;

/// Returns the kind of the content if it belongs to the same family as `named`. Returns `named` if the content is not
/// recognized; its reader then reports the error.
///
/// # Errors
/// Returns `WrongType` for an Office file of another family.
pub(crate) fn actual_kind(named: FileKind, bytes: &[u8]) -> Result<FileKind, ExtractError> {
    let family = members(named);
    if family.is_empty() {
        return Ok(named);
    }
    match found(named, bytes) {
        Some(kind) if family.contains(&kind) => Ok(kind),
        Some(kind) => {
            let message = format!("the content is not `{}` but `{}`", named.as_str(), kind.as_str());
            Err(ExtractError::wrong_type(message))
        }
        None => Ok(named),
    }
}

fn members(kind: FileKind) -> &'static [FileKind] {
    use FileKind::*;
    match kind {
        Doc => &[Doc, Docx, Odt, Rtf, Html],
        Docx | Odt | Rtf => &[Doc, Docx, Odt, Rtf],
        Xls => &[Xls, Xlsx, Ods, Html, Tsv],
        Xlsx | Ods => &[Xls, Xlsx, Ods],
        Ppt | Pptx | Odp => &[Ppt, Pptx, Odp],
        _ => &[],
    }
}

fn found(named: FileKind, bytes: &[u8]) -> Option<FileKind> {
    use FileKind::*;
    let head = &bytes[..bytes.len().min(HEAD)];
    if magic::is_zip(bytes) {
        return part_names(head).next().and_then(open_document).or_else(|| part_names(head).find_map(office_open));
    }
    if magic::is_compound_file(bytes) {
        return match named {
            Docx | Odt | Rtf | Doc => Some(Doc),
            Xlsx | Ods | Xls => Some(Xls),
            _ => Some(Ppt),
        };
    }
    if bytes.starts_with(b"{\\rtf") {
        return Some(Rtf);
    }
    if magic::recognize(bytes).is_some() || head.contains(&0) && !bytes.starts_with(b"\xff\xfe") {
        return None;
    }
    let start: Vec<u8> = head
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace() && **byte != 0)
        .take(256)
        .map(u8::to_ascii_lowercase)
        .collect();
    if !matches!(named, Doc | Xls) {
        return None;
    }
    let markup: [&[u8]; 4] = [b"<html", b"<!doctypehtml", b"<table", b"<meta"];
    if markup.iter().any(|tag| start.windows(tag.len()).any(|window| window == *tag)) {
        return Some(Html);
    }
    (named == Xls && head.contains(&b'\t') && !start.starts_with(b"<")).then_some(Tsv)
}

/// Returns `head` from the name of each part on: a local file header has 30 bytes before it. Parts of an archive that is
/// embedded uncompressed are included, and follow the header of the part that contains it.
fn part_names(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.windows(4).enumerate().filter(|(_, window)| *window == b"PK\x03\x04").filter_map(|(at, _)| head.get(at + 30..))
}

/// Returns the type of an OpenDocument file, which its first part states uncompressed (ODF 1.3 part 2, 3.3).
fn open_document(first_part: &[u8]) -> Option<FileKind> {
    let stated = first_part.strip_prefix(b"mimetype")?;
    [FileKind::Odt, FileKind::Odp, FileKind::Ods]
        .into_iter()
        .find(|kind| stated.starts_with(kind.media_type().as_bytes()))
}

/// Returns the type of an Office Open XML file by the folder of one of its parts.
fn office_open(part: &[u8]) -> Option<FileKind> {
    let folders: [(FileKind, &[u8]); 3] =
        [(FileKind::Docx, b"word/"), (FileKind::Xlsx, b"xl/"), (FileKind::Pptx, b"ppt/")];
    folders.into_iter().find(|(_, folder)| part.starts_with(folder)).map(|(kind, _)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_decides_kind_within_family() {
        let zip_part = |name: &str| [b"PK\x03\x04".as_slice(), &[0; 26], name.as_bytes()].concat();
        for (named, bytes, actual) in [
            (FileKind::Doc, zip_part("word/document.xml"), FileKind::Docx),
            (FileKind::Xls, zip_part("xl/workbook.xml"), FileKind::Xlsx),
            (FileKind::Docx, b"{\\rtf1 x}".to_vec(), FileKind::Rtf),
            (FileKind::Docx, magic::COMPOUND_FILE.to_vec(), FileKind::Doc),
            (FileKind::Xls, b"<html><table><tr><td>1</td></tr></table>".to_vec(), FileKind::Html),
            (FileKind::Xls, b"a\tb\n1\t2\n".to_vec(), FileKind::Tsv),
            (FileKind::Docx, b"a\tb\n".to_vec(), FileKind::Docx),
            (FileKind::Pdf, b"{\\rtf1 x}".to_vec(), FileKind::Pdf),
            (FileKind::Doc, b"plain words".to_vec(), FileKind::Doc),
        ] {
            assert_eq!(actual_kind(named, &bytes).ok(), Some(actual), "{named:?}");
        }
        assert!(actual_kind(FileKind::Doc, &zip_part("xl/workbook.xml")).is_err());
    }

    #[test]
    fn embedded_archives_do_not_decide_kind() {
        let part = |name: &str, content: &[u8]| [b"PK\x03\x04".as_slice(), &[0; 26], name.as_bytes(), content].concat();
        let workbook = part("xl/workbook.xml", b"");
        let text = part("mimetype", FileKind::Odt.media_type().as_bytes());
        for (named, outer, inner, actual) in [
            (FileKind::Pptx, "ppt/embeddings/Book.xlsx", &workbook, FileKind::Pptx),
            (FileKind::Ppt, "ppt/embeddings/Book.xlsx", &workbook, FileKind::Pptx),
            (FileKind::Xlsx, "xl/embeddings/Letter.docx", &part("word/document.xml", b""), FileKind::Xlsx),
            (FileKind::Pptx, "ppt/embeddings/Letter.odt", &text, FileKind::Pptx),
        ] {
            let bytes = [part("[Content_Types].xml", b"<Types/>"), part(outer, inner)].concat();
            assert_eq!(actual_kind(named, &bytes).ok(), Some(actual), "{named:?}");
        }
        assert!(actual_kind(FileKind::Pptx, &text).is_err());
    }
}
