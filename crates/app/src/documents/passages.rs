//! Selection of the passages that a response contains.

use std::collections::HashMap;
use std::ops::Range;

use docstore::{Passage, StoredCapture};
use model::PassageId;
use retrieval_core::passages::PassageSpan;
use retrieval_core::{chars, select};

use super::rendered::Rendered;
use super::{PassageView, ReadRequest, ReadWarning, Selection, content};

/// Passages that `query_relevant` and `top_passages` select if the length is not limited.
const MAX_SELECTED: usize = 5;

/// Returns the positions of the selected passages in document order. Adds warnings for unknown passage ids and for a query
/// without a match.
pub fn choose(
    rendered: &Rendered<'_>,
    language: Option<&str>,
    request: &ReadRequest,
    warnings: &mut Vec<ReadWarning>,
) -> Vec<usize> {
    let stored = rendered.stored;
    match request.selection {
        Selection::None | Selection::FullDocument => (0..stored.passages.len()).collect(),
        Selection::PassageIds => by_ids(stored, &request.passage_ids, warnings),
        Selection::QueryRelevant | Selection::TopPassages => {
            let ranked = ranked(stored, language, request.query.as_deref());
            if ranked.is_empty() && !stored.passages.is_empty() {
                warnings.push(ReadWarning::NoMatch);
            }
            let mut best = match budget(request) {
                Some(max_chars) => fitting(ranked, rendered, max_chars),
                None => ranked.into_iter().take(MAX_SELECTED).collect(),
            };
            best.sort_unstable();
            best
        }
    }
}

/// Returns the positions of the passages that match the query, best first; of all passages without a query.
fn ranked(stored: &StoredCapture, language: Option<&str>, query: Option<&str>) -> Vec<usize> {
    let Some(query) = query.filter(|query| !query.trim().is_empty()) else {
        return (0..stored.passages.len()).collect();
    };
    let spans: Vec<PassageSpan> = stored.passages.iter().map(span).collect();
    select::query_relevant(query, &stored.capture.content, &spans, language)
}

/// Returns the number of characters to fill with passages. A continuation continues the selection of unlimited length.
fn budget(request: &ReadRequest) -> Option<usize> {
    let continues = request.range.as_ref().is_some_and(|range| range.start_char > 0);
    let (_, limit) = content::limit(request);
    limit.filter(|_| !continues).map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

/// Returns the best passages that fit together; the best one alone if even that is too long.
fn fitting(ranked: Vec<usize>, rendered: &Rendered<'_>, max_chars: usize) -> Vec<usize> {
    let mut positions = ranked.clone();
    positions.sort_unstable();
    let lengths: HashMap<usize, usize> = positions
        .iter()
        .zip(rendered.passages(&positions))
        .map(|(position, text)| (*position, chars::count(&text)))
        .collect();
    let separator = chars::count(content::SEPARATOR);
    let mut chosen: Vec<usize> = Vec::new();
    let mut left = max_chars;
    for position in ranked {
        let length = lengths.get(&position).copied().unwrap_or_default();
        let needed = if chosen.is_empty() { length } else { length + separator };
        match left.checked_sub(needed) {
            Some(rest) => left = rest,
            None if chosen.is_empty() => return vec![position],
            None => continue,
        }
        chosen.push(position);
    }
    chosen
}

fn by_ids(stored: &StoredCapture, wanted: &[String], warnings: &mut Vec<ReadWarning>) -> Vec<usize> {
    let positions: HashMap<PassageId, usize> =
        stored.passages.iter().enumerate().map(|(position, passage)| (passage.passage_id, position)).collect();
    let mut chosen = Vec::new();
    let mut stale = Vec::new();
    for id in wanted {
        match id.parse().ok().and_then(|id| positions.get(&id)) {
            Some(position) => chosen.push(*position),
            None => stale.push(id.clone()),
        }
    }
    if !stale.is_empty() {
        warnings.push(ReadWarning::StalePassageIds { passage_ids: stale });
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

pub fn views(stored: &StoredCapture, chosen: &[usize], offsets: bool) -> Vec<PassageView> {
    chosen.iter().map(|position| passage_view(&stored.capture.content, &stored.passages[*position], offsets)).collect()
}

fn passage_view(content: &str, passage: &Passage, offsets: bool) -> PassageView {
    PassageView {
        passage_id: passage.passage_id,
        doc_id: passage.doc_id,
        ordinal: u32::try_from(passage.ordinal).unwrap_or(0),
        text: text(content, passage).to_owned(),
        chars: offsets.then_some((unsigned(passage.char_start), unsigned(passage.char_end))),
        section_heading: passage.section_path.0.last().cloned(),
        section_path: passage.section_path.0.clone(),
    }
}

/// Returns the passage's slice of the content; empty if its offsets do not fit the content.
pub fn text<'a>(content: &'a str, passage: &Passage) -> &'a str {
    &content[byte_range(content, passage)]
}

/// Returns the passage's byte range in the content; empty if its offsets do not fit the content.
pub fn byte_range(content: &str, passage: &Passage) -> Range<usize> {
    let range = unsigned(passage.byte_start) as usize..unsigned(passage.byte_end) as usize;
    if content.get(range.clone()).is_some() { range } else { 0..0 }
}

/// Converts a stored passage to the span that `retrieval_core` works with.
pub fn span(passage: &Passage) -> PassageSpan {
    let offset = |n: i32| usize::try_from(n).unwrap_or(0);
    PassageSpan {
        ordinal: u32::try_from(passage.ordinal).unwrap_or(0),
        bytes: offset(passage.byte_start)..offset(passage.byte_end),
        chars: offset(passage.char_start)..offset(passage.char_end),
        section_heading: passage.section_path.0.last().cloned(),
        section_path: passage.section_path.0.clone(),
    }
}

fn unsigned(n: i32) -> u64 {
    u64::try_from(n).unwrap_or(0)
}
