//! What ranking needs to know of a scope: how many documents, how long, in which languages.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use model::Collection;
use retrieval_core::analysis::Language;
use tantivy::index::SegmentId;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, Searcher, SegmentReader, TERMINATED, Term};

use crate::schema::{Fields, names, prefix_of};

/// Of one scope at one state of its index.
#[derive(Debug, Default)]
pub struct ScopeStatistics {
    pub documents: u64,
    /// Mean number of tokens in the field `terms`.
    pub average_terms: f32,
    /// Mean number of words of the body.
    pub average_body_words: f64,
    /// Commonest first. Documents of no known language count as English, as they are analysed.
    pub languages: Vec<Language>,
}

/// The part of one segment.
#[derive(Debug, Default)]
struct Part {
    documents: u64,
    terms: u64,
    body_words: u64,
    languages: Vec<(String, u64)>,
}

/// A segment changes only by deletions.
type SegmentState = (SegmentId, u32);

/// Remembers statistics until the index changes, and those of segments beyond that: a small commit must not
/// make the next search read through the whole index.
#[derive(Default)]
pub struct ScopeCache(Mutex<Cached>);

#[derive(Default)]
struct Cached {
    generation: u64,
    scopes: HashMap<Collection, Arc<ScopeStatistics>>,
    parts: HashMap<(SegmentState, Collection), Arc<Part>>,
}

/// Scopes remembered at a time; beyond it all are forgotten and the busy ones come back.
const MAX_SCOPES: usize = 10_000;

impl ScopeCache {
    pub fn of(&self, scope: Collection, searcher: &Searcher, fields: &Fields) -> tantivy::Result<Arc<ScopeStatistics>> {
        let generation = searcher.generation().generation_id();
        if let Some(known) = self.with(|cached| {
            cached.advance_to(generation, searcher);
            // A search that began before the last commit sees the older state and must not use the newer.
            if cached.generation == generation { cached.scopes.get(&scope).cloned() } else { None }
        }) {
            return Ok(known);
        }
        let mut parts = Vec::new();
        for reader in searcher.segment_readers() {
            let key = (state_of(reader), scope);
            let part = match self.with(|cached| cached.parts.get(&key).cloned()) {
                Some(part) => part,
                None => Arc::new(part_of(reader, scope, fields)?),
            };
            parts.push((key, part));
        }
        let statistics = Arc::new(combine(parts.iter().map(|(_, part)| &**part)));
        self.with(|cached| {
            if cached.generation == generation {
                if cached.scopes.len() >= MAX_SCOPES {
                    cached.scopes.clear();
                    cached.parts.clear();
                }
                cached.parts.extend(parts);
                cached.scopes.insert(scope, Arc::clone(&statistics));
            }
        });
        Ok(statistics)
    }

    fn with<T>(&self, read: impl FnOnce(&mut Cached) -> T) -> T {
        // Whole values go in and out under the lock: a panic elsewhere cannot have left half of one.
        read(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Cached {
    fn advance_to(&mut self, generation: u64, searcher: &Searcher) {
        if generation > self.generation {
            self.generation = generation;
            self.scopes.clear();
            let current: HashSet<SegmentState> = searcher.segment_readers().iter().map(state_of).collect();
            self.parts.retain(|(state, _), _| current.contains(state));
        }
    }
}

fn state_of(reader: &SegmentReader) -> SegmentState {
    (reader.segment_id(), reader.num_deleted_docs())
}

fn part_of(reader: &SegmentReader, scope: Collection, fields: &Fields) -> tantivy::Result<Part> {
    let terms = reader.fast_fields().column_first_or_default::<u64>(names::TERM_COUNT)?;
    let body_words = reader.fast_fields().column_first_or_default::<u64>(names::BODY_WORDS)?;
    let mut part = Part::default();
    let mut add = |doc: DocId| {
        part.documents += 1;
        part.terms += terms.get_val(doc);
        part.body_words += body_words.get_val(doc);
    };
    let prefix = prefix_of(scope);
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
        part.languages.push((String::from_utf8_lossy(code).into_owned(), u64::from(stream.value().doc_freq)));
    }
    Ok(part)
}

fn combine<'a>(parts: impl Iterator<Item = &'a Part>) -> ScopeStatistics {
    let mut sum = Part::default();
    let mut languages: BTreeMap<Language, u64> = BTreeMap::new();
    for part in parts {
        sum.documents += part.documents;
        sum.terms += part.terms;
        sum.body_words += part.body_words;
        for (code, documents) in &part.languages {
            *languages.entry(Language::from_code(code).unwrap_or(Language::English)).or_default() += documents;
        }
    }
    let mut languages: Vec<(Language, u64)> = languages.into_iter().collect();
    languages.sort_by_key(|(language, documents)| (Reverse(*documents), *language));
    let mean = |total: u64| if sum.documents == 0 { 0.0 } else { total as f64 / sum.documents as f64 };
    ScopeStatistics {
        documents: sum.documents,
        average_terms: mean(sum.terms) as f32,
        average_body_words: mean(sum.body_words),
        languages: languages.into_iter().map(|(language, _)| language).collect(),
    }
}
