//! `Content-Type` (RFC 9110, 8.3).

use url::Url;

use super::MediaKind;

/// Document type declared by the response headers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Declared {
    Kind(MediaKind),
    /// No type, or only a generic one such as "bytes": the content decides.
    Unknown,
    /// Unsupported type, kept for the error message.
    Other(String),
}

/// Longest encoding name that is reported.
const MAX_CHARSET: usize = 40;

impl Declared {
    /// Parses a `Content-Type` value. `extension` comes from the URL path and refines a generic text type.
    pub fn read(content_type: Option<&str>, extension: Option<&str>) -> Self {
        let essence = essence(content_type.unwrap_or_default());
        let named = extension.and_then(MediaKind::from_extension);
        let kind = match essence.as_str() {
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
            "text/html" => MediaKind::Html,
            "application/xhtml+xml" => MediaKind::Xhtml,
            "text/plain" => named.filter(|kind| kind.is_text()).unwrap_or(MediaKind::PlainText),
            "text/markdown" | "text/x-markdown" => MediaKind::Markdown,
            "application/pdf" | "application/x-pdf" => MediaKind::Pdf,
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => MediaKind::Docx,
            "application/vnd.openxmlformats-officedocument.presentationml.presentation" => MediaKind::Pptx,
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => MediaKind::Xlsx,
            "application/msword" => MediaKind::Doc,
            "application/vnd.ms-powerpoint" | "application/mspowerpoint" => MediaKind::Ppt,
            // Windows browsers upload CSV files with this type; the extension decides.
            "application/vnd.ms-excel" | "application/msexcel" => match named {
                Some(kind @ (MediaKind::Csv | MediaKind::Tsv)) => kind,
                _ => MediaKind::Xls,
            },
            "application/rtf" | "text/rtf" | "application/x-rtf" | "text/richtext" => MediaKind::Rtf,
            "application/vnd.oasis.opendocument.text" => MediaKind::Odt,
            "application/vnd.oasis.opendocument.presentation" => MediaKind::Odp,
            "application/vnd.oasis.opendocument.spreadsheet" => MediaKind::Ods,
            "text/csv" | "application/csv" | "text/x-csv" | "text/comma-separated-values" => MediaKind::Csv,
            "text/tab-separated-values" | "text/tsv" => MediaKind::Tsv,
            "application/json" | "text/json" => MediaKind::Json,
            "application/xml" | "text/xml" => MediaKind::Xml,
            // Structured suffixes (RFC 6839): feeds, JSON-LD, problem details. Images such as SVG are not text.
            other if !other.starts_with("image/") && other.ends_with("+json") => MediaKind::Json,
            other if !other.starts_with("image/") && other.ends_with("+xml") => MediaKind::Xml,
            _ => return Declared::Other(essence),
        };
        Declared::Kind(kind)
    }
}

/// Returns the `charset` parameter in lowercase. The encoding is not validated.
pub(crate) fn charset(content_type: &str) -> Option<String> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']).trim();
        let is_label = !value.is_empty()
            && value.len() <= MAX_CHARSET
            && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_:.+".contains(&byte));
        (name.trim().eq_ignore_ascii_case("charset") && is_label).then(|| value.to_ascii_lowercase())
    })
}

/// Returns the lowercase extension of the last segment of a URL path.
pub(crate) fn extension_of(url: &Url) -> Option<String> {
    let (stem, extension) = url.path().rsplit('/').next()?.rsplit_once('.')?;
    (!stem.is_empty()).then(|| extension.to_ascii_lowercase())
}

/// Returns `type/subtype` in lowercase, or an empty string if malformed. Of several values joined by a proxy the first
/// counts.
fn essence(content_type: &str) -> String {
    let essence = content_type.split([';', ',']).next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_type = essence.len() <= 127
        && essence.split('/').count() == 2
        && essence.split('/').all(|part| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-*".contains(&byte))
        });
    if is_type { essence } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content_type: &str, extension: &str) -> Declared {
        Declared::read(Some(content_type), Some(extension))
    }

    #[test]
    fn supported_types_map_to_a_kind() {
        for (content_type, extension, kind) in [
            ("text/html", "", MediaKind::Html),
            ("TEXT/HTML;charset=utf-8", "pdf", MediaKind::Html),
            ("text/html, text/html", "", MediaKind::Html),
            (" application/xhtml+xml ; x", "", MediaKind::Xhtml),
            ("text/plain", "", MediaKind::PlainText),
            ("text/plain", "md", MediaKind::Markdown),
            ("text/plain", "csv", MediaKind::Csv),
            ("text/plain", "html", MediaKind::PlainText),
            ("text/plain", "pdf", MediaKind::PlainText),
            ("application/vnd.ms-excel", "csv", MediaKind::Csv),
            ("application/vnd.ms-excel", "xls", MediaKind::Xls),
            ("application/ld+json", "", MediaKind::Json),
            ("application/rss+xml", "", MediaKind::Xml),
            ("application/vnd.oasis.opendocument.text", "", MediaKind::Odt),
        ] {
            assert_eq!(read(content_type, extension), Declared::Kind(kind), "{content_type}");
        }
    }

    #[test]
    fn missing_generic_and_malformed_types_are_unknown() {
        assert_eq!(Declared::read(None, Some("html")), Declared::Unknown);
        for content_type in ["", "application/octet-stream", "html", "text/", "a b/c", "text/html/x", ";charset=utf-8"]
        {
            assert_eq!(read(content_type, "html"), Declared::Unknown, "{content_type}");
        }
    }

    #[test]
    fn unsupported_types_are_other() {
        for content_type in ["image/png", "image/svg+xml", "video/mp4", "application/zip", "text/css", "font/woff2"] {
            assert_eq!(read(content_type, "html"), Declared::Other(content_type.to_owned()));
        }
    }

    #[test]
    fn charset_is_parsed_in_every_spelling() {
        for (content_type, expected) in [
            ("text/html; charset=UTF-8", Some("utf-8")),
            ("text/html;CHARSET = \"Shift_JIS\" ", Some("shift_jis")),
            ("text/html; boundary=x; charset='koi8-r'", Some("koi8-r")),
            ("text/html; charset=", None),
            ("text/html; charset=a b", None),
            ("text/html; xcharset=utf-8", None),
            ("charset=utf-8", None),
        ] {
            assert_eq!(charset(content_type).as_deref(), expected, "{content_type}");
        }
    }

    #[test]
    fn extension_comes_from_the_path_only() {
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
