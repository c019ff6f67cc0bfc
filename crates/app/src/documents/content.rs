//! Content block of a read: the selected text in the requested format and range.

use docstore::StoredCapture;
use model::CaptureId;
use retrieval_core::{chars, plain};

use super::passages;
use super::{ContentFormat, ContentView, ReadRequest, ReadWarning, Selection};

/// Renders the content block. Adds warnings for truncated content and stale ranges.
pub fn render(
    stored: &StoredCapture,
    chosen: &[usize],
    request: &ReadRequest,
    latest: CaptureId,
    warnings: &mut Vec<ReadWarning>,
) -> ContentView {
    let selected = selected(stored, chosen, request.selection);
    let full = match request.format {
        ContentFormat::Markdown => selected,
        ContentFormat::Text => plain::from_markdown(&selected),
    };
    let range = request.range.as_ref();
    let start = range.map_or(0, |range| range.start_char);
    if let Some(requested) = range.and_then(|range| range.capture_id)
        && start > 0
        && requested != latest
    {
        warnings.push(ReadWarning::StaleRange { requested, latest });
    }
    let (field, limit) = match range.and_then(|range| range.max_chars) {
        Some(max_chars) => ("content.range.max_chars", Some(max_chars)),
        None => ("content.max_chars", request.max_chars),
    };
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

fn selected(stored: &StoredCapture, chosen: &[usize], selection: Selection) -> String {
    let content = &stored.capture.content;
    match selection {
        Selection::FullDocument => content.clone(),
        Selection::None => String::new(),
        Selection::QueryRelevant | Selection::TopPassages | Selection::PassageIds => {
            let texts: Vec<&str> =
                chosen.iter().map(|position| passages::text(content, &stored.passages[*position]).trim_end()).collect();
            texts.join("\n\n")
        }
    }
}
