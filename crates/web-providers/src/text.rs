//! Plain text of what providers send.

use model::is_bidi_control;
use retrieval_core::chars;

/// Inline elements with which providers mark matches. Others may be text, such as `Vec<String>`.
const ELEMENTS: [&str; 11] = ["a", "b", "br", "code", "em", "i", "mark", "p", "span", "strong", "wbr"];

/// Characters read of a text, relative to those that are kept.
const READ: usize = 4;
/// Maximum length of a tag in bytes.
const MAX_TAG: usize = 300;

/// Returns at most `max_chars` characters of a text without markup, control characters and changes of direction, with single
/// spaces.
pub fn clean(text: &str, max_chars: usize) -> String {
    let text = without_tags(chars::truncate(text.trim_start(), READ * max_chars));
    // As in an attribute: many texts are plain already, where `?a=1&copy=2` stands for itself.
    let text = htmlize::unescape_attribute(text);
    // Byte order marks remain in texts that were put together from files.
    let is_space = |c: char| c.is_whitespace() || c.is_control() || is_bidi_control(c) || c == '\u{feff}';
    let words: Vec<&str> = text.split(is_space).filter(|word| !word.is_empty()).collect();
    chars::truncate(&words.join(" "), max_chars).trim_end().to_owned()
}

fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = if is_tag(rest) { rest.bytes().take(MAX_TAG).position(|byte| byte == b'>') } else { None };
        match end {
            Some(end) => rest = &rest[end + 1..],
            None => {
                plain.push('<');
                rest = &rest[1..];
            }
        }
    }
    plain.push_str(rest);
    plain
}

fn is_tag(text: &str) -> bool {
    let name = text[1..].trim_start_matches('/');
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    ELEMENTS.iter().any(|element| name[..end].eq_ignore_ascii_case(element))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_plain() {
        for (text, expected) in [
            ("The <strong>spring</strong> <B>tides</B>", "The spring tides"),
            ("Q&amp;A &quot;now&quot; &#x27;x&#39; &bogus; & co", "Q&A \"now\" 'x' &bogus; & co"),
            ("Caf&eacute;&nbsp;M&uuml;ller &hellip; 5&#8239;&euro; &rarr; &#150;", "Café Müller … 5 € → –"),
            ("example.com/?a=1&copy=2", "example.com/?a=1&copy=2"),
            ("Vec<String> and a < b", "Vec<String> and a < b"),
            ("&lt;script&gt;", "<script>"),
            ("a\u{0}b\r\n\tc\u{1b}[31m", "a b c [31m"),
            ("abc\u{202e}def\u{2066}", "abc def"),
            ("\u{feff}abc\u{61c}def&#x61c;", "abc def"),
            ("<a href=\"javascript:x\">link</a>", "link"),
            ("<b", "<b"),
            ("é&é<é", "é&é<é"),
        ] {
            assert_eq!(clean(text, 100), expected, "{text}");
        }
    }

    #[test]
    fn texts_are_bounded() {
        assert_eq!(clean(&"é ".repeat(1 << 20), 7), "é é é é");
        assert!(clean(&"<b>".repeat(1 << 20), 7).len() <= 7);
        assert_eq!(clean(&"&".repeat(1 << 20), 7), "&&&&&&&");
    }
}
