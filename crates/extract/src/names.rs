//! Titles from file names and markdown lines.

use crate::blocks;

/// Returns the stem of a file name as a title; `None` for an empty name.
pub(crate) fn title_of(name: &str) -> Option<String> {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = base.rsplit_once('.').map_or(base, |(stem, _)| if stem.is_empty() { base } else { stem });
    let title = stem.trim();
    (!title.is_empty()).then(|| title.to_owned())
}

/// Removes heading, emphasis and code markup from a line of markdown, and replaces links by their text.
pub(crate) fn strip_markup(line: &str) -> String {
    let line = line.trim().trim_end_matches('#').trim_end();
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        match c {
            '*' | '`' => {}
            '\\' if after.starts_with(|next: char| next.is_ascii_punctuation()) => {
                out.extend(after.chars().next());
                rest = &after[1..];
                continue;
            }
            '[' => {
                if let Some((label, tail)) = after.split_once("](")
                    && !label.contains('[')
                    && let Some((_, tail)) = tail.split_once(')')
                {
                    out.push_str(label);
                    rest = tail;
                    continue;
                }
                out.push(c);
            }
            _ => out.push(c),
        }
        rest = after;
    }
    out.trim().to_owned()
}

/// Returns a property as one line of text. Returns `None` for an empty value and for wrongly decoded text, which shows
/// by control characters of U+0080 to U+009F.
pub(crate) fn one_line(value: &str) -> Option<String> {
    if value.contains(|c| matches!(c, '\u{80}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffd}')) {
        return None;
    }
    let line = blocks::one_line(value);
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_stems_become_titles() {
        assert_eq!(title_of("a/b/Report 2024.final.docx").as_deref(), Some("Report 2024.final"));
        assert_eq!(title_of(".pdf").as_deref(), Some(".pdf"));
        assert_eq!(title_of(""), None);
    }

    #[test]
    fn markup_is_removed() {
        assert_eq!(strip_markup("The **big** `one` [here](http://a/b) \\*x ##"), "The big one here *x");
        assert_eq!(strip_markup("[unclosed"), "[unclosed");
    }
}
