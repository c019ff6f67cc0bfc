//! Filters and phrases, evaluated as sets of documents per segment.

use engine::indexing::Site;
use engine::{Filters, UnknownValues};
use model::{Collection, Timestamp};
use tantivy::columnar::Column;
use tantivy::query::{BooleanQuery, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, Searcher, SegmentReader, Term};

use crate::bits::Bits;
use crate::country_cache::CountryCache;
use crate::phrase::Phrase;
use crate::schema::{Fields, names, scope_prefix};

/// Filters of a request as tantivy queries, and its phrases, for all segments.
pub struct FilterPlan<'a> {
    required: Vec<Box<dyn Query>>,
    excluded: Option<Box<dyn Query>>,
    /// Phrases, any of which is required; `None` if there is no such condition.
    phrases: Option<Vec<Phrase>>,
    /// Terms of the language, and of an unknown one.
    language: Option<(Term, Term)>,
    country: Option<Term>,
    countries: &'a CountryCache,
    published: Option<Window>,
}

/// Publication times between two bounds, both exclusive.
#[derive(Clone, Copy)]
struct Window {
    after: Option<i64>,
    before: Option<i64>,
}

impl Window {
    fn of(filters: &Filters) -> Option<Self> {
        let after = filters.published_after.map(Timestamp::as_millis);
        let before = filters.published_before.map(Timestamp::as_millis);
        (after.is_some() || before.is_some()).then_some(Self { after, before })
    }

    fn contains(self, at: i64) -> bool {
        self.after.is_none_or(|after| at > after) && self.before.is_none_or(|before| at < before)
    }
}

/// A [`FilterPlan`] evaluated on one segment.
pub struct SegmentFilter {
    /// Documents that meet all conditions but publication time; `None` for all.
    allowed: Option<Bits>,
    alive: Option<tantivy::fastfield::AliveBitSet>,
    /// Documents that meet the conditions on phrases, domains and labels; `None` for all.
    base: Option<Bits>,
    language: Option<ValueBits>,
    country: Option<ValueBits>,
    published: Option<(Column<i64>, Window)>,
}

/// Documents of one segment by a value that they may lack.
struct ValueBits {
    matching: Bits,
    unknown: Bits,
}

impl<'a> FilterPlan<'a> {
    /// Plans the filters. If phrases are given, none of them is empty and there is at least one.
    pub fn new(
        filters: &Filters,
        phrases: Option<&[Vec<String>]>,
        prefix: &str,
        fields: &Fields,
        countries: &'a CountryCache,
    ) -> Self {
        let mut required: Vec<Box<dyn Query>> = Vec::new();
        if !filters.include_domains.is_empty() {
            required.push(any_site(fields, &filters.include_domains));
        }
        if !filters.labels.is_empty() {
            let terms = filters.labels.iter().map(|label| fields.scoped_term(fields.labels, prefix, label));
            required.push(any(terms.map(exact).collect()));
        }
        let phrases = phrases.map(|phrases| phrases.iter().map(|words| Phrase::new(words, prefix, fields)).collect());
        let excluded = (!filters.exclude_domains.is_empty()).then(|| any_site(fields, &filters.exclude_domains));
        let language_term = |code: &str| fields.scoped_term(fields.language, prefix, code);
        let language = filters.language.as_ref().map(|language| (language_term(language), language_term("")));
        let country = filters.country.as_ref().map(|country| Term::from_field_text(fields.country, country));
        Self { required, excluded, phrases, language, country, countries, published: Window::of(filters) }
    }

    /// Adds the condition that a document belongs to a collection, for searches without scoped terms.
    pub fn within(mut self, collection: Collection, fields: &Fields) -> Self {
        if collection != Collection::Web {
            self.required.push(exact(Term::from_field_text(fields.organization, &scope_prefix(collection))));
        }
        self
    }

