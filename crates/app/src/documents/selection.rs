//! Selection of the passages that a response contains.

use std::collections::HashMap;

use model::PassageId;
use retrieval_core::chars;

use super::rendered::Rendered;
use super::{ReadRequest, ReadWarning, Selection, content};
use crate::excerpt::Excerpt;

/// Passages that `query_relevant` and `top_passages` select if neither length nor number is limited.
pub const MAX_SELECTED: usize = 5;

/// Characters of an unknown passage id that its warning repeats. An id has 36.
const ECHOED_CHARS: usize = 100;

/// Returns the positions of the selected passages in document order. Adds warnings for unknown passage ids and for a query
/// without a match. Selects nothing for an answer without text.
pub fn choose(
    rendered: &Rendered<'_>,
    language: Option<&str>,
    request: &ReadRequest,
    warnings: &mut Vec<ReadWarning>,
) -> Vec<usize> {
    if !request.wants_text() {
        return Vec::new();
    }
    let excerpt = &rendered.reading.excerpt;
    match request.selection {
        Selection::None | Selection::FullDocument => (0..excerpt.passages().len()).collect(),
        Selection::PassageIds => by_ids(excerpt, request, warnings),
        Selection::QueryRelevant | Selection::TopPassages => {
            let ranked = ranked(excerpt, language, request.query.as_deref());
            if ranked.is_empty() && (!excerpt.passages().is_empty() || rendered.reading.is_part) {
                warnings.push(ReadWarning::NoMatch);
            }
            let mut best = match budget(request) {
                Some(max_chars) => fitting(ranked, rendered, max_chars, request.max_passages.unwrap_or(usize::MAX)),
                None => ranked.into_iter().take(request.max_passages.unwrap_or(MAX_SELECTED)).collect(),
            };
            best.sort_unstable();
            best
        }
    }
}

/// Returns the positions of the passages that match the query, best first; of all passages without a query.
fn ranked(excerpt: &Excerpt, language: Option<&str>, query: Option<&str>) -> Vec<usize> {
    match query.filter(|query| !query.trim().is_empty()) {
        Some(query) => excerpt.query_relevant(query, language),
        None => (0..excerpt.passages().len()).collect(),
    }
}

/// Returns the number of characters to fill with passages. A continuation continues the selection of unlimited length.
fn budget(request: &ReadRequest) -> Option<usize> {
    let continues = request.range.as_ref().is_some_and(|range| range.start_char > 0);
    let (_, limit) = content::limit(request);
    limit.filter(|_| !continues).map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

/// Returns the best passages that fit together; the best one alone if even that is too long.
fn fitting(ranked: Vec<usize>, rendered: &Rendered<'_>, max_chars: usize, most: usize) -> Vec<usize> {
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
        if chosen.len() == most {
            break;
        }
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

fn by_ids(excerpt: &Excerpt, request: &ReadRequest, warnings: &mut Vec<ReadWarning>) -> Vec<usize> {
    let most = request.max_passages.unwrap_or(usize::MAX);
    let positions: HashMap<PassageId, usize> =
        excerpt.passages().iter().enumerate().map(|(position, passage)| (passage.passage_id, position)).collect();
    let mut chosen = Vec::new();
    let mut stale = Vec::new();
    for id in &request.passage_ids {
        match id.parse().ok().and_then(|id| positions.get(&id)) {
            Some(position) => chosen.push(*position),
            None => stale.push(chars::truncate(id, ECHOED_CHARS).to_owned()),
        }
    }
    if !stale.is_empty() {
        warnings.push(ReadWarning::StalePassageIds { passage_ids: stale });
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen.truncate(most);
    chosen
}
