//! Search for the best documents of one text that skips those that cannot be among them.
//!
//! Source: MaxScore (Turtle and Flood, "Query evaluation: strategies and optimizations", 1995). Once enough documents are found, those that
//! contain only terms of little weight cannot reach the least of them, so the long lists of these terms are only looked up for documents
//! that contain a weightier one.

use retrieval_core::bm25::single as bm25;
use tantivy::{DocId, TERMINATED};

use crate::posting_list::PostingList;
use crate::segment_search::{IdColumns, OpenTerm, Scratch, SegmentSearch, WINDOW};
use crate::top_hits::TopHits;

/// Factor for bounds of scores: sums of up to a hundred terms are rounded by less.
const ROUNDING: f32 = 1.0 + 1e-5;
/// Candidates of a window from which their order is read off the window instead of sorting them.
const MANY: usize = WINDOW / 64;

impl SegmentSearch<'_> {
    /// Offers all documents to `hits` that may be among the best. `terms` are in the order of their weights.
    pub fn find_best(&self, terms: &mut [OpenTerm], scratch: &mut Scratch, hits: &mut TopHits, ids: &IdColumns) {
        scratch.prepare(1, terms.iter());
        let rest = rest_bounds(terms);
        loop {
            let least = hits.least();
            let can_enter = |bound: f32| least.is_none_or(|least| bound * ROUNDING >= least);
            // Documents that contain only the other terms cannot be among the best.
            let essential = rest.iter().position(|bound| !can_enter(*bound)).unwrap_or(terms.len());
            let (essential, others) = terms.split_at_mut(essential);
            let lists = essential.iter().flat_map(|term| &term.variants);
            let start = lists.map(PostingList::doc).min().unwrap_or(TERMINATED);
            if start >= self.max_doc {
                return;
            }
            let end = self.max_doc.min(start.saturating_add(WINDOW as u32));
            for term in &mut *essential {
                self.add(term, &(start..end), scratch);
            }
            let Scratch { best, candidates, .. } = &mut *scratch;
            sort(candidates, best);
            for (term, bound) in others.iter_mut().zip(&rest[essential.len()..]) {
                candidates.retain(|at| {
                    let score = &mut best[*at as usize];
                    let is_kept = can_enter(*score + bound);
                    if is_kept {
                        *score += term.weight * self.best_saturation(&mut term.variants, start + at);
                    } else {
                        *score = 0.0;
                    }
                    is_kept
                });
            }
            for at in candidates.drain(..) {
                let (doc, score) = (start + at, std::mem::take(&mut best[at as usize]));
                if self.filter.admits(doc) {
                    hits.offer(score, || ids.id(doc));
                }
            }
        }
    }

    /// Adds the scores of one term to the documents of a window, and lists those that had none.
    fn add(&self, term: &mut OpenTerm, window: &std::ops::Range<DocId>, scratch: &mut Scratch) {
        let Scratch { best, variant, touched, candidates, .. } = scratch;
        let mut add = |at: DocId, saturation: f32| {
            let score = &mut best[at as usize];
            if *score == 0.0 {
                candidates.push(at);
            }
            *score += term.weight * saturation;
        };
        if let [postings] = &mut *term.variants {
            self.for_each_posting(postings, window, add);
            return;
        }
        for postings in &mut term.variants {
            self.raise_to_variant(postings, window, variant, touched);
        }
        for at in touched.drain(..) {
            add(at, std::mem::take(&mut variant[at as usize]));
        }
    }

    /// Returns the saturation of the best variant of a term in a document; 0 if it contains none.
    fn best_saturation(&self, variants: &mut [PostingList], doc: DocId) -> f32 {
        let found = variants.iter_mut().filter_map(|postings| postings.seek(doc));
        found.map(|frequency| self.saturation(doc, frequency)).fold(0.0, f32::max)
    }
}

/// Returns for each term how much it and all behind it add to a score at most.
fn rest_bounds(terms: &[OpenTerm]) -> Vec<f32> {
    let mut bounds: Vec<f32> = terms.iter().map(|term| term.weight * bm25::MAX_SATURATION).collect();
    for at in (1..bounds.len()).rev() {
        bounds[at - 1] += bounds[at];
    }
    bounds
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
