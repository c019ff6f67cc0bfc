use tantivy::postings::BlockSegmentPostings;
use tantivy::{DocId, TERMINATED};

/// Documents of one term in a segment, with their frequencies, read forward. Reads whole blocks, without the checks that
/// `SegmentPostings` makes for each document.
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

    /// Moves forward to the first document that is not below `doc`. Returns the frequency in `doc`, or `None` if it lacks the term.
    pub fn seek(&mut self, doc: DocId) -> Option<u32> {
        if self.doc() < doc {
            self.at = self.block.seek(doc);
        }
        let is_found = self.doc() == doc && doc != TERMINATED;
        self.block.freqs().get(self.at).copied().filter(|_| is_found)
    }

    /// Calls `visit` with each remaining document below `end` and its frequency.
    pub fn for_each_before(&mut self, end: DocId, mut visit: impl FnMut(DocId, u32)) {
        loop {
            let (docs, frequencies) = (self.block.docs(), self.block.freqs());
            let Some(last) = docs.last() else { return };
            let until = if *last < end { docs.len() } else { docs.partition_point(|doc| *doc < end) };
            for (doc, frequency) in docs.iter().zip(frequencies).take(until).skip(self.at) {
                visit(*doc, *frequency);
            }
            if until < docs.len() {
                self.at = self.at.max(until);
                return;
            }
            self.block.advance();
            self.at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use tantivy::schema::{IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
    use tantivy::{Index, IndexWriter, TantivyDocument, Term};

    use super::*;

    const DOCUMENTS: u32 = 1_000;

    /// Returns the documents of the word, which is in every third one.
    fn list() -> tantivy::Result<PostingList> {
        let mut schema = Schema::builder();
        let indexing = TextFieldIndexing::default().set_index_option(IndexRecordOption::WithFreqs);
        let field = schema.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
        let index = Index::create_in_ram(schema.build());
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 15_000_000)?;
        for doc in 0..DOCUMENTS {
            let mut document = TantivyDocument::default();
            let word = if doc % 3 == 0 { "tide " } else { "moon " };
            document.add_text(field, word.repeat((doc % 4 + 1) as usize));
            writer.add_document(document)?;
        }
        writer.commit()?;
        let searcher = index.reader()?.searcher();
        let inverted = searcher.segment_reader(0).inverted_index(field)?;
        let term = Term::from_field_text(field, "tide");
        let block = inverted.read_block_postings(&term, IndexRecordOption::WithFreqs)?;
        Ok(PostingList::new(block.expect("postings")))
    }

    /// Returns the documents and frequencies of the word, read up to each of the ends.
    fn read(ends: &[DocId]) -> tantivy::Result<Vec<(DocId, u32)>> {
        let mut list = list()?;
        let mut seen = Vec::new();
        for end in ends {
            list.for_each_before(*end, |doc, frequency| seen.push((doc, frequency)));
            let next = end.next_multiple_of(3);
            assert_eq!(list.doc(), if next < DOCUMENTS { next } else { TERMINATED }, "after {end}");
        }
        Ok(seen)
    }

    #[test]
    fn windows_of_any_size_read_each_document_once() -> tantivy::Result<()> {
        let all: Vec<(DocId, u32)> = (0..DOCUMENTS).step_by(3).map(|doc| (doc, doc % 4 + 1)).collect();
        // A block has 128 documents, 384 apart here.
        for ends in [&[DOCUMENTS][..], &[0, 1, 1, 384, 385, 400, 768, 999, 1_000, 2_000], &[u32::MAX]] {
            assert_eq!(read(ends)?, all, "{ends:?}");
        }
        let every: Vec<DocId> = (0..=DOCUMENTS).collect();
        assert_eq!(read(&every)?, all);
        Ok(())
    }

    #[test]
    fn documents_are_sought_forward() -> tantivy::Result<()> {
        for step in [1, 2, 5, 130, 500] {
            let mut list = list()?;
            for doc in (0..DOCUMENTS + 10).step_by(step) {
                let expected = (doc < DOCUMENTS && doc % 3 == 0).then_some(doc % 4 + 1);
                assert_eq!(list.seek(doc), expected, "{doc} in steps of {step}");
                assert_eq!(list.seek(doc), expected, "{doc} again");
            }
            assert_eq!(list.seek(TERMINATED), None);
        }
        let mut list = list()?;
        assert_eq!(list.seek(501), Some(2));
        assert_eq!(list.seek(3), None, "behind the current one");
        let mut rest = Vec::new();
        list.for_each_before(510, |doc, _| rest.push(doc));
        assert_eq!(rest, [501, 504, 507]);
        Ok(())
    }
}
