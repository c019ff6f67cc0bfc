//! Selection of the passages that a response contains.

use std::collections::HashMap;

use docstore::StoredCapture;
use model::PassageId;
use retrieval_core::passages::PassageSpan;
use retrieval_core::{chars, select};

use super::rendered::Rendered;
use super::{ReadRequest, ReadWarning, Selection, content, passages};

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
    let spans: Vec<PassageSpan> = stored.passages.iter().map(passages::span).collect();
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
