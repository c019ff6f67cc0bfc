//! Candidates of a search, from the first stage to their places in the answer.

use std::collections::HashSet;
use std::sync::Arc;

use docstore::{LoadedDocument, Place, ResultDetails};
use engine::UnknownValues;
use model::Collection;
use retrieval_core::fusion::{Calibration, Tail};
use retrieval_core::statistics::CollectionStatistics;

use super::source_policy::SourcePolicy;
use super::vectors::RankedDocument;

/// Factor on the score of a preferred domain: enough to win against near equals, too little to lift documents that hardly
/// match.
const PREFERENCE: f64 = 1.5;

/// A document that the first stage found, with everything known about it so far.
pub struct Candidate {
    pub document: Arc<RankedDocument>,
    /// The document with the beginning of its content, if this search read it.
    pub loaded: Option<Box<LoadedDocument>>,
    pub collection: Collection,
    /// Position in the first stage's list, from 0.
    pub position: usize,
    /// Comparable within one list; higher is better.
    pub first_stage_score: f32,
    /// Final score: 0 before ranking. Comparable within one search; higher is better.
    pub score: f64,
    /// Evidence of the semantic search, in best lexical scores of all lists.
    pub meaning: f64,
    /// Positions of the matching passages, best first; empty before ranking.
    pub passages: Vec<usize>,
    /// True if a passage contains a word of the query, as far as ranking read.
    pub is_match: bool,
    /// Positions of the passages that are nearest in meaning, best first, as far as they are known.
    pub nearest: Vec<usize>,
    /// Parts of a long content to quote the phrase of an exact match from; see [`PhraseParts`](super::exact::PhraseParts).
    pub phrase_parts: Vec<usize>,
    /// True if ranking read the whole content.
    pub complete: bool,
    pub trace: Trace,
    /// True for the text of a search result that is not stored yet.
    pub is_new_snippet: bool,
    /// Position in the merged list of the search providers, from 0; `None` for a candidate of the index.
    pub provider_rank: Option<usize>,
}

/// Places of a candidate after the stages that ranked it, for the record of the search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trace {
    pub lexical: Option<Place>,
    /// Place among the nearest documents of the collection, with the cosine of the nearest passage.
    pub semantic: Option<Place>,
    pub model: Option<Place>,
    /// True if the source policy raised the score.
    pub preferred: bool,
}

impl Candidate {
    /// Returns the cosine of the nearest passage; `None` for a document that is not among the nearest of its collection.
    pub fn cosine(&self) -> Option<f32> {
        self.trace.semantic.map(|place| place.score as f32)
    }

    /// Returns what the record of the search says about the candidate.
    pub fn details(&self) -> ResultDetails {
        let Trace { lexical, semantic, model, preferred } = self.trace;
        ResultDetails {
            // A stored snippet may have replaced the state that was ranked.
            capture_id: self.loaded.as_ref().map_or(self.document.state.capture_id, |loaded| loaded.capture.capture_id),
            index: self.collection.index(),
            score: self.score,
            first_stage: place(self.position, f64::from(self.first_stage_score)),
            lexical,
            semantic,
            model,
            preferred,
        }
    }
}

pub fn place(position: usize, score: f64) -> Place {
    Place { rank: u32::try_from(position + 1).unwrap_or(u32::MAX), score }
}

/// The candidates of one collection.
pub struct CandidateList {
    pub collection: Collection,
    pub candidates: Vec<Candidate>,
    pub statistics: CollectionStatistics,
    /// Documents in the collection.
    pub documents: u64,
    /// Documents in the collection that match by words.
    pub total: u64,
    /// Matching documents that the filters removed only for lack of a value.
    pub unknown_values: UnknownValues,
    /// Results that the source policy removed before `max_results` were found.
    pub filtered: usize,
    /// False if the collection was searched by providers only.
    pub is_indexed: bool,
    /// Result of the semantic search; `None` if there was none.
    pub semantic: Option<SemanticList>,
    /// Number of candidates of a search that goes no deeper for lack of results, with those of providers.
    pub regular: usize,
}

