//! Cost of a page's attributes. Parsers compare each attribute of a tag with all before it.

/// Maximum number of comparisons per page: a tag of 3,000 attributes.
const MAX_COMPARISONS: usize = 5_000_000;
/// Maximum number of bytes examined, in multiples of the page.
const MAX_PASSES: usize = 16;

/// Returns false if the attributes of the page would take long to parse.
///
/// A tag may begin at any `<`, even inside of another tag, a script or a comment: only a parser knows which of them are
/// text, and a page must not mislead this check.
pub(super) fn are_cheap(source: &str) -> bool {
    let bytes = source.as_bytes();
    let (mut comparisons, mut examined) = (0usize, 0usize);
    for (at, pair) in bytes.windows(2).enumerate() {
        if pair[0] == b'<' && (pair[1].is_ascii_alphabetic() || pair[1] == b'/') {
            let (attributes, length) = tag(&bytes[at + 1..]);
            comparisons = comparisons.saturating_add(attributes.saturating_mul(attributes) / 2);
            examined += length;
            if comparisons > MAX_COMPARISONS || examined > bytes.len().saturating_mul(MAX_PASSES) {
                return false;
            }
        }
    }
    true
}

/// Returns the number of a tag's attributes and its length (HTML, 13.2.5.32 to 13.2.5.39).
fn tag(bytes: &[u8]) -> (usize, usize) {
    let mut count = 0;
    let mut state = State::Name;
    for (offset, &byte) in bytes.iter().enumerate() {
        let space = byte.is_ascii_whitespace();
        state = match state {
            State::Quoted(quote) if byte == quote => State::Between,
            State::Quoted(quote) => State::Quoted(quote),
            _ if byte == b'>' => return (count, offset),
            State::Value if space => State::Value,
            State::Value if matches!(byte, b'"' | b'\'') => State::Quoted(byte),
            State::Value => State::Unquoted,
            State::Unquoted if space => State::Between,
            State::Unquoted => State::Unquoted,
            State::Name if space || (byte == b'/' && offset > 0) => State::Between,
            State::Name => State::Name,
            State::Attribute if byte == b'=' => State::Value,
            State::Attribute if byte == b'/' => State::Between,
            State::Attribute if space => State::Behind,
            State::Attribute => State::Attribute,
            State::Behind if byte == b'=' => State::Value,
            State::Behind if space => State::Behind,
            State::Between | State::Behind if space || byte == b'/' => State::Between,
            State::Between | State::Behind => {
                count += 1;
                State::Attribute
            }
        };
    }
    (count, bytes.len())
}

/// Position in a tag.
#[derive(Clone, Copy)]
enum State {
    /// Name of the tag.
    Name,
    /// White space before an attribute.
    Between,
    /// Name of an attribute.
    Attribute,
    /// White space behind such a name.
    Behind,
    /// Start of a value.
    Value,
    Unquoted,
    Quoted(u8),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_counted() {
        for (markup, count) in [
            ("p>", 0),
            ("br/>", 0),
            ("p a=1 b='2 c=3' d = \"x > y\" e>f g", 4),
            ("p =\">", 1),
            ("p a==\"> b", 1),
            ("p a=1/2 b/c>", 3),
            ("p a b", 2),
            ("/p a>", 1),
        ] {
            assert_eq!(tag(markup.as_bytes()).0, count, "{markup}");
        }
    }

    #[test]
    fn many_attributes_are_expensive_wherever_they_seem_to_be() {
        let many: String = (0..4_000).map(|n| format!(" a{n}")).collect();
        for start in ["<p", "<title><script></title><p", "<p =\"><p", "<title><a b=\"</title><p", "<!-- --!><p"] {
            assert!(!are_cheap(&format!("{start}{many}>")), "{start}");
        }
        assert!(!are_cheap(&"<a\"".repeat(100_000)), "one endless name");
        assert!(are_cheap(&format!("<p title='{}'>", "word ".repeat(100_000))));
        assert!(are_cheap(&"<p a b c d>text ".repeat(10_000)));
    }
}
