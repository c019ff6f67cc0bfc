use std::collections::HashMap;

use tantivy::Searcher;
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;

use crate::schema::Fields;

/// Maximum length of a posting list that is counted exactly in a segment with deleted documents.
///
/// For longer lists the share of deleted documents is assumed to be that of the segment, which hardly affects the IDF of
/// such a common word.
const MAX_COUNTED_POSTINGS: u32 = 10_000;

/// Places of the postings of a search's stems, by segment. The number of documents that contain a stem is needed before its postings
/// are read, and each stem is looked up once for both.
#[derive(Default)]
pub struct TermLookups(HashMap<String, Vec<Option<TermInfo>>>);

impl TermLookups {
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
            sum += match (&info, reader.alive_bitset()) {
                (None, _) => 0,
                (Some(info), None) => u64::from(info.doc_freq),
                (Some(info), Some(alive)) if info.doc_freq <= MAX_COUNTED_POSTINGS => {
                    let postings = index.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
                    u64::from(postings.doc_freq_given_deletes(alive))
                }
                (Some(info), Some(_)) => {
                    u64::from(info.doc_freq) * u64::from(reader.num_docs()) / u64::from(reader.max_doc().max(1))
                }
            };
            infos.push(info);
        }
        self.0.insert(stem.to_owned(), infos);
        Ok(sum)
    }

    /// Returns the place of a stem's postings in a segment, by the number of the segment.
    pub fn get(&self, stem: &str, segment: usize) -> Option<&TermInfo> {
        self.0.get(stem)?.get(segment)?.as_ref()
    }
}
