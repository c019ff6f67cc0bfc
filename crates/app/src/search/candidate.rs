//! Candidates of a search, from the first stage to their places in the answer.

use std::collections::HashSet;
use std::sync::Arc;

use docstore::LoadedDocument;
use model::Collection;
use retrieval_core::statistics::CollectionStatistics;

use super::retrieve::Policy;
use super::vectors::RankedDocument;

/// Factor on the score of a preferred domain: wins against equals and near equals, and does not lift documents that hardly
/// match.
const PREFERENCE: f64 = 1.5;

/// A document that the first stage found, with everything known about it so far.
pub struct Candidate {
    pub document: Arc<RankedDocument>,
    /// The whole document, if this search read it.
    pub loaded: Option<Box<LoadedDocument>>,
    pub collection: Collection,
    /// Position in the first stage's list, from 0.
    pub position: usize,
    /// Comparable within one list; higher is better.
    pub first_stage_score: f32,
    /// Final score: 0 before ranking. Comparable within one list; higher is better.
    pub score: f64,
    /// Positions of the matching passages, best first; empty before ranking.
    pub passages: Vec<usize>,
    /// True if ranking read the whole content.
    pub complete: bool,
}

/// The candidates of one collection.
pub struct CandidateList {
    pub collection: Collection,
    pub candidates: Vec<Candidate>,
    pub statistics: CollectionStatistics,
    /// Matching documents in the collection.
    pub total: u64,
    /// Results that the source policy removed before `max_results` were found.
    pub filtered: usize,
}

impl CandidateList {
    pub fn empty(collection: Collection) -> Self {
        Self { collection, candidates: Vec::new(), statistics: CollectionStatistics::default(), total: 0, filtered: 0 }
    }

    /// Sorts by score, ties by the first stage's score, then by its order.
    pub fn sort_by_evidence(&mut self) {
        self.candidates.sort_by(|one, other| {
            let first_stage = other.first_stage_score.total_cmp(&one.first_stage_score);
            other.score.total_cmp(&one.score).then(first_stage).then(one.position.cmp(&other.position))
        });
    }

    /// Replaces all scores by those of the first stage, and sorts by them.
    pub fn sort_by_first_stage(&mut self) {
        for candidate in &mut self.candidates {
            candidate.score = f64::from(candidate.first_stage_score);
        }
        self.sort_by_evidence();
    }

    /// Replaces all scores by a model's, given in the order of the candidates, and sorts by them. Ties keep their order.
    pub fn sort_by_model(&mut self, scores: &[f32]) {
        // Some models return probabilities, others log-odds, which the logistic function turns into probabilities.
        let log_odds = scores.iter().any(|score| !(0.0..=1.0).contains(score));
        let probability =
            |score: f32| if log_odds { 1.0 / (1.0 + (-f64::from(score)).exp()) } else { f64::from(score) };
        for (candidate, score) in self.candidates.iter_mut().zip(scores) {
            candidate.score = probability(*score);
        }
        self.sort_by_score();
    }

    /// Sorts by score. Ties keep their order.
    fn sort_by_score(&mut self) {
        self.candidates.sort_by(|one, other| other.score.total_cmp(&one.score));
    }

    /// Returns the best `max_results` candidates, best first, with the policy's domains preferred.
    pub fn best(mut self, policy: &Policy, max_results: usize) -> Vec<Candidate> {
        if policy.has_preference() {
            for candidate in &mut self.candidates {
                if policy.prefers(&candidate.document.host) {
                    candidate.score *= PREFERENCE;
                }
            }
            self.sort_by_score();
        }
        let web = self.collection == Collection::Web;
        let mut digests = HashSet::new();
        let candidates = self.candidates.into_iter();
        // Exact duplicates on the web are one result; in a workspace each file is a result.
        let distinct = candidates.filter(|one| !web || digests.insert(one.document.content_digest.clone()));
        distinct.take(max_results).collect()
    }
}
