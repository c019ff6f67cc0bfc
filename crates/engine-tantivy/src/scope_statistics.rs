//! Statistics of a scope for ranking: number of documents, lengths, languages.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use engine::indexing::languages_by_frequency;
use model::Collection;
use retrieval_core::analysis::Language;
use tantivy::index::SegmentId;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, Searcher, SegmentReader, TERMINATED, Term};

use crate::schema::{Fields, names, scope_prefix};

/// Statistics of one scope at one generation of the index.
#[derive(Debug, Default)]
pub struct ScopeStatistics {
    pub documents: u64,
    /// Mean number of tokens in the field `terms`.
    pub average_terms: f32,
    /// Mean number of words in the body.
    pub average_body_words: f64,
    /// Languages, most common first. Unknown languages count as English, as in analysis.
    pub languages: Vec<Language>,
}

/// Statistics of one scope in one segment.
#[derive(Debug, Default)]
struct SegmentStatistics {
    documents: u64,
    terms: u64,
    body_words: u64,
    languages: Vec<(String, u64)>,
}

impl SegmentStatistics {
    /// Returns true if the segment has no document of the scope, not even a deleted one.
    fn is_empty(&self) -> bool {
        self.documents == 0 && self.languages.is_empty()
    }
}

/// Id of a segment and its number of deleted documents. Segments change only by deletions.
pub type SegmentState = (SegmentId, u32);

/// Statistics of a scope in a state of a segment.
type SegmentEntry = ((SegmentState, Collection), Arc<SegmentStatistics>);

/// Cache of statistics by scope and by segment.
///
/// Statistics of a scope are valid until the index changes. Those of unchanged segments are kept longer, so that the next
/// search after a small commit does not scan the whole index.
#[derive(Default)]
pub struct ScopeCache(Mutex<Cached>);

#[derive(Default)]
struct Cached {
    generation: u64,
    scopes: HashMap<Collection, Arc<ScopeStatistics>>,
    segments: HashMap<(SegmentState, Collection), Arc<SegmentStatistics>>,
}

/// Maximum number of cached scopes. The cache is cleared when it is full.
const MAX_SCOPES: usize = 10_000;

/// Maximum number of cached statistics of scopes in segments: some 10 MB. They are cleared when the cache is full.
const MAX_SEGMENTS: usize = 50_000;

impl ScopeCache {
    /// Returns the statistics of a scope from the cache, or computes them.
    pub fn get(
        &self,
        scope: Collection,
        searcher: &Searcher,
        fields: &Fields,
    ) -> tantivy::Result<Arc<ScopeStatistics>> {
        let generation = searcher.generation().generation_id();
        if let Some(statistics) = self.with(|cached| {
            cached.advance_to(generation, searcher);
            // A search that began before the last commit must not use statistics of the newer generation.
            if cached.generation == generation { cached.scopes.get(&scope).cloned() } else { None }
        }) {
            return Ok(statistics);
        }
        let mut segments: Vec<SegmentEntry> = Vec::new();
        for reader in searcher.segment_readers() {
            let key = (segment_state(reader), scope);
            let segment = match self.with(|cached| cached.segments.get(&key).cloned()) {
                Some(segment) => segment,
                None => Arc::new(segment_statistics(reader, scope, fields)?),
            };
            segments.push((key, segment));
        }
        let statistics = Arc::new(combine(segments.iter().map(|(_, segment)| &**segment)));
        self.with(|cached| {
            if cached.generation == generation {
                cached.insert(scope, Arc::clone(&statistics), segments);
            }
        });
        Ok(statistics)
    }

