use serde::{Deserialize, Serialize};

/// A type of document that the service knows, decided by the file name and checked against the content.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    Pdf,
    Html,
    Txt,
    Md,
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
}

impl FileKind {
    pub const ALL: [FileKind; 16] = [
        FileKind::Pdf,
        FileKind::Html,
        FileKind::Txt,
        FileKind::Md,
        FileKind::Docx,
        FileKind::Pptx,
        FileKind::Xlsx,
        FileKind::Doc,
        FileKind::Ppt,
        FileKind::Xls,
        FileKind::Rtf,
        FileKind::Odt,
        FileKind::Odp,
        FileKind::Ods,
        FileKind::Csv,
        FileKind::Tsv,
    ];

    /// The kind that the name's last extension stands for, whatever its case; `None` without one or for an
    /// unknown one. `htm` is `Html`.
    pub fn from_name(name: &str) -> Option<FileKind> {
        let (stem, extension) = name.rsplit_once('.')?;
        if stem.is_empty() {
            return None;
        }
        if extension.eq_ignore_ascii_case("htm") {
            return Some(FileKind::Html);
        }
        FileKind::ALL.into_iter().find(|kind| extension.eq_ignore_ascii_case(kind.as_str()))
    }

    /// The lowercase extension without its dot; also the `kind:` label of a document.
    pub fn as_str(self) -> &'static str {
        match self {
            FileKind::Pdf => "pdf",
            FileKind::Html => "html",
            FileKind::Txt => "txt",
            FileKind::Md => "md",
            FileKind::Docx => "docx",
            FileKind::Pptx => "pptx",
            FileKind::Xlsx => "xlsx",
            FileKind::Doc => "doc",
            FileKind::Ppt => "ppt",
            FileKind::Xls => "xls",
            FileKind::Rtf => "rtf",
            FileKind::Odt => "odt",
            FileKind::Odp => "odp",
            FileKind::Ods => "ods",
            FileKind::Csv => "csv",
            FileKind::Tsv => "tsv",
        }
    }

    /// The registered media type (IANA), without parameters.
    pub fn mime(self) -> &'static str {
        match self {
            FileKind::Pdf => "application/pdf",
            FileKind::Html => "text/html",
            FileKind::Txt => "text/plain",
            FileKind::Md => "text/markdown",
            FileKind::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            FileKind::Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            FileKind::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            FileKind::Doc => "application/msword",
            FileKind::Ppt => "application/vnd.ms-powerpoint",
            FileKind::Xls => "application/vnd.ms-excel",
            FileKind::Rtf => "application/rtf",
            FileKind::Odt => "application/vnd.oasis.opendocument.text",
            FileKind::Odp => "application/vnd.oasis.opendocument.presentation",
            FileKind::Ods => "application/vnd.oasis.opendocument.spreadsheet",
            FileKind::Csv => "text/csv",
            FileKind::Tsv => "text/tab-separated-values",
        }
    }

    /// Whether this build reads the kind.
    pub fn is_supported(self) -> bool {
        true
    }

    /// Every extension that this build reads, `htm` included, in the order of [`FileKind::ALL`].
    pub fn supported_extensions() -> Vec<&'static str> {
        let mut extensions = Vec::new();
        for kind in FileKind::ALL.into_iter().filter(|kind| kind.is_supported()) {
            extensions.push(kind.as_str());
            if kind == FileKind::Html {
                extensions.push("htm");
            }
        }
        extensions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_extension_decides_whatever_its_case() {
        for (name, kind) in [
            ("report.PDF", Some(FileKind::Pdf)),
            ("page.htm", Some(FileKind::Html)),
            ("page.HTML", Some(FileKind::Html)),
            ("archive.pdf.txt", Some(FileKind::Txt)),
            ("naïve 文書.docx", Some(FileKind::Docx)),
            (".pdf", None),
            ("pdf", None),
            ("tool.exe", None),
            ("trailing.", None),
        ] {
            assert_eq!(FileKind::from_name(name), kind, "{name}");
        }
    }

    #[test]
    fn names_and_extensions_agree() {
        for kind in FileKind::ALL {
            assert_eq!(FileKind::from_name(&format!("a.{}", kind.as_str())), Some(kind));
        }
        assert!(FileKind::supported_extensions().contains(&"htm"));
    }
}
