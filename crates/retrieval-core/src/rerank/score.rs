//! Evidence of the query's own terms: fields, proximity, the best passage.

use super::matching::{Field, MatchedCandidate, Occurrence, Passage};
use super::parameters::{
    B_BODY, B_SHORT, BEST_PASSAGE, FEEDBACK, HEADINGS, K1, LONG_QUESTION, NEAR, NEAR_POSITIONS, ORDERED,
    ORDERED_POSITIONS, SHARPNESS, TITLE,
};
use crate::bm25::{B, idf, length_norm, saturation};
use crate::query_matcher::QueryMatcher;
use crate::statistics::CollectionStatistics;

/// Scores candidates from term weights and average lengths.
pub(super) struct Scorer {
    /// Weight by term.
    weights: Vec<f64>,
    /// Weight of those that any candidate found by words contains.
    matched_weight: f64,
    title_length: f64,
    headings_length: f64,
    body_length: f64,
    passage_length: f64,
    /// Occurrences by term for each field: buffers reused for every candidate.
    counts: [Vec<f64>; 3],
}

impl Scorer {
    /// `found` tells which candidates were found by words: average lengths and frequencies are those of these.
    pub fn new(
        matcher: &QueryMatcher,
        matched: &[MatchedCandidate],
        found: &[bool],
        statistics: &CollectionStatistics,
    ) -> Self {
        let typical = || matched.iter().zip(found).filter(|(_, found)| **found).map(|(candidate, _)| candidate);
        let terms = matcher.terms.len();
        let mean = |lengths: &mut dyn Iterator<Item = usize>| {
            let (total, count) = lengths.fold((0, 0), |(total, count), length| (total + length, count + 1));
            (total as f64 / f64::max(count as f64, 1.0)).max(1.0)
        };
        let body_length = if statistics.average_length >= 1.0 {
            statistics.average_length
        } else {
            mean(&mut typical().map(|candidate| candidate.body.length))
        };
        // Those beyond the limit have no length, and their number depends on how much was read of the document.
        let passages = typical().flat_map(|candidate| &candidate.passages).map(|passage| passage.length);
        let matching = count_candidates(terms, typical());
        let weights = weights(matcher, &matching, typical().count(), statistics);
        Self {
            matched_weight: matching
                .iter()
                .zip(&weights)
                .filter(|(count, _)| **count > 0)
                .map(|(_, weight)| weight)
                .sum(),
            weights,
            title_length: mean(&mut typical().map(|candidate| candidate.title.length)),
            headings_length: mean(&mut typical().map(|candidate| candidate.headings.length)),
            body_length,
            // Passages are compared with whole documents: being shorter than most does not make one more relevant.
            passage_length: mean(&mut passages.filter(|length| *length > 0)).max(body_length),
            counts: [vec![0.0; terms], vec![0.0; terms], vec![0.0; terms]],
        }
    }

    /// Returns the total weight of the terms that any candidate found by words contains, the unit of scores.
    pub fn matched_weight(&self) -> f64 {
        self.matched_weight
    }

    /// Returns the fraction of a score that expansion terms of many candidates contribute.
    pub fn feedback(&self) -> f64 {
        FEEDBACK * brevity(self.weights.len())
    }

    pub fn body_length(&self) -> f64 {
        self.body_length
    }

    /// Returns the score of a candidate and those of its passages.
    pub fn score(&mut self, candidate: &MatchedCandidate) -> (f64, Vec<f64>) {
        let title = length_norm(candidate.title.length, self.title_length, B_SHORT);
        let headings = length_norm(candidate.headings.length, self.headings_length, B_SHORT);
        let body = length_norm(candidate.body.length, self.body_length, B_BODY);
        count(&candidate.title.occurrences, &mut self.counts[0]);
        count(&candidate.headings.occurrences, &mut self.counts[1]);
        count(&candidate.body.occurrences, &mut self.counts[2]);
        let [in_title, in_headings, in_body] = &self.counts;
        // BM25F sums the fields before the frequency saturates (Robertson, Zaragoza and Taylor, "Simple BM25 Extension
        // to Multiple Weighted Fields", CIKM 2004).
        let terms = self.weights.iter().enumerate().map(|(term, weight)| {
            let frequency =
                TITLE * in_title[term] / title + HEADINGS * in_headings[term] / headings + in_body[term] / body;
            weight * saturation(frequency, K1)
        });
        let mut score: f64 = terms.sum();
        score += self.proximity(&candidate.body, body) + TITLE * self.proximity(&candidate.title, title);

        let passages: Vec<f64> =
            candidate.passages.iter().map(|passage| self.passage(passage, &candidate.body.occurrences)).collect();
        let best = passages.iter().copied().fold(0.0, f64::max);
        (score + BEST_PASSAGE * (best - score).max(0.0), passages)
    }