/// The nearest documents of a collection.
#[derive(Clone, Debug)]
pub struct SemanticList {
    /// Number of documents in the list.
    pub listed: usize,
    /// Number of documents that could be in the list: a lower bound if there are filters.
    pub documents: u64,
    /// Lowest cosine of the list.
    pub floor: f32,
    /// Cosines of unrelated documents; `None` if the list is short.
    pub tail: Option<Tail>,
    /// Quality of the model, if it is known.
    pub calibration: Option<Calibration>,
}

impl CandidateList {
    pub fn empty(collection: Collection) -> Self {
        Self {
            collection,
            candidates: Vec::new(),
            statistics: CollectionStatistics::default(),
            documents: 0,
            total: 0,
            unknown_values: UnknownValues::default(),
            filtered: 0,
            is_indexed: true,
            semantic: None,
            regular: 0,
        }
    }

    /// Sorts by score, ties by the first stage's score, then by its order.
    fn sort_by_evidence(&mut self) {
        self.candidates.sort_by(|one, other| {
            let first_stage = other.first_stage_score.total_cmp(&one.first_stage_score);
            other.score.total_cmp(&one.score).then(first_stage).then(one.position.cmp(&other.position))
        });
    }

    /// Sorts by the scores of the lexical ranker, and notes the places.
    pub fn sort_by_lexical_evidence(&mut self) {
        self.sort_by_evidence();
        for (position, candidate) in self.candidates.iter_mut().enumerate() {
            candidate.trace.lexical = Some(place(position, candidate.score));
        }
    }

    /// Replaces all scores by those of the first stage, with the evidence of the semantic search, and sorts by them.
    pub fn sort_by_first_stage(&mut self) {
        let scores = self.candidates.iter().map(|candidate| f64::from(candidate.first_stage_score));
        let best = scores.fold(0.0, f64::max);
        let scale = if best > 0.0 { best } else { 1.0 };
        for candidate in &mut self.candidates {
            candidate.score = f64::from(candidate.first_stage_score) + scale * candidate.meaning;
        }
        self.sort_by_evidence();
    }

    /// Sorts by the first stage's scores, and assigns the present scores in descending order: the best candidate of the
    /// first stage gets the highest. So the scores stay on the scale of all lists, which those of the first stage are not.
    pub fn restore_first_stage_order(&mut self) {
        let mut scores: Vec<f64> = self.candidates.iter().map(|candidate| candidate.score).collect();
        scores.sort_unstable_by(|one, other| other.total_cmp(one));
        self.sort_by_first_stage();
        for (candidate, score) in self.candidates.iter_mut().zip(scores) {
            candidate.score = score;
        }
    }

    /// Replaces all scores by a model's, given in the order of the candidates, and sorts by them. Ties keep their order.
    pub fn sort_by_model(&mut self, scores: impl Iterator<Item = f64>) {
        for (candidate, score) in self.candidates.iter_mut().zip(scores) {
            candidate.score = score;
        }
        self.sort_by_score();
        for (position, candidate) in self.candidates.iter_mut().enumerate() {
            candidate.trace.model = Some(place(position, candidate.score));
        }
    }

    /// Sorts by score. Ties keep their order.
    pub fn sort_by_score(&mut self) {
        self.candidates.sort_by(|one, other| other.score.total_cmp(&one.score));
    }

    /// Returns the best `max_results` candidates, best first, with the policy's domains preferred.
    pub fn best(mut self, policy: &SourcePolicy, max_results: usize) -> Vec<Candidate> {
        if policy.has_preference() {
            for candidate in &mut self.candidates {
                candidate.trace.preferred = policy.prefers(&candidate.document);
                candidate.score = preferred_score(candidate, policy);
            }
            self.sort_by_score();
        }
        self.candidates.into_iter().filter(distinct(self.collection)).take(max_results).collect()
    }

    /// Sorts by score with the policy's domains preferred, and keeps the scores. Ties keep their order.
    pub fn sort_by_preference(&mut self, policy: &SourcePolicy) {
        if !policy.has_preference() {
            return;
        }
        let candidates = std::mem::take(&mut self.candidates).into_iter();
        let mut scored: Vec<(f64, Candidate)> = candidates.map(|one| (preferred_score(&one, policy), one)).collect();
        scored.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        self.candidates = scored.into_iter().map(|(_, candidate)| candidate).collect();
    }

