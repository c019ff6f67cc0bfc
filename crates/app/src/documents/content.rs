//! Content block of a read: the selected text in the requested format and range.

use std::borrow::Cow;
use std::ops::Range;

use model::CaptureId;
use retrieval_core::chars;

use super::rendered::Rendered;
use super::{ContentView, ReadRequest, ReadWarning, Selection};

/// Blank line between two selected passages.
pub const SEPARATOR: &str = "\n\n";

/// Part of the selected text that the request asks for.
#[derive(Default)]
pub struct Slice<'a> {
    /// The selected text, as far as it was read.
    pub full: Cow<'a, str>,
    /// Range of the part in `full`.
    pub bytes: Range<usize>,
    char_count: usize,
    truncated: bool,
}

/// Cuts the requested part out of the selected text.
pub fn slice<'a>(rendered: &Rendered<'a>, chosen: &[usize], request: &ReadRequest) -> Slice<'a> {
    let (full, before) = selected(rendered, chosen, request.selection);
    let wanted = chars_of(request);
    let start = chars::byte_offset(&full, wanted.start.saturating_sub(before));
    let rest = &full[start..];
    let (text, char_count) = chars::slice(rest, 0, wanted.end - wanted.start);
    let truncated = text.len() < rest.len() || (request.selection == Selection::FullDocument && rendered.has_more());
    let bytes = start..start + text.len();
    Slice { full, bytes, char_count, truncated }
}

/// Returns the warning about a continuation in another capture than `latest`.
pub fn stale_range(request: &ReadRequest, latest: CaptureId) -> Option<ReadWarning> {
    let range = request.range.as_ref().filter(|range| range.start_char > 0)?;
    let requested = range.capture_id.filter(|requested| *requested != latest)?;
    Some(ReadWarning::StaleRange { requested, latest })
}

/// Builds the content block. Adds a warning for truncated content.
pub fn view(slice: &Slice<'_>, request: &ReadRequest, warnings: &mut Vec<ReadWarning>) -> ContentView {
    let (field, limit) = limit(request);
    if slice.truncated
        && let Some(max_chars) = limit
    {
        warnings.push(ReadWarning::ContentTruncated { field, max_chars });
    }
    ContentView {
        selection: request.selection,
        format: request.format,
        text: slice.full[slice.bytes.clone()].to_owned(),
        truncated: slice.truncated,
        char_count: slice.char_count as u64,
        start_char: request.range.as_ref().map_or(0, |range| range.start_char),
    }
}

/// Returns true if the request asks for a part of the selected text.
pub fn is_limited(request: &ReadRequest) -> bool {
    chars_of(request) != (0..usize::MAX)
}

/// Returns the field with the maximum number of characters, and its value.
pub fn limit(request: &ReadRequest) -> (&'static str, Option<u64>) {
    match request.range.as_ref().and_then(|range| range.max_chars) {
        Some(max_chars) => ("content.range.max_chars", Some(max_chars)),
        None => ("content.max_chars", request.max_chars),
    }
}

/// Returns the characters of the selected text that the request asks for.
pub fn chars_of(request: &ReadRequest) -> Range<usize> {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let start = number(request.range.as_ref().map_or(0, |range| range.start_char));
    let (_, limit) = limit(request);
    start..limit.map_or(usize::MAX, |limit| start.saturating_add(number(limit)))
}

/// Returns the selected text, and the number of characters of the document before it.
fn selected<'a>(rendered: &Rendered<'a>, chosen: &[usize], selection: Selection) -> (Cow<'a, str>, usize) {
    match selection {
        Selection::FullDocument => rendered.content(),
        Selection::None => (Cow::default(), 0),
        Selection::QueryRelevant | Selection::TopPassages | Selection::PassageIds => {
            (rendered.passages(chosen).join(SEPARATOR).into(), 0)
        }
    }
}
