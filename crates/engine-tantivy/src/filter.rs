//! Filters and phrases, evaluated as a set of admitted documents per segment.

use engine::Filters;
use model::Timestamp;
use tantivy::columnar::Column;
use tantivy::query::{EnableScoring, PhraseQuery, Query, TermQuery, TermSetQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, Searcher, SegmentReader, Term};

use crate::schema::{Fields, names};

/// Filters and phrase of a request as tantivy queries, for all segments.
pub struct FilterPlan {
    required: Vec<Box<dyn Query>>,
    excluded: Option<Box<dyn Query>>,
    published_after: Option<i64>,
}

/// A [`FilterPlan`] evaluated on one segment.
pub struct SegmentFilter {
    allowed: Option<Bits>,
    alive: Option<tantivy::fastfield::AliveBitSet>,
    published: Option<(Column<i64>, i64)>,
}

impl FilterPlan {
    /// Plans the filters. A given phrase must not be empty.
    pub fn new(filters: &Filters, phrase: Option<&[String]>, prefix: &str, fields: &Fields) -> Self {
        let mut required: Vec<Box<dyn Query>> = Vec::new();
        let exact = |term| -> Box<dyn Query> { Box::new(TermQuery::new(term, IndexRecordOption::Basic)) };
        if let Some(language) = &filters.language {
            required.push(exact(fields.scoped_term(fields.language, prefix, language)));
        }
        if let Some(country) = &filters.country {
            required.push(exact(Term::from_field_text(fields.country, country)));
        }
        if !filters.include_domains.is_empty() {
            required.push(any_of(fields.domain, &filters.include_domains));
        }
        match phrase {
            Some([word]) => required.push(exact(fields.scoped_term(fields.words, prefix, word))),
            Some(words) => {
                let terms = words.iter().map(|word| fields.scoped_term(fields.words, prefix, word)).collect();
                required.push(Box::new(PhraseQuery::new(terms)));
            }
            None => {}
        }
        let excluded = (!filters.exclude_domains.is_empty()).then(|| any_of(fields.domain, &filters.exclude_domains));
        Self { required, excluded, published_after: filters.published_after.map(Timestamp::as_millis) }
    }

    pub fn in_segment(&self, searcher: &Searcher, reader: &SegmentReader) -> tantivy::Result<SegmentFilter> {
        let mut allowed: Option<Bits> = None;
        for query in &self.required {
            let matching = Bits::matching(&**query, searcher, reader)?;
            allowed = Some(match allowed {
                Some(before) => before.combine(&matching, |a, b| a & b),
                None => matching,
            });
        }
        if let Some(query) = &self.excluded {
            let excluded = Bits::matching(&**query, searcher, reader)?;
            let before = allowed.unwrap_or_else(|| Bits::all(reader.max_doc()));
            allowed = Some(before.combine(&excluded, |a, b| a & !b));
        }
        let published = match self.published_after {
            Some(after) => Some((reader.fast_fields().i64(names::PUBLISHED_AT)?, after)),
            None => None,
        };
        Ok(SegmentFilter { allowed, alive: reader.alive_bitset().cloned(), published })
    }
}

impl SegmentFilter {
    pub fn admits(&self, doc: DocId) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.contains(doc))
            && self.alive.as_ref().is_none_or(|alive| alive.is_alive(doc))
            && self.published.as_ref().is_none_or(|(column, after)| column.first(doc).is_some_and(|at| at > *after))
    }

    /// Returns true if no document of the segment can pass.
    pub fn admits_none(&self) -> bool {
        self.allowed.as_ref().is_some_and(Bits::is_empty)
    }
}

fn any_of(field: Field, values: &[String]) -> Box<dyn Query> {
    Box::new(TermSetQuery::new(values.iter().map(|value| Term::from_field_text(field, value))))
}

/// Set of documents of one segment.
struct Bits(Vec<u64>);

impl Bits {
    fn all(max_doc: DocId) -> Self {
        Self(vec![u64::MAX; max_doc.div_ceil(64) as usize])
    }

    fn matching(query: &dyn Query, searcher: &Searcher, reader: &SegmentReader) -> tantivy::Result<Self> {
        let mut bits = vec![0u64; reader.max_doc().div_ceil(64) as usize];
        let weight = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
        weight.for_each_no_score(reader, &mut |docs| {
            for doc in docs {
                bits[*doc as usize / 64] |= 1 << (doc % 64);
            }
        })?;
        Ok(Self(bits))
    }

    fn combine(mut self, other: &Self, with: impl Fn(u64, u64) -> u64) -> Self {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a = with(*a, *b));
        self
    }

    fn contains(&self, doc: DocId) -> bool {
        self.0[doc as usize / 64] & (1 << (doc % 64)) != 0
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }
}
