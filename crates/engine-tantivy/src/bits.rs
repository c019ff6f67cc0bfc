use tantivy::query::{EnableScoring, Query};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Searcher, SegmentReader, TERMINATED};

/// Set of documents of one segment.
#[derive(Clone)]
pub struct Bits(Vec<u64>);

impl Bits {
    pub fn none(max_doc: DocId) -> Self {
        Self(vec![0; max_doc.div_ceil(64) as usize])
    }

    pub fn all(max_doc: DocId) -> Self {
        let mut bits = vec![u64::MAX; max_doc.div_ceil(64) as usize];
        if let Some(last) = bits.last_mut() {
            *last >>= (64 - max_doc % 64) % 64;
        }
        Self(bits)
    }

    pub fn matching(query: &dyn Query, searcher: &Searcher, reader: &SegmentReader) -> tantivy::Result<Self> {
        let mut bits = Self::none(reader.max_doc());
        let weight = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
        weight.for_each_no_score(reader, &mut |docs| docs.iter().for_each(|doc| bits.insert(*doc)))?;
        Ok(bits)
    }

    /// Returns the documents that have any term in a field.
    pub fn with_any_term(field: Field, reader: &SegmentReader) -> tantivy::Result<Self> {
        let mut bits = Self::none(reader.max_doc());
        let index = reader.inverted_index(field)?;
        let mut terms = index.terms().stream()?;
        while terms.advance() {
            let mut postings = index.read_postings_from_terminfo(terms.value(), IndexRecordOption::Basic)?;
            while postings.doc() != TERMINATED {
                bits.insert(postings.doc());
                postings.advance();
            }
        }
        Ok(bits)
    }

    pub fn and(self, other: &Self) -> Self {
        self.combine(other, |a, b| a & b)
    }

    pub fn and_not(self, other: &Self) -> Self {
        self.combine(other, |a, b| a & !b)
    }

    fn combine(mut self, other: &Self, with: impl Fn(u64, u64) -> u64) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a = with(*a, *b));
        self
    }

    pub fn insert(&mut self, doc: DocId) {
        self.0[doc as usize / 64] |= 1 << (doc % 64);
    }

    pub fn contains(&self, doc: DocId) -> bool {
        self.0[doc as usize / 64] & (1 << (doc % 64)) != 0
    }

    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Iterates over the documents in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = DocId> {
        self.0.iter().zip(0..).flat_map(|(word, at)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(64 * at + bit)
            })
        })
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }
}