    pub fn in_segment(&self, searcher: &Searcher, reader: &SegmentReader) -> tantivy::Result<SegmentFilter> {
        let mut base: Option<Bits> = None;
        for query in &self.required {
            let matching = Bits::matching(&**query, searcher, reader)?;
            base = Some(match base {
                Some(before) => before.and(&matching),
                None => matching,
            });
        }
        if let Some(query) = &self.excluded {
            let excluded = Bits::matching(&**query, searcher, reader)?;
            base = Some(base.unwrap_or_else(|| Bits::all(reader.max_doc())).and_not(&excluded));
        }
        if let Some(phrases) = &self.phrases {
            let mut matching = Bits::none(reader.max_doc());
            for phrase in phrases {
                // Positions of documents that fail otherwise are not read.
                phrase.add_matching(reader, base.as_ref(), &mut matching)?;
            }
            base = Some(matching);
        }
        let with_term = |term: &Term| Bits::matching(&*exact(term.clone()), searcher, reader);
        let language = match &self.language {
            Some((known, unknown)) => Some(ValueBits { matching: with_term(known)?, unknown: with_term(unknown)? }),
            None => None,
        };
        let country = match &self.country {
            Some(country) => {
                let known = self.countries.get(country.field(), searcher, reader)?;
                Some(ValueBits { matching: with_term(country)?, unknown: Bits::all(reader.max_doc()).and_not(&known) })
            }
            None => None,
        };
        let mut allowed = base.clone();
        for value in [&language, &country].into_iter().flatten() {
            allowed = Some(match allowed {
                Some(before) => before.and(&value.matching),
                None => value.matching.clone(),
            });
        }
        let published = match self.published {
            Some(window) => Some((reader.fast_fields().i64(names::PUBLISHED_AT)?, window)),
            None => None,
        };
        let alive = reader.alive_bitset().cloned();
        Ok(SegmentFilter { allowed, alive, base, language, country, published })
    }
}

impl SegmentFilter {
    pub fn admits(&self, doc: DocId) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.contains(doc))
            && self.is_alive(doc)
            && self
                .published
                .as_ref()
                .is_none_or(|(column, window)| column.first(doc).is_some_and(|at| window.contains(at)))
    }

    /// Returns the documents that meet all conditions but publication time, deleted ones included; `None` for all.
    pub fn allowed(&self) -> Option<&Bits> {
        self.allowed.as_ref()
    }

    /// Returns the values for lack of which a document is not admitted; none if a known value excludes it.
    pub fn missing(&self, doc: DocId) -> UnknownValues {
        let none = UnknownValues::default();
        if !self.is_alive(doc) || self.base.as_ref().is_some_and(|base| !base.contains(doc)) {
            return none;
        }
        let mut missing = none;
        for (value, count) in [(&self.language, &mut missing.language), (&self.country, &mut missing.country)] {
            if let Some(value) = value {
                if value.unknown.contains(doc) {
                    *count = 1;
                } else if !value.matching.contains(doc) {
                    return none;
                }
            }
        }
        if let Some((column, window)) = &self.published {
            match column.first(doc) {
                None => missing.published_at = 1,
                Some(at) if window.contains(at) => {}
                Some(_) => return none,
            }
        }
        missing
    }

    /// Returns true if a document may be excluded for lack of a value.
    pub fn needs_values(&self) -> bool {
        self.language.is_some() || self.country.is_some() || self.published.is_some()
    }

    /// Returns true if no document of the segment can pass, or could with further values.
    pub fn admits_none(&self) -> bool {
        let values = [&self.language, &self.country].into_iter().flatten();
        self.base.as_ref().is_some_and(Bits::is_empty)
            || values.into_iter().any(|value| value.matching.is_empty() && value.unknown.is_empty())
    }

    fn is_alive(&self, doc: DocId) -> bool {
        self.alive.as_ref().is_none_or(|alive| alive.is_alive(doc))
    }
}

fn exact(term: Term) -> Box<dyn Query> {
    Box::new(TermQuery::new(term, IndexRecordOption::Basic))
}

/// Returns the documents of any of the queries.
///
/// No `TermSetQuery`, not even for terms: it builds an automaton per segment, which fills a megabyte even for a single term.
fn any(queries: Vec<Box<dyn Query>>) -> Box<dyn Query> {
    Box::new(BooleanQuery::union(queries))
}

/// Returns the documents of any of the sites.
fn any_site(fields: &Fields, sites: &[String]) -> Box<dyn Query> {
    let documents = |site: &String| -> Box<dyn Query> {
        let Site { domain, path, .. } = Site::of(site);
        let of_domain = exact(Term::from_field_text(fields.domain, domain));
        match path {
            None => of_domain,
            Some(path) => {
                let of_path = exact(Term::from_field_text(fields.path, path));
                Box::new(BooleanQuery::intersection(vec![of_domain, of_path]))
            }
        }
    };
    any(sites.iter().map(documents).collect())
}
