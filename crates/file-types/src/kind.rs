use serde::{Deserialize, Serialize};

/// Supported type of document, determined by the file name or a media type and checked against the content.
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

/// Names of a kind, lowercase. The first of each list is the canonical one.
struct Names {
    /// Without the dot.
    extensions: &'static [&'static str],
    /// The media type registered with IANA, then others that servers send.
    media_types: &'static [&'static str],
}

const fn names(extensions: &'static [&'static str], media_types: &'static [&'static str]) -> Names {
    Names { extensions, media_types }
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

    const fn names(self) -> Names {
        match self {
            FileKind::Pdf => names(&["pdf"], &["application/pdf", "application/x-pdf"]),
            FileKind::Html => names(&["html", "htm"], &["text/html"]),
            FileKind::Txt => names(&["txt"], &["text/plain"]),
            FileKind::Md => names(&["md"], &["text/markdown", "text/x-markdown"]),
            FileKind::Docx => {
                names(&["docx"], &["application/vnd.openxmlformats-officedocument.wordprocessingml.document"])
            }
            FileKind::Pptx => {
                names(&["pptx"], &["application/vnd.openxmlformats-officedocument.presentationml.presentation"])
            }
            FileKind::Xlsx => names(&["xlsx"], &["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"]),
            FileKind::Doc => names(&["doc"], &["application/msword"]),
            FileKind::Ppt => names(&["ppt"], &["application/vnd.ms-powerpoint", "application/mspowerpoint"]),
            FileKind::Xls => names(&["xls"], &["application/vnd.ms-excel", "application/msexcel"]),
            FileKind::Rtf => names(&["rtf"], &["application/rtf", "text/rtf", "application/x-rtf", "text/richtext"]),
            FileKind::Odt => names(&["odt"], &["application/vnd.oasis.opendocument.text"]),
            FileKind::Odp => names(&["odp"], &["application/vnd.oasis.opendocument.presentation"]),
            FileKind::Ods => names(&["ods"], &["application/vnd.oasis.opendocument.spreadsheet"]),
            FileKind::Csv => {
                names(&["csv"], &["text/csv", "application/csv", "text/x-csv", "text/comma-separated-values"])
            }
            FileKind::Tsv => names(&["tsv"], &["text/tab-separated-values", "text/tsv"]),
        }
    }

    /// Returns the kind of a file by the last extension of its name, in any case. A name without a stem has none.
    pub fn from_name(name: &str) -> Option<FileKind> {
        let (stem, extension) = name.rsplit_once('.')?;
        if stem.is_empty() { None } else { FileKind::from_extension(extension) }
    }

    /// Returns the kind of an extension without its dot, in any case.
    pub fn from_extension(extension: &str) -> Option<FileKind> {
        let matches = |known: &&str| extension.eq_ignore_ascii_case(known);
        FileKind::ALL.into_iter().find(|kind| kind.names().extensions.iter().any(matches))
    }

    /// Returns the kind of a lowercase media type without parameters.
    pub fn from_media_type(media_type: &str) -> Option<FileKind> {
        FileKind::ALL.into_iter().find(|kind| kind.names().media_types.contains(&media_type))
    }

    /// Returns the canonical extension, lowercase and without its dot. It is also the `kind:` label of a document.
    pub fn as_str(self) -> &'static str {
        self.names().extensions[0]
    }

    /// Returns the media type registered with IANA, without parameters.
    pub fn media_type(self) -> &'static str {
        self.names().media_types[0]
    }

    /// Returns every supported extension, in the order of [`FileKind::ALL`].
    pub fn supported_extensions() -> Vec<&'static str> {
        FileKind::ALL.into_iter().flat_map(|kind| kind.names().extensions).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_extension_in_any_case_determines_the_kind() {
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
    fn canonical_names_lead_back_to_their_kind() {
        for kind in FileKind::ALL {
            assert_eq!(FileKind::from_name(&format!("a.{}", kind.as_str())), Some(kind));
            assert_eq!(FileKind::from_media_type(kind.media_type()), Some(kind));
        }
    }

    #[test]
    fn no_name_belongs_to_two_kinds() {
        let mut extensions = FileKind::supported_extensions();
        let mut media_types: Vec<_> = FileKind::ALL.iter().flat_map(|kind| kind.names().media_types).collect();
        let counts = (extensions.len(), media_types.len());
        extensions.sort_unstable();
        extensions.dedup();
        media_types.sort_unstable();
        media_types.dedup();
        assert_eq!((extensions.len(), media_types.len()), counts);
    }

    #[test]
    fn supported_extensions_include_aliases() {
        assert_eq!(
            FileKind::supported_extensions().join(", "),
            "pdf, html, htm, txt, md, docx, pptx, xlsx, doc, ppt, xls, rtf, odt, odp, ods, csv, tsv"
        );
    }
}
