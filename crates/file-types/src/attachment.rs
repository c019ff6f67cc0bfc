//! Headers of downloads.

use std::fmt::Write;

use crate::FileKind;

/// Maximum length of the stated name in characters, which bounds signed URLs.
const MAX_CHARS: usize = 150;

/// Returns the `Content-Disposition` header (RFC 6266) that stores a download under this name, truncated if it is long.
pub fn attachment(name: &str) -> String {
    let name = truncated(name);
    let plain = |c: char| if c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '%') || c == ' ' { c } else { '_' };
    let fallback: String = name.chars().map(plain).collect();
    format!("attachment; filename=\"{fallback}\"; filename*=UTF-8''{}", extended(&name))
}

/// Percent-encodes a value of an extended parameter (RFC 8187, 3.2.1).
fn extended(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Returns the `Content-Type` header of a download. A browser runs no content of this type.
pub fn download_type(name: &str) -> &'static str {
    match FileKind::from_name(name) {
        Some(kind) if kind.media_type() != "text/html" => kind.media_type(),
        _ => "application/octet-stream",
    }
}

fn truncated(name: &str) -> String {
    if name.chars().count() <= MAX_CHARS {
        return name.to_owned();
    }
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let stem: String = stem.chars().take(MAX_CHARS).collect();
    format!("{stem}.{extension}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_and_encoded() {
        assert_eq!(attachment("a b.pdf"), "attachment; filename=\"a b.pdf\"; filename*=UTF-8''a%20b.pdf");
        assert_eq!(
            attachment("\u{e9}\"\\%\r\n.txt"),
            "attachment; filename=\"______.txt\"; filename*=UTF-8''%C3%A9%22%5C%25%0D%0A.txt"
        );
        let long = attachment(&format!("{}.docx", "😀".repeat(500)));
        assert!(long.len() < 2_200 && long.ends_with(".docx"), "{long}");
    }

    #[test]
    fn no_type_runs_in_a_browser() {
        assert_eq!(download_type("a.pdf"), "application/pdf");
        for name in ["a.html", "a.HTM", "a.svg", "a"] {
            assert_eq!(download_type(name), "application/octet-stream", "{name}");
        }
    }
}
