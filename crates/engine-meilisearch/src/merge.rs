//! The documents of several words as one ranking.

use std::collections::HashMap;

use engine::Hit;
use engine::search_terms::SearchTerms;
use model::DocId;
use retrieval_core::analysis::QueryTerm;
use retrieval_core::bm25::single as bm25;

use crate::ask::{Answer, WordHit};
use crate::document::attribute;
use crate::impact::{self, LEVELS};
use crate::scope::ScopeStatistics;

/// What a term says of the documents beyond those that came, beside the last that came.
const BELOW: f32 = 0.7;

/// What was found by stem.
pub type Found = HashMap<String, Answer>;

/// BM25 over what was found, best first, ties by document id; and how many documents match.
pub fn merge(terms: &SearchTerms, found: &Found, scope: &ScopeStatistics, limit: usize) -> (Vec<Hit>, u64) {
    let mut best: HashMap<DocId, f32> = HashMap::new();
    for text in &terms.texts {
        for (doc_id, score) in score_text(text, terms, found, scope) {
            let known = best.entry(doc_id).or_insert(score);
            *known = known.max(score);
        }
    }
    let total = total(terms, found, scope, best.len() as u64);
    let mut hits: Vec<Hit> = best.into_iter().map(|(doc_id, score)| Hit { doc_id, score }).collect();
    let order = |a: &Hit, b: &Hit| b.score.total_cmp(&a.score).then(a.doc_id.cmp(&b.doc_id));
    hits.sort_unstable_by(order);
    hits.truncate(limit);
    (hits, total)
}

fn score_text(text: &[QueryTerm], terms: &SearchTerms, found: &Found, scope: &ScopeStatistics) -> HashMap<DocId, f32> {
    let mut scores: HashMap<DocId, f32> = HashMap::new();
    let mut of_term: HashMap<DocId, f32> = HashMap::new();
    for term in text {
        // A document that holds several variants holds the term once: as the one that it holds most.
        let answers = || term.variants.iter().filter_map(|stem| found.get(stem));
        for hit in answers().flat_map(|answer| &answer.hits) {
            let saturation = saturation(hit, scope.average_length as f32);
            let known = of_term.entry(DocId(hit.id)).or_insert(saturation);
            *known = known.max(saturation);
        }
        let weight = term.weight * bm25::idf(terms.frequency_of(term, scope.documents), scope.documents);
        let expected = expected(answers(), &of_term, scope.documents);
        for (doc_id, saturation) in of_term.drain() {
            *scores.entry(doc_id).or_default() += weight * (saturation - expected).max(0.0);
        }
    }
    scores
}

/// What a term adds to a document of which is not known whether it holds the term: of a common word only the first
/// documents were asked for, and many others hold it as well. Documents are compared by what they have beyond this.
fn expected<'a>(answers: impl Iterator<Item = &'a Answer>, came: &HashMap<DocId, f32>, documents: u64) -> f32 {
    let total: u64 = answers.map(|answer| answer.total).sum();
    let others = total.saturating_sub(came.len() as u64) as f32;
    let unknown = documents.saturating_sub(came.len() as u64).max(1) as f32;
    let least = came.values().copied().fold(f32::INFINITY, f32::min);
    if others == 0.0 || least.is_infinite() { 0.0 } else { BELOW * least * (others / unknown).min(1.0) }
}

/// The impact of the word on the document, for the true mean length.
fn saturation(hit: &WordHit, average_length: f32) -> f32 {
    let level = ((1.0 - hit.score) * attribute::TERMS as f64).round().max(0.0) as usize;
    let frequency = impact::frequency(level.min(LEVELS - 1), hit.length);
    bm25::saturation(frequency, bm25::length_norm(hit.length as f32, average_length))
}

/// Documents that hold any of the words. Exact where all of them came; else as if the words were spread independently
/// of one another.
fn total(terms: &SearchTerms, found: &Found, scope: &ScopeStatistics, came: u64) -> u64 {
    let mut stems: Vec<&String> = terms.texts.iter().flatten().flat_map(|term| &term.variants).collect();
    stems.sort();
    stems.dedup();
    let answers: Vec<&Answer> = stems.into_iter().filter_map(|stem| found.get(stem)).collect();
    if answers.iter().all(|answer| answer.hits.len() as u64 >= answer.total) {
        return came;
    }
    let documents = scope.documents.max(1) as f64;
    let without: f64 = answers.iter().map(|answer| 1.0 - (answer.total as f64 / documents).min(1.0)).product();
    let most = answers.iter().map(|answer| answer.total).max().unwrap_or(0);
    ((documents * (1.0 - without)).round() as u64).max(most).max(came)
}

/// The hits of a phrase, in the server's order of impact.
pub fn phrase_hits(answer: &Answer) -> Vec<Hit> {
    let mut hits: Vec<Hit> =
        answer.hits.iter().map(|hit| Hit { doc_id: DocId(hit.id), score: hit.score as f32 }).collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc_id.cmp(&b.doc_id)));
    hits
}
