//! Content block of a read: the selected text in the requested format and range.

use std::borrow::Cow;
use std::ops::Range;

use model::CaptureId;
use retrieval_core::chars;

use super::rendered::Rendered;
use super::{ContentView, ReadRequest, ReadWarning, Selection};

/// Blank line between two selected passages.
pub const SEPARATOR: &str = "\n\n";

/// Renders the content block. Adds warnings for truncated content and stale ranges.
pub fn render(
    rendered: &Rendered<'_>,
    chosen: &[usize],
    request: &ReadRequest,
    latest: CaptureId,
    warnings: &mut Vec<ReadWarning>,
) -> ContentView {
    let (full, before) = selected(rendered, chosen, request.selection);
    let range = request.range.as_ref();
    let start = range.map_or(0, |range| range.start_char);
    if let Some(requested) = range.and_then(|range| range.capture_id)
        && start > 0
        && requested != latest
    {
        warnings.push(ReadWarning::StaleRange { requested, latest });
    }
    let (field, limit) = limit(request);
    let from = usize::try_from(start).unwrap_or(usize::MAX).saturating_sub(before);
    let max_chars = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let rest = &full[chars::byte_offset(&full, from)..];
    let (text, char_count) = chars::slice(rest, 0, max_chars);
    let truncated = text.len() < rest.len() || (request.selection == Selection::FullDocument && rendered.has_more());
    if truncated && let Some(max_chars) = limit {
        warnings.push(ReadWarning::ContentTruncated { field, max_chars });
    }
    ContentView {
        selection: request.selection,
        format: request.format,
        text: text.to_owned(),
        truncated,
        char_count: char_count as u64,
        start_char: start,
    }
}

/// Returns the field with the maximum number of characters, and its value.
pub fn limit(request: &ReadRequest) -> (&'static str, Option<u64>) {
    match request.range.as_ref().and_then(|range| range.max_chars) {
        Some(max_chars) => ("content.range.max_chars", Some(max_chars)),
        None => ("content.max_chars", request.max_chars),
    }
}

/// Returns the characters of a whole document that the request wants.
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
