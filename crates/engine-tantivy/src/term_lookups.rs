use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{InvertedIndexReader, Searcher, SegmentReader, Term};

use crate::schema::Fields;
use crate::scope_statistics::{SegmentState, segment_state};

/// Maximum length of a posting list that is counted exactly in every segment with deleted documents.
const MAX_COUNTED_POSTINGS: u32 = 10_000;

/// Length of a posting list, in multiples of the segment's deleted documents, from which its living documents are estimated. Whatever
/// the deleted documents contain, the estimate is off by a seventh at most, which hardly affects the IDF of such a common word.
const ESTIMATED_FROM: u32 = 8;

/// Maximum number of cached frequencies. The cache is cleared when it is full.
const MAX_CACHED: usize = 10_000;

/// Cache of the exact numbers of documents of long posting lists in segments with deleted documents: counting them reads the lists.
#[derive(Default)]
pub struct FrequencyCache(Mutex<HashMap<(SegmentState, Term), u32>>);

impl FrequencyCache {
    /// Returns the number of documents with a term in one state of a segment from the cache, or counts them.
    fn get(
        &self,
        segment: SegmentState,
        term: &Term,
        count: impl FnOnce() -> tantivy::Result<u32>,
    ) -> tantivy::Result<u32> {
        let key = (segment, term.clone());
        if let Some(known) = self.lock().get(&key) {
            return Ok(*known);
        }
        let counted = count()?;
        let mut cached = self.lock();
        if cached.len() >= MAX_CACHED {
            cached.clear();
        }
        cached.insert(key, counted);
        Ok(counted)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(SegmentState, Term), u32>> {
        // Poisoning is harmless: only complete values are inserted under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Places of the postings of a search's stems, by segment. The number of documents that contain a stem is needed before its postings
/// are read, and each stem is looked up once for both.
pub struct TermLookups<'a> {
    infos: HashMap<String, Vec<Option<TermInfo>>>,
    frequencies: &'a FrequencyCache,
}

impl<'a> TermLookups<'a> {
    pub fn new(frequencies: &'a FrequencyCache) -> Self {
        Self { infos: HashMap::new(), frequencies }
    }

    /// Looks up a stem and returns the number of documents of the scope, without deleted ones, that contain it.
    pub fn document_frequency(
        &mut self,
        searcher: &Searcher,
        fields: &Fields,
        prefix: &str,
        stem: &str,
    ) -> tantivy::Result<u64> {
        let term = fields.scoped_term(fields.terms, prefix, stem);
        let (mut infos, mut sum) = (Vec::new(), 0);
        for reader in searcher.segment_readers() {
            let index = reader.inverted_index(fields.terms)?;
            let info = index.get_term_info(&term)?;
            sum += match &info {
                None => 0,
                Some(info) => self.living_documents(reader, &index, &term, info)?,
            };
            infos.push(info);
        }
        self.infos.insert(stem.to_owned(), infos);
        Ok(sum)
    }

    /// Returns the number of documents of a posting list that are not deleted.
    ///
    /// It is estimated only where the deleted documents cannot matter. They often have words in common, such as those of a site that was
    /// removed, so that their share of a list is not that of the segment.
    fn living_documents(
        &self,
        reader: &SegmentReader,
        index: &InvertedIndexReader,
        term: &Term,
        info: &TermInfo,
    ) -> tantivy::Result<u64> {
        let documents = u64::from(info.doc_freq);
        let Some(alive) = reader.alive_bitset() else { return Ok(documents) };
        let count = || -> tantivy::Result<u32> {
            let postings = index.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
            Ok(postings.doc_freq_given_deletes(alive))
        };
        if info.doc_freq <= MAX_COUNTED_POSTINGS {
            return Ok(u64::from(count()?));
        }
        if reader.num_deleted_docs() > info.doc_freq / ESTIMATED_FROM {
            return Ok(u64::from(self.frequencies.get(segment_state(reader), term, count)?));
        }
        let estimate = documents * u64::from(reader.num_docs()) / u64::from(reader.max_doc().max(1));
        // 0 stands for no documents.
        Ok(estimate.max(1))
    }

    /// Returns the place of a stem's postings in a segment, by the number of the segment.
    pub fn get(&self, stem: &str, segment: usize) -> Option<&TermInfo> {
        self.infos.get(stem)?.get(segment)?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use model::DocId;
    use tantivy::merge_policy::NoMergePolicy;
    use tantivy::{Index, IndexWriter, TantivyDocument};
    use uuid::Uuid;

    use super::*;
    use crate::line_tokenizer::{LineTokenizer, TOKENIZER};

    /// Documents of each of two scopes, `a` and `b`. All contain one word.
    const DOCUMENTS: u32 = 12_000;

    /// Returns the frequencies of the word in both scopes after some documents of `a` were removed.
    fn frequencies(removed: u32) -> tantivy::Result<(u64, u64)> {
        let fields = Fields::new();
        let index = Index::create_in_ram(fields.schema.clone());
        index.tokenizers().register(TOKENIZER, LineTokenizer::default());
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 50_000_000)?;
        // Otherwise the writer removes the deleted documents for good.
        writer.set_merge_policy(Box::new(NoMergePolicy));
        let id = |number: u32| DocId(Uuid::from_u128(u128::from(number)));
        for number in 0..2 * DOCUMENTS {
            let scope = if number < DOCUMENTS { "a" } else { "b" };
            let mut document = TantivyDocument::default();
            document.add_bytes(fields.id, id(number).0.as_bytes());
            document.add_text(fields.terms, format!("{scope}\nword\n"));
            writer.add_document(document)?;
        }
        writer.commit()?;
        for number in 0..removed {
            writer.delete_term(fields.id_term(id(number)));
        }
        writer.commit()?;
        let searcher = index.reader()?.searcher();
        assert_eq!(searcher.segment_readers().len(), 1);
        let cache = FrequencyCache::default();
        let mut lookups = TermLookups::new(&cache);
        let mut frequency = |scope| lookups.document_frequency(&searcher, &fields, scope, "word");
        let both = (frequency("a")?, frequency("b")?);
        assert_eq!((frequency("a")?, frequency("b")?), both, "cached");
        Ok(both)
    }

    #[test]
    fn deleted_documents_with_a_common_word_do_not_count() -> tantivy::Result<()> {
        let documents = u64::from(DOCUMENTS);
        assert_eq!(frequencies(0)?, (documents, documents));
        assert_eq!(frequencies(DOCUMENTS - 3)?, (3, documents));
        assert_eq!(frequencies(DOCUMENTS)?, (0, documents));
        Ok(())
    }

    #[test]
    fn frequencies_of_common_words_are_close_estimates_if_few_documents_are_deleted() -> tantivy::Result<()> {
        let (removed, documents) = (1_000, u64::from(DOCUMENTS));
        let (partly_removed, whole) = frequencies(removed)?;
        assert!(partly_removed.abs_diff(documents - u64::from(removed)) <= documents / 8, "{partly_removed}");
        assert!(whole.abs_diff(documents) <= documents / 8, "{whole}");
        Ok(())
    }
}
