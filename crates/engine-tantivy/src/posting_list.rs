use tantivy::postings::BlockSegmentPostings;
use tantivy::{DocId, TERMINATED};

/// Documents of one term in a segment, with their frequencies, read forward. Reads whole blocks: a call per document, as of
/// `SegmentPostings`, costs as much as its score.
pub struct PostingList {
    block: BlockSegmentPostings,
    /// Position in the block.
    at: usize,
}

impl PostingList {
    pub fn new(block: BlockSegmentPostings) -> Self {
        Self { block, at: 0 }
    }

    /// Returns the current document, or `TERMINATED` after the last one.
    pub fn doc(&self) -> DocId {
        self.block.docs().get(self.at).copied().unwrap_or(TERMINATED)
    }

    /// Calls `visit` with each remaining document below `end` and its frequency.
    pub fn for_each_before(&mut self, end: DocId, mut visit: impl FnMut(DocId, u32)) {
        loop {
            let (docs, frequencies) = (self.block.docs(), self.block.freqs());
            let Some(last) = docs.last() else { return };
            let until = if *last < end { docs.len() } else { docs.partition_point(|doc| *doc < end) };
            let range = self.at..until.max(self.at);
            for (doc, frequency) in docs[range.clone()].iter().zip(&frequencies[range]) {
                visit(*doc, *frequency);
            }
            if until < docs.len() {
                self.at = until.max(self.at);
                return;
            }
            self.block.advance();
            self.at = 0;
        }
    }
}
