//! Display of untrusted text in a report. Citations keep the exact bytes; the report shows them readable and harmless.

use model::is_bidi_control;
use retrieval_core::plain;

use super::super::assignment::Format;

/// Returns a passage as one line: without Markdown marks, control characters and reference marks such as `[12]`.
///
/// In Markdown the rest is escaped so that it adds no heading, list, emphasis, code, link, image or HTML. Bare addresses
/// do not become links either.
pub(crate) fn line(text: &str, format: Format) -> String {
    let plain = plain::from_markdown(text);
    let joined = plain.replace('\t', ", ");
    let readable = without_reference_marks(&visible(&joined));
    let start = readable.trim_start_matches(['-', '•', '*', '–']);
    let readable = if start.starts_with(' ') { start.trim_start() } else { &readable };
    in_format(readable, format)
}

/// Returns a line of plain text, such as [`line`] returns for [`Format::Text`], in the format of the report.
pub(crate) fn plain_line(text: &str, format: Format) -> String {
    in_format(&without_reference_marks(&visible(text)), format)
}

/// Returns a text without control and direction characters. White space is kept.
pub(crate) fn without_hidden(text: &str) -> String {
    text.chars().filter(|c| c.is_whitespace() || !is_hidden(*c)).collect()
}

fn in_format(text: &str, format: Format) -> String {
    match format {
        Format::Markdown => escape(text),
        Format::Text | Format::Structured => text.to_owned(),
    }
}

/// Returns a single-line name, such as a title or a host, at most `max` characters long.
pub(crate) fn name(text: &str, max: usize, format: Format) -> String {
    let readable = without_reference_marks(&visible(retrieval_core::chars::truncate(text, 4 * max)));
    in_format(&truncate(&readable, max), format)
}

/// Returns the beginning of a text, cut between words, with an ellipsis if anything is missing.
pub(crate) fn truncate(text: &str, max: usize) -> String {
    let cut = retrieval_core::chars::truncate(text, max);
    if cut.len() == text.len() {
        return text.to_owned();
    }
    let cut = retrieval_core::chars::truncate(text, max.saturating_sub(1));
    let inside = text[cut.len()..].chars().next().is_some_and(char::is_alphanumeric);
    let end = match cut.rfind(char::is_whitespace) {
        Some(at) if inside => at,
        // Scripts without spaces break anywhere; a single long word does not fit.
        None if inside && cut.is_ascii() => 0,
        _ => cut.len(),
    };
    let kept = cut[..end].trim_end();
    if kept.is_empty() { String::new() } else { format!("{kept}…") }
}

/// Collapses white space and drops control and direction characters.
fn visible(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        let before = line.len();
        if before > 0 {
            line.push(' ');
        }
        let start = line.len();
        line.extend(word.chars().filter(|c| !is_hidden(*c)));
        if line.len() == start {
            line.truncate(before);
        }
    }
    line
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || is_bidi_control(c)
        || matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{feff}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

/// Drops marks such as `[12]`: they name the sources of the page, and would look like ours.
fn without_reference_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_changed = false;
    for c in text.chars() {
        // Removal joins the halves of a nested mark, so that it ends here, too.
        let mark = if c == ']' { open_mark(&out) } else { None };
        match mark {
            Some(start) => {
                out.truncate(start);
                is_changed = true;
            }
            None => out.push(c),
        }
    }
    if is_changed { out.trim().to_owned() } else { out }
}

/// Returns the start of the bracket with nothing but digits behind it at the end of a text.
fn open_mark(text: &str) -> Option<usize> {
    let before = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let bracket = before.strip_suffix('[')?;
    (before.len() < text.len()).then_some(bracket.len())
}

/// Escapes everything that Markdown would interpret in a line.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let characters: Vec<char> = text.chars().collect();
    let start_mark = start_mark(&characters);
    let tildes = characters.iter().filter(|c| **c == '~').count();
    for (at, c) in characters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| characters[at]);
        let after = characters.get(at + 1).copied();
        let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let escaped = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' => true,
            '_' => !(word(before) && word(after)),
            '~' => tildes > 1,
            '&' => word(after) || after == Some('#'),
            // Bare addresses become links in many renderers.
            '/' => before == Some(':') && after == Some('/'),
            '@' => word(after),
            '.' => at >= 3 && characters[at - 3..at].iter().all(|c| c.eq_ignore_ascii_case(&'w')),
            _ => false,
        };
        if escaped || start_mark == Some(at) {
            out.push('\\');
        }
        out.push(*c);
    }
    out
}

/// Position of the character that makes the line a heading, quote, list, rule or underline.
fn start_mark(characters: &[char]) -> Option<usize> {
    let first = *characters.first()?;
    if matches!(first, '#' | '>' | '-' | '+' | '=' | '|' | ':' | '!') {
        return Some(0);
    }
    let digits = characters.iter().take_while(|c| c.is_ascii_digit()).count();
    // An address or a decimal number is no list.
    let ends = characters.get(digits + 1).is_none_or(|c| c.is_whitespace());
    (digits > 0 && ends && matches!(characters.get(digits), Some('.' | ')'))).then_some(digits)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn marks_of_a_page_are_harmless_in_markdown() {
        for (text, expected) in [
            ("# Heading", "Heading"),
            ("![logo](https://evil.example/x.png) text", "text"),
            ("See [here](https://evil.example) now", "See here now"),
            ("a <img src=x onerror=alert(1)> b", "a b"),
            ("\\# not a heading", "\\# not a heading"),
            ("Visit https://evil.example now", "Visit https:\\//evil.example now"),
            ("www.evil.example", "www\\.evil.example"),
            ("snake_case and _this_", "snake_case and this"),
            ("Known since 1999.[12][3] More [4].", "Known since 1999. More ."),
            ("| a | b |", "a, b"),
            ("2024. A year", "2024\\. A year"),
            ("127.0.0.1 and 3.5) too", "127.0.0.1 and 3.5) too"),
            ("7)", "7\\)"),
            ("a\u{202e}b\u{0}c", "abc"),
            ("\u{61c}a\u{200f}b\u{2065}\u{200b}c\u{2066}\u{61c}", "abc"),
            ("[[1]2] [a]", "\\[a\\]"),
        ] {
            assert_eq!(line(text, Format::Markdown), expected, "{text}");
        }
    }

    #[test]
    fn nested_reference_marks_stay_linear() {
        for (text, expected) in
            [("[1[2[]3]] [4] ", "[1[2[]3]]"), ("[[1][2]3]4", "4"), (" [] ", " [] "), ("1]2] [3[4]]", "1]2]")]
        {
            assert_eq!(without_reference_marks(text), expected, "{text}");
        }
        let depth = 60_000;
        let started = Instant::now();
        assert_eq!(without_reference_marks(&format!("{}{}", "[1".repeat(depth), "]".repeat(depth))), "");
        assert_eq!(without_reference_marks(&format!("{}{}", "[".repeat(depth), "1]".repeat(depth))), "");
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    }

    #[test]
    fn text_is_cut_between_words() {
        assert_eq!(truncate("one two three", 9), "one two…");
        assert_eq!(truncate("one two", 7), "one two");
        assert_eq!(truncate("unbroken", 4), "");
        assert_eq!(truncate("漢字漢字", 3), "漢字…");
    }
}
