//! Search for the best documents that skips those that cannot be among them.
//!
//! Source: MaxScore (Turtle and Flood, "Query evaluation: strategies and optimizations", 1995). Once enough documents are found, those that
//! contain only terms of little weight cannot reach the least of them, so the long lists of these terms are only looked up for documents
//! that contain a weightier one.

use retrieval_core::bm25::single as bm25;
use tantivy::{DocId, TERMINATED};

use crate::posting_list::PostingList;
use crate::segment_search::{IdColumns, OpenTerm, Scratch, SegmentSearch, WINDOW, next_doc};
use crate::top_hits::TopHits;

/// Limit of the saturation of frequent terms in short documents.
const MAX_SATURATION: f32 = bm25::K1 + 1.0;
/// Factor for bounds of scores: sums of up to a hundred terms are rounded by less.
const ROUNDING: f32 = 1.0 + 1e-5;
/// Candidates of a window from which their order is read off the window instead of sorting them.
const MANY: usize = WINDOW / 64;

impl SegmentSearch<'_> {
    /// Offers all documents to `hits` that may be among the best. The terms of each text are in the order of their weights.
    pub fn find_best(&self, texts: &mut [Vec<OpenTerm>], scratch: &mut Scratch, hits: &mut TopHits, ids: &IdColumns) {
        scratch.prepare(texts, true);
        let mut texts: Vec<Text> = texts.iter_mut().map(|terms| Text::new(terms)).collect();
        loop {
            let least = hits.least();
            let start = texts.iter_mut().map(|text| text.leave_out(least)).min().unwrap_or(TERMINATED);
            if start >= self.max_doc {
                return;
            }
            let window = start..self.window_end(start);
            for text in &mut texts {
                self.score_candidates(text, &window, least, scratch);
            }
            for at in scratch.found.drain(..) {
                let (doc, score) = (start + at, std::mem::take(&mut scratch.best[at as usize]));
                if self.filter.admits(doc) {
                    hits.offer(score, || ids.id(doc));
                }
            }
        }
    }

    /// Raises the scores of a window's documents to those for one text. Documents whose score for it is too low may be left out: if one is
    /// among the best nevertheless, it is so by another text.
    fn score_candidates(
        &self,
        text: &mut Text,
        window: &std::ops::Range<DocId>,
        least: Option<f32>,
        scratch: &mut Scratch,
    ) {
        let Text { terms, bounds, essential } = text;
        let (essential, others) = terms.split_at_mut(*essential);
        for term in &mut *essential {
            self.add(term, window, scratch);
        }
        let Scratch { best, sum, candidates, found, .. } = scratch;
        sort(candidates, sum);
        for (term, bound) in others.iter_mut().zip(&bounds[essential.len()..]) {
            candidates.retain(|at| {
                let score = &mut sum[*at as usize];
                let is_kept = can_enter(*score + bound, least);
                if is_kept {
                    *score += term.weight * self.best_saturation(&mut term.variants, window.start + at);
                } else {
                    *score = 0.0;
                }
                is_kept
            });
        }
        for at in candidates.drain(..) {
            let (score, best) = (std::mem::take(&mut sum[at as usize]), &mut best[at as usize]);
            if *best == 0.0 {
                found.push(at);
            }
            *best = best.max(score);
        }
    }

    /// Adds the scores of one term to the documents of a window, and lists those that had none.
    fn add(&self, term: &mut OpenTerm, window: &std::ops::Range<DocId>, scratch: &mut Scratch) {
        let Scratch { sum, variant, touched, candidates, .. } = scratch;
        let weight = term.weight;
        self.for_each_match(term, window, variant, touched, |at, saturation| {
            let score = &mut sum[at as usize];
            if *score == 0.0 {
                candidates.push(at);
            }
            *score += weight * saturation;
        });
    }

    /// Returns the saturation of the best variant of a term in a document; 0 if it contains none.
    fn best_saturation(&self, variants: &mut [PostingList], doc: DocId) -> f32 {
        let found = variants.iter_mut().filter_map(|postings| postings.seek(doc));
        found.map(|frequency| self.saturation(doc, frequency)).fold(0.0, f32::max)
    }
}

/// Terms of one text in a segment.
struct Text<'a> {
    terms: &'a mut [OpenTerm],
    /// Upper bounds of what each term and all behind it add to a score.
    bounds: Vec<f32>,
    /// Number of terms of which a document must contain one to be among the best. It falls while better documents are found.
    essential: usize,
}

impl<'a> Text<'a> {
    fn new(terms: &'a mut [OpenTerm]) -> Self {
        let mut bounds: Vec<f32> = terms.iter().map(|term| term.weight * MAX_SATURATION).collect();
        for at in (1..bounds.len()).rev() {
            bounds[at - 1] += bounds[at];
        }
        Self { essential: terms.len(), terms, bounds }
    }

    /// Leaves out the terms that are not enough for `least`. Returns the next document that contains another one.
    fn leave_out(&mut self, least: Option<f32>) -> DocId {
        self.essential = self.bounds.iter().position(|bound| !can_enter(*bound, least)).unwrap_or(self.terms.len());
        next_doc(self.terms[..self.essential].iter())
    }
}

/// Returns true if a score of at most `bound` may reach the least that a further document needs.
fn can_enter(bound: f32, least: Option<f32>) -> bool {
    least.is_none_or(|least| bound * ROUNDING >= least)
}

/// Sorts the positions of all scores that are not zero.
fn sort(candidates: &mut Vec<DocId>, scores: &[f32]) {
    if candidates.len() < MANY {
        candidates.sort_unstable();
        return;
    }
    candidates.clear();
    candidates.extend((0..).zip(scores).filter(|(_, score)| **score != 0.0).map(|(at, _)| at));
}