    /// Scores a passage like a document, with the headings above it.
    fn passage(&mut self, passage: &Passage, body: &[Occurrence]) -> f64 {
        if passage.occurrences.is_empty() && passage.heading_terms.is_empty() {
            return 0.0;
        }
        let norm = length_norm(passage.length, self.passage_length, B);
        let [in_headings, _, in_text] = &mut self.counts;
        count(&body[passage.occurrences.clone()], in_text);
        in_headings.fill(0.0);
        passage.heading_terms.iter().for_each(|term| in_headings[usize::from(*term)] = 1.0);
        let terms = self.weights.iter().enumerate();
        terms.map(|(term, weight)| weight * saturation(HEADINGS * in_headings[term] + in_text[term] / norm, K1)).sum()
    }

    /// Returns the additional score of adjacent query terms that are near each other in the text.
    fn proximity(&self, field: &Field, norm: f64) -> f64 {
        let terms = self.weights.len();
        if terms < 2 || field.occurrences.len() < 2 {
            return 0.0;
        }
        // Indexed by the later term of each pair.
        let (mut ordered, mut near) = (vec![0.0; terms], vec![0.0; terms]);
        let mut last: Vec<Option<u32>> = vec![None; terms];
        for found in &field.occurrences {
            let term = usize::from(found.term);
            let distance =
                |other: usize| last.get(other).copied().flatten().map(|at| found.position.saturating_sub(at));
            if let Some(distance) = term.checked_sub(1).and_then(distance) {
                ordered[term] += f64::from(u8::from((1..=ORDERED_POSITIONS).contains(&distance)));
                near[term] += f64::from(u8::from(distance <= NEAR_POSITIONS));
            }
            if distance(term + 1).is_some_and(|distance| distance <= NEAR_POSITIONS) {
                near[term + 1] += 1.0;
            }
            last[term] = Some(found.position);
        }
        let pairs = (1..terms).map(|term| {
            let weight = self.weights[term - 1] + self.weights[term];
            weight * (ORDERED * saturation(ordered[term] / norm, K1) + NEAR * saturation(near[term] / norm, K1))
        });
        pairs.sum()
    }
}

/// Returns the share of the terms in a long question that a question of [`LONG_QUESTION`] terms has; 1 for shorter ones.
pub(super) fn brevity(terms: usize) -> f64 {
    (LONG_QUESTION as f64 / terms.max(1) as f64).min(1.0)
}

/// Raises weights to a power that grows from 1 with the length of the question, and keeps their sum.
fn sharpen(weights: &mut [f64]) {
    let power = 1.0 + SHARPNESS * (1.0 - brevity(weights.len()));
    let total: f64 = weights.iter().sum();
    if power == 1.0 || total <= 0.0 {
        return;
    }
    weights.iter_mut().for_each(|weight| *weight = weight.powf(power));
    let factor = total / weights.iter().sum::<f64>();
    weights.iter_mut().for_each(|weight| *weight *= factor);
}

/// Returns the weight of each term: its rarity in the collection times its weight in the query, sharpened for a long
/// question.
///
/// `matching` are the numbers of those `candidates` that contain each term: the collection contains at least those, whatever the
/// statistics say.
fn weights(matcher: &QueryMatcher, matching: &[u64], candidates: usize, statistics: &CollectionStatistics) -> Vec<f64> {
    let documents = statistics.documents.max(candidates as u64) as f64;
    let terms = matcher.terms.iter().zip(matching).map(|(term, matching)| {
        let known = term.variants.iter().filter_map(|variant| statistics.document_frequency.get(variant));
        let frequency = known.copied().max().unwrap_or(0).max(*matching) as f64;
        // Statistics may be older than the candidates: a term in more documents than there are has no weight.
        f64::from(term.weight) * idf(frequency, (documents - frequency).max(-0.5))
    });
    let mut weights: Vec<f64> = terms.collect();
    sharpen(&mut weights);
    weights
}

/// Returns the number of candidates that contain each term.
fn count_candidates<'a>(terms: usize, candidates: impl Iterator<Item = &'a MatchedCandidate>) -> Vec<u64> {
    let mut matching = vec![0_u64; terms];
    let mut seen_in = vec![usize::MAX; terms];
    for (index, candidate) in candidates.enumerate() {
        for field in [&candidate.title, &candidate.headings, &candidate.body] {
            for term in field.occurrences.iter().map(|found| usize::from(found.term)) {
                if seen_in[term] != index {
                    seen_in[term] = index;
                    matching[term] += 1;
                }
            }
        }
    }
    matching
}

fn count(occurrences: &[Occurrence], counts: &mut [f64]) {
    counts.fill(0.0);
    occurrences.iter().for_each(|found| counts[usize::from(found.term)] += 1.0);
}
