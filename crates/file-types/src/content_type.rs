use mime::Mime;

/// Maximum length of a charset label worth passing on.
const MAX_CHARSET: usize = 40;
/// Maximum length of a media type; those registered are shorter than 80 bytes.
const MAX_MEDIA_TYPE: usize = 127;

/// Parsed `Content-Type` header (RFC 9110, 8.3).
///
/// Type and parameters are read apart, because servers send malformed parameters behind valid types.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ContentType {
    /// `type/subtype` in lowercase; empty if the header is malformed. If a proxy joined several values, the first counts.
    pub media_type: String,
    /// Label of the `charset` parameter in lowercase. It need not name an existing charset.
    pub charset: Option<String>,
}

impl ContentType {
    /// Parses a header value. Malformed parts are treated as absent.
    pub fn parse(header: &str) -> Self {
        Self { media_type: media_type(header).unwrap_or_default(), charset: charset(header) }
    }
}

fn media_type(header: &str) -> Option<String> {
    let text = header.split([';', ',']).next().unwrap_or_default().trim();
    let parsed: Mime = text.parse().ok().filter(|_| text.len() <= MAX_MEDIA_TYPE)?;
    // `mime` accepts `text/` without a subtype.
    (!parsed.subtype().as_str().is_empty()).then(|| parsed.essence_str().to_ascii_lowercase())
}

fn charset(header: &str) -> Option<String> {
    header.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']).trim();
        let is_label = !value.is_empty()
            && value.len() <= MAX_CHARSET
            && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_:.+".contains(&byte));
        (name.trim().eq_ignore_ascii_case("charset") && is_label).then(|| value.to_ascii_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_type_is_lowercase_without_parameters() {
        for (header, expected) in [
            ("text/html", "text/html"),
            ("TEXT/HTML;charset=utf-8", "text/html"),
            ("text/html, text/html", "text/html"),
            (" application/xhtml+xml ; x", "application/xhtml+xml"),
            ("*/*", "*/*"),
        ] {
            assert_eq!(ContentType::parse(header).media_type, expected, "{header}");
        }
    }

    #[test]
    fn malformed_media_types_are_empty() {
        for header in ["", "html", "text/", "/html", "a b/c", "text/html/x", ";charset=utf-8", "tëxt/html"] {
            assert_eq!(ContentType::parse(header).media_type, "", "{header}");
        }
        assert_eq!(ContentType::parse(&format!("text/{}", "x".repeat(200))).media_type, "");
    }

    #[test]
    fn charset_is_found_in_every_spelling() {
        for (header, expected) in [
            ("text/html; charset=UTF-8", Some("utf-8")),
            ("text/html;CHARSET = \"Shift_JIS\" ", Some("shift_jis")),
            ("text/html; boundary=x; charset='koi8-r'", Some("koi8-r")),
            ("text/plain; format=flowed; Charset='utf-8'", Some("utf-8")),
            ("text/html; charset=", None),
            ("text/html; charset=a b", None),
            ("text/html; xcharset=utf-8", None),
            ("charset=utf-8", None),
        ] {
            assert_eq!(ContentType::parse(header).charset.as_deref(), expected, "{header}");
        }
    }
}
