//! Merges the results of one-word searches into one ranking.

use std::collections::HashMap;

use engine::search_terms::SearchTerms;
use engine::{Hit, estimate};
use model::DocId;
use retrieval_core::analysis::QueryTerm;
use retrieval_core::bm25::single as bm25;

use crate::impact::{self, LEVELS};
use crate::multi_search::{TokenHit, TokenMatches};
use crate::scope_statistics::ScopeStatistics;
use crate::tokens_by_level::STORED_LEVELS;

/// Estimated impact of a term on documents that were not returned, relative to the last returned one.
const UNRETURNED_IMPACT: f32 = 0.7;

/// Results of the one-word searches, by stem.
pub type MatchesByStem = HashMap<String, TokenMatches>;

/// Ranks the union of the results by BM25, best first, ties by document id. Returns the hits and the number of matching
/// documents.
pub fn merge(terms: &SearchTerms, matches: &MatchesByStem, scope: &ScopeStatistics, limit: usize) -> (Vec<Hit>, u64) {
    let mut best: HashMap<DocId, f32> = HashMap::new();
    for text in &terms.texts {
        for (doc_id, score) in score_text(text, terms, matches, scope) {
            let highest = best.entry(doc_id).or_insert(score);
            *highest = highest.max(score);
        }
    }
    let total = total(terms, matches, scope, best.len() as u64);
    (Hit::best(best, limit), total)
}

fn score_text(
    text: &[QueryTerm],
    terms: &SearchTerms,
    matches: &MatchesByStem,
    scope: &ScopeStatistics,
) -> HashMap<DocId, f32> {
    let mut scores: HashMap<DocId, f32> = HashMap::new();
    let mut saturations: HashMap<DocId, f32> = HashMap::new();
    for term in text {
        // A term counts once per document, by the variant with the highest impact.
        let variants = || term.variants.iter().filter_map(|stem| matches.get(stem));
        for hit in variants().flat_map(|matches| &matches.hits) {
            let saturation = saturation(hit, scope.average_length as f32);
            let highest = saturations.entry(DocId(hit.id)).or_insert(saturation);
            *highest = highest.max(saturation);
        }
        let weight = term.weight * bm25::idf(terms.frequency_of(term, scope.documents), scope.documents);
        let expected = expected_saturation(variants(), &saturations, scope.documents);
        for (doc_id, saturation) in saturations.drain() {
            *scores.entry(doc_id).or_default() += weight * (saturation - expected).max(0.0);
        }
    }
    scores
}

/// Returns the expected saturation of a term in a document that was not returned for it.
///
/// For a common word only the documents with the highest impact are requested, and many others contain it too. Documents
/// are scored by the excess over this expectation.
fn expected_saturation<'a>(
    variants: impl Iterator<Item = &'a TokenMatches>,
    returned: &HashMap<DocId, f32>,
    documents: u64,
) -> f32 {
    let total: u64 = variants.map(|matches| matches.total).sum();
    let unreturned = total.saturating_sub(returned.len() as u64) as f32;
    let unknown = documents.saturating_sub(returned.len() as u64).max(1) as f32;
    let lowest = returned.values().copied().fold(f32::INFINITY, f32::min);
    if unreturned == 0.0 || lowest.is_infinite() {
        return 0.0;
    }
    UNRETURNED_IMPACT * lowest * (unreturned / unknown).min(1.0)
}

/// Returns the saturation of a term in a document for the actual mean length of the scope.
fn saturation(hit: &TokenHit, average_length: f32) -> f32 {
    let level = ((1.0 - hit.score) * STORED_LEVELS as f64).round().max(0.0) as usize;
    let frequency = impact::frequency(level.min(LEVELS - 1), hit.length);
    bm25::saturation(frequency, bm25::length_norm(hit.length as f32, average_length))
}

/// Returns the number of documents that contain any of the words.
///
/// Exact if all of them were returned, otherwise an estimate that assumes independent words.
fn total(terms: &SearchTerms, matches: &MatchesByStem, scope: &ScopeStatistics, returned: u64) -> u64 {
    let mut stems: Vec<&String> = terms.texts.iter().flatten().flat_map(|term| &term.variants).collect();
    stems.sort();
    stems.dedup();
    let matches: Vec<&TokenMatches> = stems.into_iter().filter_map(|stem| matches.get(stem)).collect();
    if matches.iter().all(|matches| matches.hits.len() as u64 >= matches.total) {
        return returned;
    }
    estimate::union(scope.documents, matches.iter().map(|matches| matches.total)).max(returned)
}

/// Merges the hits of several phrases. The score of a document is the best that the server gives it for one of them, by
/// impact. Returns the hits and the number of matching documents.
pub fn merge_phrases(responses: &[TokenMatches], scope: &ScopeStatistics, limit: usize) -> (Vec<Hit>, u64) {
    let mut best: HashMap<DocId, f32> = HashMap::new();
    for hit in responses.iter().flat_map(|matches| &matches.hits) {
        let highest = best.entry(DocId(hit.id)).or_insert(hit.score as f32);
        *highest = highest.max(hit.score as f32);
    }
    let returned = best.len() as u64;
    let is_complete = responses.iter().all(|matches| matches.hits.len() as u64 >= matches.total);
    let total = match is_complete {
        true => returned,
        false => estimate::union(scope.documents, responses.iter().map(|matches| matches.total)).max(returned),
    };
    (Hit::best(best, limit), total)
}