    /// Keeps one of the candidates with the same text: the first one of a preferred domain, or the first one.
    pub fn drop_copies(&mut self, policy: &SourcePolicy) {
        let mut order: Vec<usize> = (0..self.candidates.len()).collect();
        if policy.has_preference() {
            order.sort_by_key(|at| !policy.prefers(&self.candidates[*at].document));
        }
        let mut is_distinct = distinct(self.collection);
        let kept: HashSet<usize> = order.into_iter().filter(|at| is_distinct(&self.candidates[*at])).collect();
        let mut positions = 0..;
        self.candidates.retain(|_| positions.next().is_some_and(|at| kept.contains(&at)));
    }

    /// Returns the number of the best candidates that a model scores for `results` results: as many as a search has that goes no deeper.
    /// A deeper one finds hundreds, which would cost the model dozens of requests at once.
    pub fn count_for_model(&self, results: usize) -> usize {
        let legs = 1 + usize::from(self.semantic.is_some());
        self.candidates.len().min(self.regular.max(legs * engine::candidate_limit(results)))
    }

    /// Returns the number of results that the candidates can be.
    pub fn count_distinct(&self) -> usize {
        let mut is_distinct = distinct(self.collection);
        self.candidates.iter().filter(|one| is_distinct(one)).count()
    }
}

/// Returns the score of a candidate, raised if the policy prefers its domain.
fn preferred_score(candidate: &Candidate, policy: &SourcePolicy) -> f64 {
    if policy.prefers(&candidate.document) { PREFERENCE * candidate.score } else { candidate.score }
}

