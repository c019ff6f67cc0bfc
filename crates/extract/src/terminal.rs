//! Text as a terminal shows it: without overstrikes, colours, titles and the addresses of links.

use std::borrow::Cow;

use crate::charset::is_line_end;

/// Applies backspaces and removes escape sequences (ECMA-48, 5.4). Both end with their line. An incomplete sequence is
/// text behind its escape character. Of overstrikes, the last character remains, or the one that is underlined.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(['\x08', '\x1b']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    // Start of the line in `out`.
    let mut start = 0;
    // Characters of the line to the right of the cursor, the nearest one last.
    let mut right: Vec<char> = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\x1b' => rest = behind_sequence(rest),
            '\x08' if out.len() > start => right.extend(out.pop()),
            c if is_line_end(c) => {
                out.extend(right.drain(..).rev());
                out.push(c);
                start = out.len();
            }
            c if c.is_control() && c != '\t' => {}
            c => out.push(overstruck(right.pop(), c)),
        }
    }
    out.extend(right.drain(..).rev());
    Cow::Owned(out)
}

/// Returns what is seen of a character written over another one.
fn overstruck(under: Option<char>, c: char) -> char {
    under.filter(|under| c == '_' && !under.is_whitespace()).unwrap_or(c)
}

/// Returns the text behind an escape sequence. `rest` follows its escape character, and is returned as it is if the
/// sequence is incomplete or unknown.
fn behind_sequence(rest: &str) -> &str {
    let behind = if let Some(control) = rest.strip_prefix('[') {
        let parameters = |c: char| matches!(c, '0'..='?');
        let intermediates = |c: char| matches!(c, ' '..='/');
        let last = control.trim_start_matches(parameters).trim_start_matches(intermediates);
        last.strip_prefix(|c: char| matches!(c, '@'..='~'))
    } else if let Some(command) = rest.strip_prefix(']') {
        // A title or the address of a link. The search ends at the next sequence, so that all searches are linear.
        let end = command.find(|c: char| matches!(c, '\x07' | '\x1b') || is_line_end(c));
        let end = end.map_or("", |end| &command[end..]);
        end.strip_prefix('\x07').or_else(|| end.strip_prefix("\x1b\\"))
    } else {
        // The character set.
        rest.strip_prefix(['(', ')']).and_then(|set| set.strip_prefix(|c: char| matches!(c, '0'..='~')))
    };
    behind.unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backspaces_are_applied() {
        for (text, expected) in [
            ("N\x08NA\x08AM\x08ME\x08E", "NAME"),
            ("_\x08f_\x08i, f\x08_i\x08_, _\x08N\x08N", "fi, fi, N"),
            ("____\x08\x08\x08\x08name name\x08\x08\x08\x08____", "name name"),
            ("fooo\x08 \x08bar", "foobar"),
            ("é\x08é\x08é", "é"),
            ("a\r\n\x08\x08b\u{2028}\x08c", "a\r\nb\u{2028}c"),
            ("abc\x08\x08\nd\x08", "abc\nd"),
            ("a\x07\x08b", "b"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn escape_sequences_are_removed() {
        for (text, expected) in [
            ("\x1b[32mOK\x1b[0m \x1b[1;38:5:4 qx\x1b[K", "OK x"),
            ("\x1b]0;title\x07a \x1b]8;;http://x.y\x1b\\b\x1b]8;;\x1b\\", "a b"),
            ("\x1b(Ba\x1b)0", "a"),
            ("\x1b[1mN\x1b[0m\x08\x1b[1mN", "N"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn incomplete_sequences_are_text() {
        for (text, expected) in [
            ("a\x1b", "a"),
            ("a\x1b[32", "a[32"),
            ("\x1b[1\nx", "[1\nx"),
            ("\x1b[é", "[é"),
            ("\x1b]", "]"),
            ("\x1b]0;a\nb\x07", "]0;a\nb"),
            ("\x1b]0;a\x1b[1mb", "]0;ab"),
            ("\x1b(", "("),
            ("\x1bMa \x1b$B", "Ma $B"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn hostile_text_stays_linear() {
        for unit in ["\x1b]a", "\x1b[0", "\x1b[\x1b", "a\x08", "\x08", "\x1b(", "\x1b]\x1b\\"] {
            assert!(shown(&unit.repeat(300_000)).len() <= 900_000, "{unit:?}");
        }
        let ends = format!("{}{}", "é".repeat(300_000), "\x08".repeat(600_000));
        assert_eq!(shown(&ends).len(), 600_000);
        assert!(matches!(shown("plain\r\n"), Cow::Borrowed("plain\r\n")));
    }
}
