//! Content block of a read: the selected text in the requested format and range.

use std::borrow::Cow;

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
    let full = selected(rendered, chosen, request.selection);
    let range = request.range.as_ref();
    let start = range.map_or(0, |range| range.start_char);
    if let Some(requested) = range.and_then(|range| range.capture_id)
        && start > 0
        && requested != latest
    {
        warnings.push(ReadWarning::StaleRange { requested, latest });
    }
    let (field, limit) = limit(request);
    let from = usize::try_from(start).unwrap_or(usize::MAX);
    let max_chars = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let rest = &full[chars::byte_offset(&full, from)..];
    let (text, char_count) = chars::slice(rest, 0, max_chars);
    let truncated = text.len() < rest.len();
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

fn selected<'a>(rendered: &Rendered<'a>, chosen: &[usize], selection: Selection) -> Cow<'a, str> {
    match selection {
        Selection::FullDocument => rendered.whole(),
        Selection::None => Cow::default(),
        Selection::QueryRelevant | Selection::TopPassages | Selection::PassageIds => {
            rendered.passages(chosen).join(SEPARATOR).into()
        }
    }
}