    fn with<T>(&self, access: impl FnOnce(&mut Cached) -> T) -> T {
        // Poisoning is harmless: only complete values are inserted under the lock.
        access(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Cached {
    fn advance_to(&mut self, generation: u64, searcher: &Searcher) {
        if generation > self.generation {
            self.generation = generation;
            self.scopes.clear();
            let current: HashSet<SegmentState> = searcher.segment_readers().iter().map(segment_state).collect();
            self.segments.retain(|(state, _), _| current.contains(state));
        }
    }

    fn insert(&mut self, scope: Collection, statistics: Arc<ScopeStatistics>, segments: Vec<SegmentEntry>) {
        if self.scopes.len() >= MAX_SCOPES {
            self.scopes.clear();
            self.segments.clear();
        }
        self.scopes.insert(scope, statistics);
        for (key, segment) in segments {
            // Finding out that a segment lacks a scope takes a look-up or two, and most segments lack most organizations.
            if segment.is_empty() {
                continue;
            }
            // Known ones are inserted again with the rest of their scope.
            if self.segments.len() >= MAX_SEGMENTS && !self.segments.contains_key(&key) {
                self.segments.clear();
            }
            self.segments.insert(key, segment);
        }
    }
}

pub fn segment_state(reader: &SegmentReader) -> SegmentState {
    (reader.segment_id(), reader.num_deleted_docs())
}

fn segment_statistics(
    reader: &SegmentReader,
    scope: Collection,
    fields: &Fields,
) -> tantivy::Result<SegmentStatistics> {
    let terms = reader.fast_fields().column_first_or_default::<u64>(names::TERM_COUNT)?;
    let body_words = reader.fast_fields().column_first_or_default::<u64>(names::BODY_WORDS)?;
    let mut statistics = SegmentStatistics::default();
    let mut add = |doc: DocId| {
        statistics.documents += 1;
        statistics.terms += terms.get_val(doc);
        statistics.body_words += body_words.get_val(doc);
    };
    let prefix = scope_prefix(scope);
    match scope {
        Collection::Web => reader.doc_ids_alive().for_each(&mut add),
        Collection::Workspace(_) => {
            let term = Term::from_field_text(fields.organization, &prefix);
            let index = reader.inverted_index(fields.organization)?;
            if let Some(mut postings) = index.read_postings(&term, IndexRecordOption::Basic)? {
                while postings.doc() != TERMINATED {
                    if !reader.is_deleted(postings.doc()) {
                        add(postings.doc());
                    }
                    postings.advance();
                }
            }
        }
    }
    let index = reader.inverted_index(fields.language)?;
    let mut stream = index.terms().range().ge(prefix.as_bytes()).into_stream()?;
    while stream.advance() {
        let Some(code) = stream.key().strip_prefix(prefix.as_bytes()) else { break };
        statistics.languages.push((String::from_utf8_lossy(code).into_owned(), u64::from(stream.value().doc_freq)));
    }
    Ok(statistics)
}

fn combine<'a>(segments: impl Iterator<Item = &'a SegmentStatistics>) -> ScopeStatistics {
    let mut sum = SegmentStatistics::default();
    let mut codes: Vec<(&str, u64)> = Vec::new();
    for segment in segments {
        sum.documents += segment.documents;
        sum.terms += segment.terms;
        sum.body_words += segment.body_words;
        codes.extend(segment.languages.iter().map(|(code, documents)| (code.as_str(), *documents)));
    }
    let mean = |total: u64| if sum.documents == 0 { 0.0 } else { total as f64 / sum.documents as f64 };
    ScopeStatistics {
        documents: sum.documents,
        average_terms: mean(sum.terms) as f32,
        average_body_words: mean(sum.body_words),
        languages: languages_by_frequency(codes),
    }
}

#[cfg(test)]
mod tests {
    use model::OrganizationId;
    use uuid::Uuid;

    use super::*;

    fn organization(number: usize) -> Collection {
        Collection::Workspace(OrganizationId(Uuid::from_u128(number as u128)))
    }

    /// Inserts the statistics of one organization after another in the same segments.
    fn insert(cached: &mut Cached, organizations: usize, states: &[SegmentState], segment: &Arc<SegmentStatistics>) {
        for number in 0..organizations {
            let scope = organization(number);
            let segments = states.iter().map(|state| ((*state, scope), Arc::clone(segment))).collect();
            cached.insert(scope, Arc::default(), segments);
            assert!(cached.segments.len() <= MAX_SEGMENTS && cached.scopes.len() <= MAX_SCOPES);
        }
    }

    #[test]
    fn cache_of_segments_is_bounded() {
        let states: Vec<SegmentState> = (0..100).map(|deleted| (SegmentId::generate_random(), deleted)).collect();
        let segment = Arc::new(SegmentStatistics { documents: 1, ..SegmentStatistics::default() });
        let mut cached = Cached::default();
        let full = MAX_SEGMENTS / states.len();
        insert(&mut cached, full, &states, &segment);
        assert_eq!(cached.segments.len(), MAX_SEGMENTS);
        insert(&mut cached, full + 1, &states, &segment);
        let last = organization(full);
        assert!(states.iter().all(|state| cached.segments.contains_key(&(*state, last))));
    }

    #[test]
    fn segments_without_the_scope_are_not_cached() {
        let states = [(SegmentId::generate_random(), 0)];
        let mut cached = Cached::default();
        insert(&mut cached, MAX_SCOPES + 1, &states, &Arc::default());
        assert_eq!((cached.segments.len(), cached.scopes.len()), (0, 1));
        let deleted = SegmentStatistics { languages: vec![("en".to_owned(), 1)], ..SegmentStatistics::default() };
        insert(&mut cached, 1, &states, &Arc::new(deleted));
        assert_eq!(cached.segments.len(), 1);
    }
}
