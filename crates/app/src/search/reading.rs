//! Bytes of each content that a search ranks by.

use std::collections::HashSet;

use model::DocId;
use retrieval_core::rerank::ReadingLimits;

/// Bytes of the contents of one list of documents, by what these were found by.
pub struct Reading {
    by_words: HashSet<DocId>,
    limits: ReadingLimits,
}

impl Reading {
    /// Shares what ranking reads between documents of these lengths, given those that were found by words.
    pub fn of(by_words: HashSet<DocId>, lengths: impl Iterator<Item = (DocId, usize)>) -> Self {
        let limits = ReadingLimits::of(lengths.map(|(doc_id, bytes)| (bytes, by_words.contains(&doc_id))));
        Self { by_words, limits }
    }

    /// Returns the bytes that ranking reads of a document's content.
    pub fn limit(&self, doc_id: DocId) -> usize {
        self.limits.limit(self.by_words.contains(&doc_id))
    }
}
