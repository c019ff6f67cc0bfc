//! One line per event: text from documents and requests cannot start a line of its own.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use model::is_bidi_control;

/// Writer of text events to standard error. Each call of `write_all` is one event.
pub struct OneLine {
    /// Lets the colour sequences of the formatter pass.
    pub colours: bool,
}

impl Write for OneLine {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        io::stderr().write_all(one_line(&String::from_utf8_lossy(event), self.colours).as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Escapes control characters and separators, except the line break at the end.
fn one_line(event: &str, colours: bool) -> Cow<'_, str> {
    let (body, end) = match event.strip_suffix('\n') {
        Some(body) => (body, "\n"),
        None => (event, ""),
    };
    // As most events are.
    if body.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
        return Cow::Borrowed(event);
    }
    let mut line = String::with_capacity(event.len());
    let mut rest = body.chars();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' && colours && is_colour(rest.as_str()) {
            line.push(c);
        } else {
            push_visible(&mut line, c);
        }
    }
    line.push_str(end);
    Cow::Owned(line)
}

/// Appends a character, or its escape if it would move the cursor or reorder the text.
pub fn push_visible(line: &mut String, c: char) {
    // Line and paragraph separators are no control characters.
    if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || is_bidi_control(c) {
        let _ = write!(line, "{}", c.escape_default());
    } else {
        line.push(c);
    }
}

/// Returns true if a colour sequence follows the escape character: `[`, digits and semicolons, `m`.
fn is_colour(rest: &str) -> bool {
    let Some(parameters) = rest.strip_prefix('[') else { return false };
    parameters.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn text_of_a_document_stays_on_its_line() {
        let forged = "INFO read title=a\n2026-11-22T00:00:00Z ERROR all is lost\r\x1b[2Jx\u{202e}y\u{2028}z\n";
        let line = one_line(forged, false);
        assert_eq!(line.matches('\n').count(), 1);
        assert!(line.ends_with("\n") && !line.contains(['\r', '\x1b', '\u{202e}', '\u{2028}']), "{line}");
        assert_eq!(one_line("x\u{61c}y\n", false), "x\\u{61c}y\n");
        assert_eq!(one_line("plain äöü 漢字\n", false), "plain äöü 漢字\n");
    }

    #[test]
    fn only_colours_pass_to_a_terminal() {
        assert_eq!(one_line("\x1b[2mtime\x1b[0m\n", true), "\x1b[2mtime\x1b[0m\n");
        assert_eq!(one_line("\x1b[2mtime\x1b[0m", false), "\\u{1b}[2mtime\\u{1b}[0m");
        assert_eq!(one_line("\x1b]0;title\x07", true), "\\u{1b}]0;title\\u{7}");
        assert_eq!(one_line("\x1b[2J", true), "\\u{1b}[2J");
    }
}
