//! Encoding of a page: byte order mark, declarations of the server and the page, or a guess.

use encoding_rs::Encoding;

use crate::charset;

/// Number of bytes searched for a declaration. HTML, 13.2.3.2 allows the first 1024; many pages need more.
const HEAD: usize = 4096;

/// Decodes a page; `header` is the charset of its `Content-Type`, which precedes declarations in the page (HTML,
/// 13.2.3.1). Returns `None` for binary data.
pub fn decode(bytes: &[u8], header: Option<&str>) -> Option<String> {
    let mut declared = charset::from_label(header);
    declared.extend(declared_in_page(bytes));
    charset::decode(bytes, &declared)
}

/// Returns the encoding declared by `<meta charset>`, `<meta http-equiv=content-type>` or an XML declaration.
fn declared_in_page(bytes: &[u8]) -> Vec<&'static Encoding> {
    let head = &bytes[..bytes.len().min(HEAD)];
    let head: String = head.iter().map(|byte| byte.to_ascii_lowercase() as char).collect();
    let mut rest = head.as_str();
    if let Some((declaration, _)) = rest.strip_prefix("<?xml").and_then(|xml| xml.split_once('>')) {
        let found = charset::from_label(attribute_value(declaration, "encoding"));
        if !found.is_empty() {
            return found;
        }
    }
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end..]);
        } else if let Some(meta) = rest.strip_prefix("meta") {
            let meta = meta.split_once('>').map_or(meta, |(attributes, _)| attributes);
            let found = charset::from_label(attribute_value(meta, "charset"));
            if !found.is_empty() {
                return found;
            }
        }
    }
    Vec::new()
}

/// Returns the value of attribute `name`.
fn attribute_value<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    attributes.match_indices(name).find_map(|(at, _)| {
        let value = attributes[at + name.len()..].trim_start().strip_prefix('=')?;
        let value = value.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\''));
        value.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '/')).next()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_comes_from_header_then_page_then_guess() {
        for (header, page, expected) in [
            (
                None,
                &b"<html><head><meta http-equiv='Content-Type' content='text/html; charset=windows-1251'></head>\xcf\xf0\xe8</html>"[..],
                "При",
            ),
            (None, b"<meta charset = \"shift_jis\">\x93\xfa\x96\x7b", "日本"),
            (None, b"<?xml version='1.0' encoding='windows-1251'?><p>\xcf\xf0\xe8", "При"),
            (None, "<meta charset=latin1>déjà".as_bytes(), "déjà"),
            (Some("windows-1251"), b"<meta charset=windows-1252>\xcf\xf0\xe8", "При"),
            (Some("utf-8"), b"<meta charset=windows-1251>\xcf\xf0\xe8", "При"),
            (Some("bogus"), b"<meta charset=windows-1251>\xcf\xf0\xe8", "При"),
            (None, b"<!-- <meta charset=koi8-r> --><script charset=big5></script><meta charset=windows-1251>\xcf\xf0\xe8", "При"),
            (Some("iso-8859-1"), b"\xef\xbb\xbf<p>d\xc3\xa9j\xc3\xa0", "déjà"),
        ] {
            let text = decode(page, header).expect("text");
            assert!(text.contains(expected), "{header:?} {text}");
        }
    }
}
