//! Content of a capture in the requested format.

use std::borrow::Cow;
use std::ops::Range;

use docstore::StoredCapture;
use file_types::is_plain_text;
use model::CaptureFormat;
use retrieval_core::plain;

use super::{ContentFormat, passages};

/// Content of a capture, converted on demand.
pub struct Rendered<'a> {
    pub stored: &'a StoredCapture,
    /// True if the content is markdown and the marks are to be removed.
    converts: bool,
}

impl<'a> Rendered<'a> {
    /// `mime` is the media type of the document. Plain text is returned as it is in both formats: what looks like a mark is
    /// a part of the text.
    pub fn new(stored: &'a StoredCapture, mime: Option<&str>, format: ContentFormat) -> Self {
        let is_plain = stored.capture.format == CaptureFormat::Text || mime.is_some_and(is_plain_text);
        Self { stored, converts: format == ContentFormat::Text && !is_plain }
    }

    /// Returns the whole content.
    pub fn whole(&self) -> Cow<'a, str> {
        let content = self.stored.capture.content.as_str();
        if self.converts { plain::from_markdown(content).into() } else { content.into() }
    }

    /// Returns the text of each passage. `positions` are those of passages, in order.
    pub fn passages(&self, positions: &[usize]) -> Vec<Cow<'a, str>> {
        let StoredCapture { capture, passages: stored } = self.stored;
        let texts = positions.iter().map(|position| passages::text(&capture.content, &stored[*position]));
        if !self.converts {
            return texts.map(|text| text.trim_end().into()).collect();
        }
        let ranges: Vec<Range<usize>> =
            positions.iter().map(|position| passages::byte_range(&capture.content, &stored[*position])).collect();
        plain::parts(&capture.content, &ranges).into_iter().map(Cow::from).collect()
    }
}