/// Returns the condition on candidates, asked in order, to be a result. Exact duplicates on the web are one; in a workspace each file is.
/// Pages without text differ by their title.
fn distinct(collection: Collection) -> impl FnMut(&Candidate) -> bool {
    let mut digests = HashSet::new();
    move |one| {
        collection != Collection::Web
            || one.document.terms.content_bytes() == 0
            || digests.insert(one.document.content_digest.clone())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use docstore::DocumentState;
    use model::{CaptureId, DocId, OrganizationId, Timestamp};
    use retrieval_core::analysis::Analyzers;
    use retrieval_core::rerank::{DocumentText, TermVector};
    use retrieval_core::site::Site;
    use uuid::Uuid;

    use super::*;

    /// Builds candidates of these scores: the first stage's, then the final ones.
    fn list(collection: Collection, scores: &[(f32, f64)]) -> CandidateList {
        let candidate = |(position, (first_stage_score, score)): (usize, &(f32, f64))| {
            let id = Uuid::from_u128(position as u128);
            let document = RankedDocument {
                state: DocumentState {
                    doc_id: DocId(id),
                    capture_id: CaptureId(id),
                    last_seen_at: Timestamp::UNIX_EPOCH,
                },
                published_at: None,
                content_digest: format!("sha256:{}", position / 2).into(),
                is_snippet: false,
                host: format!("host{position}.example").into(),
                path: "/".into(),
                terms: TermVector::of(
                    &DocumentText { content: "text", ..DocumentText::default() },
                    0,
                    &mut Analyzers::default(),
                ),
            };
            Candidate {
                document: Arc::new(document),
                loaded: None,
                collection,
                position,
                first_stage_score: *first_stage_score,
                score: *score,
                meaning: 0.0,
                passages: Vec::new(),
                is_match: true,
                nearest: Vec::new(),
                phrase_parts: Vec::new(),
                complete: true,
                trace: Trace::default(),
                is_new_snippet: false,
                provider_rank: None,
            }
        };
        let candidates = scores.iter().enumerate().map(candidate).collect();
        CandidateList { candidates, ..CandidateList::empty(collection) }
    }

    fn workspace(scores: &[(f32, f64)]) -> CandidateList {
        list(Collection::Workspace(OrganizationId(Uuid::nil())), scores)
    }

    fn positions(candidates: &[Candidate]) -> Vec<usize> {
        candidates.iter().map(|candidate| candidate.position).collect()
    }

    #[test]
    fn equal_scores_fall_back_on_the_first_stage() {
        let mut list = workspace(&[(1.0, 0.5), (3.0, 0.5), (3.0, 0.5), (0.0, 0.7)]);
        list.sort_by_evidence();
        assert_eq!(positions(&list.candidates), [3, 1, 2, 0]);
        list.sort_by_first_stage();
        assert_eq!(positions(&list.candidates), [1, 2, 0, 3]);
        assert!((list.candidates[0].score - 3.0).abs() < 1e-9);
    }

    #[test]
    fn equal_model_scores_keep_the_lexical_order() {
        let mut list = workspace(&[(9.0, 0.1), (1.0, 0.9), (5.0, 0.5)]);
        list.sort_by_evidence();
        list.sort_by_model([0.2, 0.2, 0.8].into_iter());
        assert_eq!(positions(&list.candidates), [0, 1, 2]);
        list.sort_by_model([0.1, 0.9, 0.5].into_iter());
        assert_eq!(positions(&list.candidates), [1, 2, 0]);
    }

    #[test]
    fn first_stage_order_keeps_the_scores_of_the_list() {
        let mut list = workspace(&[(1.0, 0.5), (3.0, 0.0), (2.0, 0.7)]);
        list.sort_by_evidence();
        list.restore_first_stage_order();
        assert_eq!(positions(&list.candidates), [1, 2, 0]);
        let scores: Vec<f64> = list.candidates.iter().map(|candidate| candidate.score).collect();
        assert_eq!(scores, [0.7, 0.5, 0.0]);
    }

    #[test]
    fn first_stage_order_has_documents_found_by_meaning() {
        let mut list = workspace(&[(4.0, 0.5), (2.0, 0.4), (0.0, 0.3)]);
        list.candidates[2].meaning = 0.6;
        list.sort_by_first_stage();
        assert_eq!(positions(&list.candidates), [0, 2, 1]);
        assert!((list.candidates[1].score - 2.4).abs() < 1e-9);
    }

    #[test]
    fn duplicates_are_one_result_on_the_web_only() {
        let scores = [(0.0, 0.9), (0.0, 0.8), (0.0, 0.7), (0.0, 0.6)];
        let policy = SourcePolicy::default();
        assert_eq!(positions(&list(Collection::Web, &scores).best(&policy, 10)), [0, 2]);
        assert_eq!(positions(&workspace(&scores).best(&policy, 10)), [0, 1, 2, 3]);
        assert_eq!(positions(&workspace(&scores).best(&policy, 2)), [0, 1]);
    }

    #[test]
    fn preferred_domain_wins_against_near_equals_only() {
        let include_domains = vec![Site::parse("host2.example").unwrap()];
        let policy = SourcePolicy { include_domains, ..SourcePolicy::default() };
        let best = |score| positions(&workspace(&[(0.0, 0.9), (0.0, 0.8), (0.0, score)]).best(&policy, 3));
        assert_eq!(best(0.7), [2, 0, 1]);
        assert_eq!(best(0.1), [0, 1, 2]);
    }

    #[test]
    fn model_scores_as_many_candidates_as_one_search_finds_by_each_leg() {
        let mut list = workspace(&[(1.0, 1.0); 200]);
        assert_eq!([1, 10, 30, 500].map(|results| list.count_for_model(results)), [40, 40, 60, 200]);
        list.semantic = Some(SemanticList { listed: 100, documents: 500, floor: 0.1, tail: None, calibration: None });
        assert_eq!([1, 10, 30, 500].map(|results| list.count_for_model(results)), [80, 80, 120, 200]);
        assert_eq!(workspace(&[(1.0, 1.0); 3]).count_for_model(10), 3);
        // Of providers or preferred domains, or of an engine that needs more candidates.
        list.regular = 90;
        assert_eq!([10, 60].map(|results| list.count_for_model(results)), [90, 200]);
    }

    #[test]
    fn order_by_preference_keeps_the_scores() {
        let include_domains = vec![Site::parse("host2.example").unwrap(), Site::parse("host3.example").unwrap()];
        let policy = SourcePolicy { include_domains, ..SourcePolicy::default() };
        let mut list = workspace(&[(0.0, 0.9), (0.0, 0.8), (0.0, 0.7), (0.0, 0.1)]);
        list.sort_by_preference(&SourcePolicy::default());
        assert_eq!(positions(&list.candidates), [0, 1, 2, 3]);
        list.sort_by_preference(&policy);
        assert_eq!(positions(&list.candidates), [2, 0, 1, 3]);
        let scores: Vec<f64> = list.candidates.iter().map(|candidate| candidate.score).collect();
        assert_eq!(scores, [0.7, 0.9, 0.8, 0.1]);
    }
}
