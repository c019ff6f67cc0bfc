//! Titles out of file names and out of marked-up lines.

/// The stem of a file name as a title; `None` for a name without one.
pub(crate) fn title_of(name: &str) -> Option<String> {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = base.rsplit_once('.').map_or(base, |(stem, _)| if stem.is_empty() { base } else { stem });
    let title = stem.trim();
    (!title.is_empty()).then(|| title.to_owned())
}

/// One line of markdown without heading, emphasis and code marks, and with link texts instead of links.
pub(crate) fn unmarked(line: &str) -> String {
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

/// A property as one line of text; `None` when nothing is left, and for text that was decoded wrongly: no property
/// has the control characters of U+0080 to U+009F.
pub(crate) fn one_line(value: &str) -> Option<String> {
    if value.contains(|c| matches!(c, '\u{80}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffd}')) {
        return None;
    }
    let line = value.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_titles() {
        assert_eq!(title_of("a/b/Report 2024.final.docx").as_deref(), Some("Report 2024.final"));
        assert_eq!(title_of(".pdf").as_deref(), Some(".pdf"));
        assert_eq!(title_of(""), None);
    }

    #[test]
    fn marks_are_taken_out() {
        assert_eq!(unmarked("The **big** `one` [here](http://a/b) \\*x ##"), "The big one here *x");
        assert_eq!(unmarked("[unclosed"), "[unclosed");
    }
}
