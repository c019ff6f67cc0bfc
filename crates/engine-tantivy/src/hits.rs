use std::cmp::Ordering;
use std::collections::BinaryHeap;

use engine::Hit;
use model::DocId;

/// The best hits seen so far: higher scores first, equal ones by document id. The order does not depend on
/// how documents are spread over segments, so that equal searches have equal answers whatever merges did.
pub struct BestHits {
    limit: usize,
    heap: BinaryHeap<Entry>,
}

struct Entry(Hit);

impl BestHits {
    pub fn new(limit: usize) -> Self {
        Self { limit: limit.max(1), heap: BinaryHeap::new() }
    }

    /// Takes a document in if it is good enough. Its id is only asked for when the score leaves it open.
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

    /// Best first.
    pub fn into_hits(self) -> Vec<Hit> {
        self.heap.into_sorted_vec().into_iter().map(|entry| entry.0).collect()
    }
}

/// Worse is greater, so that the heap's top is the first to go.
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
