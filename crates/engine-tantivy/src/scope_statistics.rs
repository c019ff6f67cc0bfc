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

/// Id of a segment and its number of deleted documents. Segments change only by deletions.
pub type SegmentState = (SegmentId, u32);

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
        let mut segments = Vec::new();
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
                if cached.scopes.len() >= MAX_SCOPES {
                    cached.scopes.clear();
                    cached.segments.clear();
                }
                cached.segments.extend(segments);
                cached.scopes.insert(scope, Arc::clone(&statistics));
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
