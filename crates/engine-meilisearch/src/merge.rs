//! The documents of several words as one ranking.

use std::collections::HashMap;

use engine::search_terms::SearchTerms;
use engine::{Hit, bm25};
use retrieval_core::analysis::QueryTerm;
use uuid::Uuid;

use crate::ask::{Answer, WordHit};
use crate::document::attribute;
use crate::impact::{self, LEVELS};
use crate::scope::ScopeStatistics;

/// What was found by stem.
pub type Found = HashMap<String, Answer>;

/// BM25 over what was found, best first, ties by document id; and how many documents match.
pub fn merge(terms: &SearchTerms, found: &Found, scope: &ScopeStatistics, limit: usize) -> (Vec<Hit>, u64) {
    let mut best: HashMap<Uuid, f32> = HashMap::new();
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

fn score_text(text: &[QueryTerm], terms: &SearchTerms, found: &Found, scope: &ScopeStatistics) -> HashMap<Uuid, f32> {
    let mut scores: HashMap<Uuid, f32> = HashMap::new();
    let mut of_term: HashMap<Uuid, f32> = HashMap::new();
    for term in text {
        // A document that holds several variants holds the term once: as the one that it holds most.
        for hit in term.variants.iter().filter_map(|stem| found.get(stem)).flat_map(|answer| &answer.hits) {
            let saturation = saturation(hit, scope.average_length as f32);
            let known = of_term.entry(hit.id).or_insert(saturation);
            *known = known.max(saturation);
        }
        let weight = term.weight * bm25::idf(terms.frequency_of(term, scope.documents), scope.documents);
        for (doc_id, saturation) in of_term.drain() {
            *scores.entry(doc_id).or_default() += weight * saturation;
        }
    }
    scores
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
    let mut hits: Vec<Hit> = answer.hits.iter().map(|hit| Hit { doc_id: hit.id, score: hit.score as f32 }).collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc_id.cmp(&b.doc_id)));
    hits
}
