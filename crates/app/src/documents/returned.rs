//! Passages and headings of the returned text.

use std::ops::Range;

use retrieval_core::outline;

use super::content::{self, SEPARATOR, Slice};
use super::rendered::Rendered;
use super::{ReadRequest, Selection};

/// A passage of which the answer contains all or a part.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReturnedPassage {
    /// Position among the passages that were read.
    pub position: usize,
    /// Range of bytes in the passage.
    pub bytes: Range<usize>,
}

/// Returns the passages that lie in the returned text, of those that were chosen. If it holds none as a whole, the parts of
/// passages that it consists of.
pub fn passages(
    rendered: &Rendered<'_>,
    chosen: &[usize],
    slice: &Slice<'_>,
    request: &ReadRequest,
) -> Vec<ReturnedPassage> {
    let excerpt = &rendered.reading.excerpt;
    let whole = |position: &usize| ReturnedPassage { position: *position, bytes: 0..excerpt.text(*position).len() };
    if request.selection == Selection::None || !content::is_limited(request) {
        return chosen.iter().map(whole).collect();
    }
    let shown = &slice.bytes;
    let located: Vec<(usize, Range<usize>)> =
        chosen.iter().copied().zip(locations(rendered, chosen, request.selection)).collect();
    let is_within = |at: &Range<usize>| !at.is_empty() && at.start >= shown.start && at.end <= shown.end;
    let within: Vec<ReturnedPassage> =
        located.iter().filter(|(_, at)| is_within(at)).map(|(position, _)| whole(position)).collect();
    if !within.is_empty() {
        return within;
    }
    let parts = located.iter().filter_map(|(position, at)| {
        let part = at.start.max(shown.start)..at.end.min(shown.end);
        if part.is_empty() {
            return None;
        }
        // Converted text has no place in the passage.
        let bytes =
            if rendered.converts() { whole(position).bytes } else { part.start - at.start..part.end - at.start };
        Some(ReturnedPassage { position: *position, bytes })
    });
    parts.collect()
}

/// Returns the location of each passage, without the white space at its end, in the selected text.
fn locations(rendered: &Rendered<'_>, chosen: &[usize], selection: Selection) -> Vec<Range<usize>> {
    if selection == Selection::FullDocument {
        return rendered.locations(chosen);
    }
    let mut start = 0;
    let texts = rendered.passages(chosen).into_iter();
    let located = texts.map(|text| {
        let at = start..start + text.len();
        start = at.end + SEPARATOR.len();
        at
    });
    located.collect()
}

/// Returns the first headings in the returned text, as many as an outline has; `None` if the text is that of the whole document,
/// or if there is none.
pub fn headings(
    rendered: &Rendered<'_>,
    returned: &[ReturnedPassage],
    slice: &Slice<'_>,
    request: &ReadRequest,
) -> Option<Vec<String>> {
    let excerpt = &rendered.reading.excerpt;
    let is_whole = match request.selection {
        Selection::None => true,
        Selection::FullDocument => !content::is_limited(request),
        Selection::QueryRelevant | Selection::TopPassages | Selection::PassageIds => false,
    };
    if is_whole || !request.wants_text() {
        return None;
    }
    if rendered.reading.capture.headings.0.is_empty() {
        return Some(Vec::new());
    }
    let shown = if request.selection == Selection::FullDocument && !rendered.converts() {
        vec![slice.bytes.clone()]
    } else {
        let range = |passage: &ReturnedPassage| {
            let start = excerpt.range(passage.position).start;
            start + passage.bytes.start..start + passage.bytes.end
        };
        returned.iter().map(range).collect()
    };
    let of_piece = |piece: Range<usize>| {
        let within = |range: &Range<usize>| {
            let (start, end) = (range.start.max(piece.start), range.end.min(piece.end));
            (start < end).then(|| start - piece.start..end - piece.start)
        };
        let shown: Vec<Range<usize>> = shown.iter().filter_map(within).collect();
        outline::headings_within(&excerpt.content()[piece], shown)
    };
    Some(outline::outline(excerpt.parsable().into_iter().flat_map(of_piece)))
}
