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
    let holds = |needle: &[u8]| head.windows(needle.len()).any(|window| window == needle);
    if magic::is_zip(bytes) {
        for kind in [Odt, Odp, Ods] {
            // Stored uncompressed as the first part (ODF 1.3 part 2, 3.3).
            if holds(&[b"mimetype", kind.media_type().as_bytes()].concat()) {
                return Some(kind);
            }
        }
        let parts: [(FileKind, &[u8]); 3] = [(Docx, b"word/"), (Xlsx, b"xl/"), (Pptx, b"ppt/")];
        return parts.into_iter().find(|(_, folder)| names_part(head, folder)).map(|(kind, _)| kind);
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

/// Checks if a local file header (30 bytes, then the name) in `head` names a part in `folder`.
fn names_part(head: &[u8], folder: &[u8]) -> bool {
    head.windows(4)
        .enumerate()
        .filter(|(_, window)| *window == b"PK\x03\x04")
        .any(|(at, _)| head.get(at + 30..).is_some_and(|name| name.starts_with(folder)))
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
}
