//! File type detection by signature, where the first bytes are unambiguous.

use crate::{ExtractError, FileKind};

/// Signature of the container of Office 97-2003 files and of encrypted Office files ([MS-CFB] 2.2).
pub(crate) const COMPOUND_FILE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
const ZIP: &[u8] = b"PK\x03\x04";
const ZIP_EMPTY: &[u8] = b"PK\x05\x06";

/// Signatures of binary formats, with the name used in error messages.
const BINARY: &[(&[u8], &str)] = &[
    (b"%PDF-", "a PDF"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (ZIP, "a zip archive"),
    (ZIP_EMPTY, "a zip archive"),
    (COMPOUND_FILE, "an Office 97-2003 or encrypted Office file"),
    (b"{\\rtf", "an RTF document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\0", "an SQLite database"),
];

/// Returns the name of the format that the bytes certainly are; `None` for text and for formats without a signature.
pub(crate) fn recognize(bytes: &[u8]) -> Option<&'static str> {
    BINARY.iter().find(|(signature, _)| bytes.starts_with(signature)).map(|(_, name)| *name)
}

pub(crate) fn is_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(ZIP) || bytes.starts_with(ZIP_EMPTY)
}

pub(crate) fn is_compound_file(bytes: &[u8]) -> bool {
    bytes.starts_with(COMPOUND_FILE)
}

/// Returns true for formats that are stored as text but must not be read as plain text: PDF and RTF.
pub(crate) fn is_disguised_text(bytes: &[u8]) -> bool {
    bytes.starts_with(b"%PDF-") || bytes.starts_with(b"{\\rtf")
}

/// Looks for the `%PDF-` header in the first kilobyte, as PDF readers do (ISO 32000-1, annex H.3, note 13).
pub(crate) fn is_pdf(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(1024)];
    head.windows(5).any(|window| window == b"%PDF-")
}

/// Returns the error for content that does not match the file's extension.
pub(crate) fn wrong_type(kind: FileKind, bytes: &[u8]) -> ExtractError {
    let found = recognize(bytes).unwrap_or(if bytes.is_empty() { "empty" } else { "another format" });
    ExtractError::wrong_type(format!("the content is not `{}` but {found}", kind.as_str()))
}
