//! Kind of a fetched page: by its `Content-Type`, else by its content, else by the extension of its path.

mod sniff;

use file_types::{ContentType, FileKind, is_plain_text};
use url::Url;

pub(crate) use sniff::sniff;

/// Meaning of a response's `Content-Type`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Declared {
    Kind(FileKind),
    /// The header is missing or says no more than "bytes"; the content determines the kind.
    Unknown,
    /// Media type that is not supported.
    Unsupported(String),
}

impl Declared {
    /// Interprets the header. `extension` is that of the URL's path; it names the kind of text where the type says no more
    /// than "text".
    pub fn read(header: Option<&ContentType>, extension: Option<&str>) -> Self {
        let media_type = header.map(|header| header.media_type.as_str()).unwrap_or_default();
        let named = extension.and_then(kind_of_extension);
        let kind = match media_type {
            ""
            | "application/octet-stream"
            | "binary/octet-stream"
            | "application/binary"
            | "application/unknown"
            | "application/force-download"
            | "application/download"
            | "application/x-download"
            | "unknown/unknown"
            | "*/*" => return Declared::Unknown,
            "application/xhtml+xml" => FileKind::Html,
            other => match (FileKind::from_media_type(other), named) {
                (Some(FileKind::Txt), Some(named)) if is_text(named) => named,
                // Windows registers CSV as this type, so uploads from there carry it; the name is right.
                (Some(FileKind::Xls), Some(named @ (FileKind::Csv | FileKind::Tsv))) => named,
                (Some(kind), _) => kind,
                (None, _) if is_plain_text(other) => FileKind::Txt,
                (None, _) => return Declared::Unsupported(media_type.to_owned()),
            },
        };
        Declared::Kind(kind)
    }
}

/// Returns the extension of the last segment of a URL's path, in lowercase.
pub(crate) fn extension_of(url: &Url) -> Option<String> {
    let (stem, extension) = url.path().rsplit('/').next()?.rsplit_once('.')?;
    (!stem.is_empty()).then(|| extension.to_ascii_lowercase())
}

/// Returns the kind of a lowercase extension: those of files, and others that occur on the web.
fn kind_of_extension(extension: &str) -> Option<FileKind> {
    match extension {
        "xhtml" | "xht" => Some(FileKind::Html),
        "markdown" => Some(FileKind::Md),
        "text" | "json" | "xml" => Some(FileKind::Txt),
        _ => FileKind::from_extension(extension),
    }
}

/// Returns `true` for kinds of text that only their name or type distinguishes.
fn is_text(kind: FileKind) -> bool {
    matches!(kind, FileKind::Txt | FileKind::Md | FileKind::Csv | FileKind::Tsv)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content_type: &str, extension: &str) -> Declared {
        Declared::read(Some(&ContentType::parse(content_type)), Some(extension))
    }

    #[test]
    fn supported_types_have_a_kind() {
        for (content_type, extension, kind) in [
            ("text/html", "", FileKind::Html),
            ("TEXT/HTML;charset=utf-8", "pdf", FileKind::Html),
            ("text/html, text/html", "", FileKind::Html),
            (" application/xhtml+xml ; x", "", FileKind::Html),
            ("text/plain", "", FileKind::Txt),
            ("text/plain", "md", FileKind::Md),
            ("text/plain", "csv", FileKind::Csv),
            ("text/plain", "json", FileKind::Txt),
            ("text/plain", "html", FileKind::Txt),
            ("text/plain", "pdf", FileKind::Txt),
            ("application/vnd.ms-excel", "csv", FileKind::Csv),
            ("application/vnd.ms-excel", "xls", FileKind::Xls),
            ("application/ld+json", "", FileKind::Txt),
            ("application/rss+xml", "", FileKind::Txt),
            ("application/vnd.oasis.opendocument.text", "", FileKind::Odt),
        ] {
            assert_eq!(read(content_type, extension), Declared::Kind(kind), "{content_type}");
        }
    }

    #[test]
    fn unspecific_types_leave_the_decision_to_the_content() {
        assert_eq!(Declared::read(None, Some("html")), Declared::Unknown);
        for content_type in ["", "application/octet-stream", "html", "text/", "a b/c", "text/html/x", ";charset=utf-8"]
        {
            assert_eq!(read(content_type, "html"), Declared::Unknown, "{content_type}");
        }
    }

    #[test]
    fn other_types_are_unsupported() {
        for content_type in ["image/png", "image/svg+xml", "video/mp4", "application/zip", "text/css", "font/woff2"] {
            assert_eq!(read(content_type, "html"), Declared::Unsupported(content_type.to_owned()));
        }
    }

    #[test]
    fn extension_comes_from_the_path() {
        for (url, expected) in [
            ("https://example.com/a.b/c.PDF?x=y.md", Some("pdf")),
            ("https://example.com/a.b/c", None),
            ("https://example.com/.htaccess", None),
            ("https://example.com/", None),
        ] {
            let url = Url::parse(url).expect("a URL");
            assert_eq!(extension_of(&url).as_deref(), expected, "{url}");
        }
    }
}
