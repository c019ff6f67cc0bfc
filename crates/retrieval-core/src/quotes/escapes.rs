//! Search for a quote of the readable text: Markdown has a backslash before characters that would be marks.

use std::ops::Range;

use crate::chars;

/// Returns the characters of a content that are the quote without their escapes: those nearest to `start`, or the first.
pub(super) fn find(content: &str, quote: &str, start: Option<usize>) -> Option<Range<usize>> {
    if quote.is_empty() || !content.contains('\\') {
        return None;
    }
    let readable = Readable::of(content);
    let found =
        readable.text.match_indices(quote).map(|(at, _)| readable.source(at)..readable.source_end(at + quote.len()));
    let bytes = match start.map(|start| chars::byte_offset(content, start)) {
        Some(start) => found.min_by_key(|bytes| bytes.start.abs_diff(start)),
        None => found.min_by_key(|bytes| bytes.start),
    }?;
    let before = chars::count(&content[..bytes.start]);
    Some(before..before + chars::count(&content[bytes]))
}

/// Content without the backslashes of its escapes.
struct Readable {
    text: String,
    /// Offsets in the text where a backslash was, rising.
    removed: Vec<usize>,
}

impl Readable {
    fn of(content: &str) -> Self {
        let mut text = String::with_capacity(content.len());
        let mut removed = Vec::new();
        let mut rest = content;
        while let Some(at) = rest.find('\\') {
            text.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            match rest.chars().next().filter(char::is_ascii_punctuation) {
                Some(escaped) => {
                    removed.push(text.len());
                    text.push(escaped);
                    rest = &rest[1..];
                }
                None => text.push('\\'),
            }
        }
        text.push_str(rest);
        Self { text, removed }
    }

    /// Returns the offset in the content of the character at an offset in the text.
    fn source(&self, at: usize) -> usize {
        at + self.removed.partition_point(|removed| *removed <= at)
    }

    /// Returns the offset in the content of the end of the character before an offset in the text.
    fn source_end(&self, at: usize) -> usize {
        at + self.removed.partition_point(|removed| *removed < at)
    }
}
