//! Content of a capture in the requested format.

use std::borrow::Cow;
use std::ops::Range;

use docstore::Capture;
use file_types::is_plain_text;
use model::CaptureFormat;
use retrieval_core::plain;

use super::ContentFormat;
use super::captured_text::CapturedText;

/// Content of a capture, converted on demand.
pub struct Rendered<'a> {
    pub reading: &'a CapturedText,
    /// True if the content is markdown and the marks are to be removed.
    converts: bool,
}

impl<'a> Rendered<'a> {
    pub fn new(reading: &'a CapturedText, mime: Option<&str>, format: ContentFormat) -> Self {
        Self { converts: converts(&reading.capture, mime, format), reading }
    }

    /// Returns the content that was read, and the number of characters before it.
    pub fn content(&self) -> (Cow<'a, str>, usize) {
        let content = self.reading.excerpt.content();
        if self.converts {
            return (plain::from_markdown(content).into(), 0);
        }
        (content.into(), self.reading.start_char)
    }

    /// Returns true if the marks of the content are removed.
    pub fn converts(&self) -> bool {
        self.converts
    }

    /// Returns true if the document goes on after the content that was read.
    pub fn has_more(&self) -> bool {
        self.reading.has_more
    }

    /// Returns the text of each passage. `positions` are those of passages, in order.
    pub fn passages(&self, positions: &[usize]) -> Vec<Cow<'a, str>> {
        let excerpt = &self.reading.excerpt;
        if !self.converts {
            return positions.iter().map(|position| excerpt.text(*position).trim_end().into()).collect();
        }
        plain::parts(excerpt.content(), &self.ranges(positions)).into_iter().map(Cow::from).collect()
    }

    /// Returns the location of each passage, without the white space at its end, in the content that was read. `positions` as in
    /// [`passages`](Self::passages).
    pub fn locations(&self, positions: &[usize]) -> Vec<Range<usize>> {
        let excerpt = &self.reading.excerpt;
        let ranges = self.ranges(positions);
        if self.converts {
            return plain::locations(excerpt.content(), &ranges);
        }
        let trimmed = |range: Range<usize>| range.start..range.start + excerpt.content()[range].trim_end().len();
        ranges.into_iter().map(trimmed).collect()
    }

    fn ranges(&self, positions: &[usize]) -> Vec<Range<usize>> {
        positions.iter().map(|position| self.reading.excerpt.range(*position)).collect()
    }
}

/// Returns true if the content is converted for the format. `mime` is the media type of the document. Plain text is returned
/// as it is in both formats: what looks like a mark is a part of the text.
pub fn converts(capture: &Capture, mime: Option<&str>, format: ContentFormat) -> bool {
    let is_plain = capture.format == CaptureFormat::Text || mime.is_some_and(is_plain_text);
    format == ContentFormat::Text && !is_plain
}
