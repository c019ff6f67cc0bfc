//! Sanitized text for the terminal, measured in columns.

use model::is_bidi_control;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Makes control characters visible, except line breaks and tabs: a page must not move the cursor, change the window
/// title or write to the clipboard. Also replaces characters that change writing direction, which disguise URLs and
/// names.
pub fn sanitize(text: &str) -> String {
    text.replace("\r\n", "\n").chars().map(|c| if matches!(c, '\n' | '\t') { c } else { visible(c) }).collect()
}

/// Escapes control characters in JSON, where they occur only inside strings.
pub fn sanitize_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && visible(c) != c {
            shown.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Sanitizes text and collapses white space to single spaces.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    sanitize(&words.join(" "))
}

fn visible(c: char) -> char {
    match c {
        // The symbols for control characters have the same order.
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        '\u{80}'..='\u{9f}' => '\u{fffd}',
        _ if is_bidi_control(c) => '\u{fffd}',
        _ => c,
    }
}

/// Returns the width in columns: two for wide characters, none for combining ones.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Truncates text to `columns`, with `…` at the end.
pub fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut used = 0;
    for cluster in text.graphemes(true) {
        // Reserves one column for the ellipsis.
        if used + width(cluster) + 1 > columns {
            break;
        }
        used += width(cluster);
        shown.push_str(cluster);
    }
    if columns > 0 {
        shown.push('…');
    }
    shown
}

/// Wraps one line of text at spaces. Breaks inside a word only if the word, or text in a script without spaces, is
/// longer than a line.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let gap = usize::from(!line.is_empty());
        if width(&line) + gap + width(word) <= columns {
            line.extend((gap == 1).then_some(' '));
            line.push_str(word);
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        for cluster in word.graphemes(true) {
            if width(&line) + width(cluster) > columns {
                lines.push(std::mem::take(&mut line));
            }
            line.push_str(cluster);
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_sanitized() {
        let attacks =
            ["\x1b[2J", "\x1b]0;title\x07", "\x1b]52;c;aGk=\x1b\\", "\u{9b}31m", "a\rb", "\x08\x08", "\x7f", "\0"];
        for attack in attacks {
            for shown in [sanitize(attack), one_line(attack)] {
                assert!(!shown.chars().any(char::is_control), "{attack:?}: {shown:?}");
            }
        }
        assert_eq!(sanitize("red \x1b[31m"), "red ␛[31m");
        assert_eq!(sanitize("two\r\nlines\tand a tab\n"), "two\nlines\tand a tab\n");
        assert_eq!(sanitize("invoice\u{202e}fdp.exe"), "invoice\u{fffd}fdp.exe");
        assert_eq!(sanitize("1\u{61c}-2"), "1\u{fffd}-2");
        assert_eq!(one_line("  a\n\n b\u{2028}c  "), "a b c");
    }

    #[test]
    fn sanitized_json_is_equal_json() {
        let json = "{\"title\":\"\u{9b}2J \u{202e} plain ü\"}";
        let shown = sanitize_json(json);
        assert_eq!(sanitize_json("\"1\u{61c}2\""), r#""1\u061c2""#);
        assert!(!shown.contains('\u{9b}') && shown.contains("plain ü"));
        let parse = |text| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(parse(&shown), parse(json));
    }

    #[test]
    fn width_is_measured_in_columns() {
        assert_eq!(width("tide"), 4);
        assert_eq!(width("潮汐"), 4);
        assert_eq!(width("e\u{301}"), 1);
        assert_eq!(width("👩‍🚀"), 2);
    }

    #[test]
    fn text_is_truncated_between_characters() {
        assert_eq!(fit("tides", 5), "tides");
        assert_eq!(fit("tides", 4), "tid…");
        assert_eq!(fit("潮の満ち引き", 6), "潮の…");
        assert_eq!(fit("潮の満ち引き", 7), "潮の満…");
        assert_eq!(fit("cafe\u{301}s and bars", 5), "cafe\u{301}…");
        assert_eq!(fit("tides", 1), "…");
        assert_eq!(fit("tides", 0), "");
    }

    #[test]
    fn lines_break_at_spaces_if_possible() {
        assert_eq!(wrap("the moon pulls the sea", 9), ["the moon", "pulls the", "sea"]);
        assert_eq!(wrap("潮の満ち引き", 5), ["潮の", "満ち", "引き"]);
        assert_eq!(wrap("see https://a.example/b", 8), ["see", "https://", "a.exampl", "e/b"]);
        assert_eq!(wrap("", 9), Vec::<String>::new());
        for columns in 0..30 {
            for line in wrap("the moon 潮の満ち引き pulls 👩‍🚀 the sea", columns) {
                assert!(width(&line) <= columns.max(2), "{columns}: {line}");
            }
        }
    }
}
