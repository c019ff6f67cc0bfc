//! Media kind of a response: from `Content-Type`, else from the content, else from the path's extension.

mod declared;
mod sniff;

pub(crate) use declared::{Declared, charset, extension_of};
pub(crate) use sniff::sniff;

/// Supported kind of document.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum MediaKind {
    Html,
    Xhtml,
    PlainText,
    Markdown,
    Pdf,
    Docx,
    Pptx,
    Xlsx,
    Doc,
    Ppt,
    Xls,
    Rtf,
    Odt,
    Odp,
    Ods,
    Csv,
    Tsv,
    Json,
    Xml,
}

impl MediaKind {
    /// Returns the kind for a lowercase file extension without its dot.
    fn from_extension(extension: &str) -> Option<Self> {
        Some(match extension {
            "html" | "htm" => MediaKind::Html,
            "xhtml" | "xht" => MediaKind::Xhtml,
            "txt" | "text" => MediaKind::PlainText,
            "md" | "markdown" => MediaKind::Markdown,
            "pdf" => MediaKind::Pdf,
            "docx" => MediaKind::Docx,
            "pptx" => MediaKind::Pptx,
            "xlsx" => MediaKind::Xlsx,
            "doc" => MediaKind::Doc,
            "ppt" => MediaKind::Ppt,
            "xls" => MediaKind::Xls,
            "rtf" => MediaKind::Rtf,
            "odt" => MediaKind::Odt,
            "odp" => MediaKind::Odp,
            "ods" => MediaKind::Ods,
            "csv" => MediaKind::Csv,
            "tsv" => MediaKind::Tsv,
            "json" => MediaKind::Json,
            "xml" => MediaKind::Xml,
            _ => return None,
        })
    }

    /// Returns true for text formats that only a file name or type distinguishes from plain text.
    fn is_text(self) -> bool {
        matches!(
            self,
            MediaKind::PlainText
                | MediaKind::Markdown
                | MediaKind::Csv
                | MediaKind::Tsv
                | MediaKind::Json
                | MediaKind::Xml
        )
    }
}
