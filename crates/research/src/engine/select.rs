//! Choice of the documents to read.

use retrieval_core::blend::FUSION_CONSTANT;

use super::state::State;

/// Factor for each document of the same host that was read for the same question.
const SAME_HOST: f64 = 0.5;

/// Returns the best source to read for a question: by reciprocal rank over all its searches, web and workspace alike,
/// with other hosts first. Sources that repeat another, or could not be read, are left out.
pub(super) fn next_read(state: &State, question: usize) -> Option<usize> {
    let mut scores = vec![0.0; state.sources.len()];
    for asked in state.asked.iter().filter(|asked| asked.question == question) {
        for (rank, source) in asked.found.iter().enumerate() {
            if let Some(score) = scores.get_mut(*source) {
                *score += 1.0 / (FUSION_CONSTANT + rank as f64 + 1.0);
            }
        }
    }
    let hosts: Vec<&str> = state
        .sources
        .iter()
        .filter(|source| !source.host.is_empty() && source.reads.iter().any(|read| read.question == question))
        .map(|source| source.host.as_str())
        .collect();
    let mut best: Option<(usize, f64)> = None;
    for (at, source) in state.sources.iter().enumerate() {
        let done = source.reads.iter().any(|read| read.question == question || !read.readable);
        if scores[at] <= 0.0 || done || source.duplicate_of.is_some() {
            continue;
        }
        let same_host = hosts.iter().filter(|host| **host == source.host).count();
        let score = scores[at] * SAME_HOST.powi(i32::try_from(same_host).unwrap_or(i32::MAX));
        if best.is_none_or(|(_, highest)| score > highest) {
            best = Some((at, score));
        }
    }
    best.map(|(at, _)| at)
}
