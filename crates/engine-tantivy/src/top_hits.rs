use std::cmp::Ordering;
use std::collections::BinaryHeap;

use engine::Hit;
use model::DocId;

/// Bounded collector of the best hits, by score and then by document id.
///
/// The order does not depend on the distribution of documents over segments, so that equal searches have equal responses
/// regardless of merges.
pub struct TopHits {
    limit: usize,
    heap: BinaryHeap<Entry>,
}

struct Entry(Hit);

impl TopHits {
    pub fn new(limit: usize) -> Self {
        Self { limit: limit.max(1), heap: BinaryHeap::new() }
    }

    /// Adds a document if it is among the best. The id is read only if the score does not exclude the document.
    pub fn offer(&mut self, score: f32, doc_id: impl FnOnce() -> DocId) {
        if self.heap.len() < self.limit {
            self.heap.push(Entry(Hit { doc_id: doc_id(), score }));
            return;
        }
        let Some(mut worst) = self.heap.peek_mut() else { return };
        if score < worst.0.score {
            return;
        }
        let entry = Entry(Hit { doc_id: doc_id(), score });
        if entry < *worst {
            *worst = entry;
        }
    }

    /// Returns the score that a further document needs at least; `None` while any is accepted.
    pub fn least(&self) -> Option<f32> {
        let is_full = self.heap.len() >= self.limit;
        self.heap.peek().filter(|_| is_full).map(|worst| worst.0.score)
    }

    /// Returns the hits, best first.
    pub fn into_hits(self) -> Vec<Hit> {
        self.heap.into_sorted_vec().into_iter().map(|entry| entry.0).collect()
    }
}

/// Worse hits are greater, so that the top of the heap is the first to be replaced.
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.score.total_cmp(&self.0.score).then(self.0.doc_id.cmp(&other.0.doc_id))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}
