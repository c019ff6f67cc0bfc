//! Selection of the passages that a response contains.

use std::collections::HashMap;

use docstore::{Passage, StoredCapture};
use model::PassageId;
use retrieval_core::passages::PassageSpan;
use retrieval_core::select;

use super::{PassageView, ReadRequest, ReadWarning, Selection};

/// Passages that `query_relevant` and `top_passages` select.
const MAX_SELECTED: usize = 5;

/// Returns the positions of the selected passages in document order. Adds a warning for unknown passage ids.
pub fn choose(
    stored: &StoredCapture,
    language: Option<&str>,
    request: &ReadRequest,
    warnings: &mut Vec<ReadWarning>,
) -> Vec<usize> {
    let count = stored.passages.len();
    match request.selection {
        Selection::None | Selection::FullDocument => (0..count).collect(),
        Selection::PassageIds => by_ids(stored, &request.passage_ids, warnings),
        Selection::QueryRelevant | Selection::TopPassages => {
            let Some(query) = request.query.as_deref().filter(|query| !query.trim().is_empty()) else {
                return (0..count.min(MAX_SELECTED)).collect();
            };
            let spans: Vec<PassageSpan> = stored.passages.iter().map(span).collect();
            let mut best = select::query_relevant(query, &stored.capture.content, &spans, language);
            best.truncate(MAX_SELECTED);
            best.sort_unstable();
            best
        }
    }
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
    content.get(unsigned(passage.byte_start) as usize..unsigned(passage.byte_end) as usize).unwrap_or_default()
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
