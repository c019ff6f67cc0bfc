//! Headings of a Markdown document.

use std::ops::Range;

use crate::inline::{self, Images, Labels};
use crate::markdown::{self, Kind};

/// Maximum length of a heading in characters: a longer one is a paragraph with a wrong mark.
const MAX_HEADING_CHARS: usize = 300;

/// Heading of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// 1 (outermost) to 6.
    pub level: u8,
    /// Readable text on one line, without marks, at most 300 characters, never empty.
    pub text: String,
}

/// Maximum number of headings of an [`outline`].
pub const MAX_HEADINGS: usize = 1_000;
/// Maximum length of the headings of an [`outline`] together, in bytes.
pub const MAX_BYTES: usize = 64 << 10;

/// Returns the texts of the first headings: at most [`MAX_HEADINGS`], and [`MAX_BYTES`] together. Reads no further ones.
pub fn outline(headings: impl Iterator<Item = Heading>) -> Vec<String> {
    let fitting = |left: &mut usize, Heading { text, .. }: Heading| {
        *left = left.checked_sub(text.len())?;
        Some(text)
    };
    headings.take(MAX_HEADINGS).scan(MAX_BYTES, fitting).collect()
}

/// Returns all headings in document order. Those inside code blocks and quotes do not count.
pub fn headings(markdown: &str) -> impl Iterator<Item = Heading> + '_ {
    located(markdown).map(|(_, heading)| heading)
}

/// Returns the headings whose lines are in one of the byte ranges, in document order. `ranges` are in order and without overlaps.
pub fn headings_within(markdown: &str, ranges: Vec<Range<usize>>) -> impl Iterator<Item = Heading> + '_ {
    let mut ranges = ranges.into_iter().peekable();
    let mut is_within = move |line: &Range<usize>| {
        let end = line.start + markdown[line.clone()].trim_end().len();
        while ranges.next_if(|range| range.end < end).is_some() {}
        ranges.peek().is_some_and(|range| range.start <= line.start && end <= range.end)
    };
    located(markdown).filter(move |(line, _)| is_within(line)).map(|(_, heading)| heading)
}

/// Returns the first heading of level 1, or else the first of any level.
pub fn title(markdown: &str) -> Option<String> {
    let mut first = None;
    for heading in headings(markdown) {
        if heading.level == 1 {
            return Some(heading.text);
        }
        first = first.or(Some(heading.text));
    }
    first
}

/// Returns all headings with their lines.
fn located(markdown: &str) -> impl Iterator<Item = (Range<usize>, Heading)> + '_ {
    markdown::lines(markdown).filter_map(|line| match line.kind {
        Kind::Heading { level } => {
            let text = heading_text(&markdown[line.range.clone()]);
            (!text.is_empty()).then_some((line.range, Heading { level, text }))
        }
        _ => None,
    })
}

/// Returns the readable text of a heading line, which may be empty.
pub(crate) fn heading_text(line: &str) -> String {
    // Truncated early: marks seldom make up three quarters of a line.
    let source = crate::chars::truncate(markdown::heading_text(line), 4 * MAX_HEADING_CHARS);
    let mut text = String::with_capacity(source.len());
    inline::push_text(source, &Labels::new(), Images::AltText, &mut text);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    crate::chars::truncate(&text, MAX_HEADING_CHARS).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_readable_and_in_order() {
        let markdown =
            "intro\n\n## 1. *Scope* of `this`\n\n```\n# code\n```\n\nThe [Title](x)\n=====\n###\n### A  b #\n";
        let expected = [(2, "1. Scope of this"), (1, "The Title"), (3, "A b")];
        let found: Vec<(u8, String)> = headings(markdown).map(|found| (found.level, found.text)).collect();
        assert_eq!(found, expected.map(|(level, text)| (level, text.to_owned())));
        assert_eq!(title(markdown).as_deref(), Some("The Title"));
        assert_eq!(title("## only\n# \n").as_deref(), Some("only"));
        assert_eq!(title("no heading"), None);
        let within = |ranges: &[Range<usize>]| {
            headings_within(markdown, ranges.to_vec()).map(|heading| heading.text).collect::<Vec<_>>()
        };
        let end = markdown.find("\n\n```").unwrap_or_default();
        let start = markdown.find("The").unwrap_or_default();
        assert_eq!(within(&[0..end, start..markdown.len()]), ["1. Scope of this", "The Title", "A b"]);
        assert_eq!(within(&[0..end - 1, start + 1..markdown.len()]), ["A b"], "a part of a line is no heading");
        assert!(within(&[]).is_empty());
        let long = format!("# {}", "x".repeat(100_000));
        assert!(headings(&long).map(|heading| heading.text.len()).eq([MAX_HEADING_CHARS]));
    }

    #[test]
    fn an_outline_is_limited_in_number_and_length() {
        let outlined = |markdown: &str| outline(headings(markdown));
        assert_eq!(outlined("# a\n## b\n"), ["a", "b"]);
        assert_eq!(outlined(&"# a\n".repeat(MAX_HEADINGS)).len(), MAX_HEADINGS);
        assert_eq!(outlined(&"# a\n".repeat(MAX_HEADINGS + 1)).len(), MAX_HEADINGS);
        let long = format!("# {}\n", "x".repeat(MAX_HEADING_CHARS)).repeat(MAX_HEADINGS) + "# short\n";
        let found = outlined(&long);
        assert_eq!(found.len(), MAX_BYTES / MAX_HEADING_CHARS);
        assert!(!found.contains(&"short".to_owned()), "it has no gaps");
        let read = std::cell::Cell::new(0);
        let counted = headings(&long).inspect(|_| read.set(read.get() + 1));
        assert_eq!((outline(counted).len(), read.get()), (found.len(), found.len() + 1));
    }

    #[test]
    fn many_headings_in_many_ranges_stay_linear() {
        let heading = "# a\n";
        let ranges: Vec<Range<usize>> =
            (0..100_000).map(|index| index * heading.len()..(index + 1) * heading.len()).collect();
        let count = ranges.len();
        assert_eq!(headings_within(&heading.repeat(count), ranges).count(), count);
    }
}
