//! Exact in-memory engine for tests.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use model::{Collection, DocId, Generation, IndexName};
use retrieval_core::analysis::{Analyzers, Language, QueryTerm};
use retrieval_core::bm25::single as bm25;

use crate::indexing::{Site, TermSink, domain_suffixes, index_terms, languages_by_frequency, path_prefixes};
use crate::search_terms::SearchTerms;
use crate::{
    Change, EngineError, Filters, FirstStageRequest, FirstStageResponse, Hit, IndexDocument, SearchEngine, SemanticHit,
    SemanticRequest, Snapshot, UnknownValues,
};

/// Search engine that scans every document.
#[derive(Default)]
pub struct MemoryEngine {
    indexes: Mutex<HashMap<IndexName, BTreeMap<DocId, Entry>>>,
    generations: Mutex<HashMap<IndexName, Generation>>,
    /// Number of changes of all indexes. Changes under the lock of the indexes.
    changes: AtomicU64,
}

struct Entry {
    document: IndexDocument,
    frequencies: HashMap<String, u32>,
    /// Words between phrase breaks.
    segments: Vec<Vec<String>>,
    terms: u64,
    body_words: u64,
}

impl TermSink for Entry {
    fn term(&mut self, stem: &str, times: u32) {
        *self.frequencies.entry(stem.to_owned()).or_default() += times;
        self.terms += u64::from(times);
    }

    fn word(&mut self, word: &str) {
        if let Some(segment) = self.segments.last_mut() {
            segment.push(word.to_owned());
        }
    }

    fn phrase_break(&mut self) {
        self.segments.push(Vec::new());
    }
}

impl Entry {
    fn new(document: &IndexDocument) -> Self {
        let mut entry = Entry {
            document: document.clone(),
            frequencies: HashMap::new(),
            segments: vec![Vec::new()],
            terms: 0,
            body_words: 0,
        };
        entry.body_words = index_terms(document, &mut Analyzers::default(), &mut entry);
        entry
    }

    fn is_in(&self, collection: Collection) -> bool {
        self.document.collection == collection
    }

    /// Returns the values that the filters need and the document lacks; `None` if a filter excludes the document.
    fn missing(&self, filters: &Filters) -> Option<UnknownValues> {
        let document = &self.document;
        let is_on = |site: Site<'_>| {
            domain_suffixes(&document.host).any(|own| own == site.domain)
                && site.path.is_none_or(|path| path_prefixes(&document.path).any(|own| own == path))
        };
        let is_in = |sites: &[String]| sites.iter().any(|site| is_on(Site::of(site)));
        let is_lacking = |passes: Option<bool>| match passes {
            Some(true) => Some(0),
            Some(false) => None,
            None => Some(1),
        };
        let equals = |filter: &Option<String>, value: &Option<String>| {
            filter.as_ref().map_or(Some(true), |filter| value.as_ref().map(|value| value == filter))
        };
        let (after, before) = (filters.published_after, filters.published_before);
        let is_within = match (after, before) {
            (None, None) => Some(true),
            _ => document
                .published_at
                .map(|at| after.is_none_or(|after| at > after) && before.is_none_or(|before| at < before)),
        };
        let missing = UnknownValues {
            language: is_lacking(equals(&filters.language, &document.language))?,
            country: is_lacking(equals(&filters.country, &document.country))?,
            published_at: is_lacking(is_within)?,
        };
        let is_allowed =
            (filters.include_domains.is_empty() || is_in(&filters.include_domains)) && !is_in(&filters.exclude_domains);
        let is_labelled =
            filters.labels.is_empty() || document.labels.iter().any(|label| filters.labels.contains(label));
        (is_allowed && is_labelled).then_some(missing)
    }

    fn contains_phrase(&self, phrase: &[String]) -> bool {
        self.segments.iter().any(|segment| segment.windows(phrase.len()).any(|w| w == phrase))
    }
}

impl MemoryEngine {
    fn lock(&self) -> MutexGuard<'_, HashMap<IndexName, BTreeMap<DocId, Entry>>> {
        self.indexes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl SearchEngine for MemoryEngine {
    async fn first_stage(&self, request: &FirstStageRequest) -> Result<FirstStageResponse, EngineError> {
        let indexes = self.lock();
        let empty = BTreeMap::new();
        let index = indexes.get(&request.collection.index()).unwrap_or(&empty);
        let collection: Vec<&Entry> = index.values().filter(|entry| entry.is_in(request.collection)).collect();
        let languages = match &request.filters.language {
            Some(language) => Language::from_code(language).into_iter().collect(),
            None => languages_by_frequency(
                collection.iter().map(|entry| (entry.document.language.as_deref().unwrap_or_default(), 1)),
            ),
        };
        let frequency = |stem: &str| {
            let count = collection.iter().filter(|entry| entry.frequencies.contains_key(stem)).count();
            Ok::<_, Infallible>(count as u64)
        };
        let documents = collection.len() as u64;
        let Ok(terms) = SearchTerms::analyze(request, &languages, documents, frequency);
        let mean = |total: u64| if documents == 0 { 0.0 } else { total as f64 / documents as f64 };
        let average = mean(collection.iter().map(|entry| entry.terms).sum()) as f32;
        let mut hits: Vec<Hit> = Vec::new();
        let mut unknown_values = UnknownValues::default();
        for entry in collection.iter() {
            let score = score(entry, &terms, documents, average);
            let matches = match &terms.phrases {
                Some(phrases) => phrases.iter().any(|phrase| entry.contains_phrase(phrase)),
                None => score > 0.0,
            };
            match entry.missing(&request.filters).filter(|_| matches) {
                Some(missing) if missing == UnknownValues::default() => {
                    hits.push(Hit { doc_id: entry.document.doc_id, score });
                }
                Some(missing) => unknown_values += missing,
                None => {}
            }
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.doc_id.cmp(&b.doc_id)));
        let total = hits.len() as u64;
        hits.truncate(request.limit.max(1));
        let average_length = mean(collection.iter().map(|entry| entry.body_words).sum());
        let statistics = terms.into_statistics(documents, average_length);
        let snapshot = Some(Snapshot(self.changes.load(Ordering::Relaxed)));
        Ok(FirstStageResponse { hits, snapshot, total, unknown_values, statistics })
    }

    async fn semantic(&self, request: &SemanticRequest) -> Result<Vec<SemanticHit>, EngineError> {
        let indexes = self.lock();
        let Some(index) = indexes.get(&request.collection.index()) else { return Ok(Vec::new()) };
        let hit = |entry: &Entry| {
            let vectors = entry.document.vectors.as_ref().filter(|vectors| vectors.space == request.space)?;
            let comparable =
                vectors.passages.iter().filter(|passage| passage.dimensions() == request.vector.dimensions());
            let cosines = comparable.map(|passage| passage.cosine(&request.vector));
            let is_match = entry.is_in(request.collection)
                && entry.missing(&request.filters).is_some_and(|missing| missing == UnknownValues::default());
            let cosine = cosines.max_by(f32::total_cmp).filter(|_| is_match)?;
            Some(SemanticHit { doc_id: entry.document.doc_id, cosine })
        };
        let mut hits: Vec<SemanticHit> = index.values().filter_map(hit).collect();
        hits.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then(a.doc_id.cmp(&b.doc_id)));
        hits.truncate(request.limit.max(1));
        Ok(hits)
    }

    async fn apply(&self, index: IndexName, changes: Vec<Change>) -> Result<(), EngineError> {
        let mut indexes = self.lock();
        self.changes.fetch_add(1, Ordering::Relaxed);
        let index = indexes.entry(index).or_default();
        for change in changes {
            match change {
                Change::Put(document) => drop(index.insert(document.doc_id, Entry::new(&document))),
                Change::Remove { doc_id } => drop(index.remove(&doc_id)),
            }
        }
        Ok(())
    }

    async fn clear(&self, index: IndexName) -> Result<(), EngineError> {
        let mut indexes = self.lock();
        self.changes.fetch_add(1, Ordering::Relaxed);
        indexes.remove(&index);
        Ok(())
    }

    async fn document_count(&self, index: IndexName) -> Result<u64, EngineError> {
        Ok(self.lock().get(&index).map_or(0, |documents| documents.len() as u64))
    }

    async fn ping(&self) -> Result<(), EngineError> {
        Ok(())
    }

    async fn needs_rebuild(&self) -> Result<Vec<IndexName>, EngineError> {
        Ok(Vec::new())
    }

    async fn generation(&self, index: IndexName) -> Result<Option<Generation>, EngineError> {
        Ok(self.generations.lock().unwrap_or_else(PoisonError::into_inner).get(&index).copied())
    }

    async fn set_generation(&self, index: IndexName, generation: Generation) -> Result<(), EngineError> {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner).insert(index, generation);
        Ok(())
    }

    async fn mark_rebuilt(&self, _: &[IndexName]) -> Result<(), EngineError> {
        Ok(())
    }
}

/// Returns the score of the best matching text; 0 without a matching term.
fn score(entry: &Entry, terms: &SearchTerms, documents: u64, average: f32) -> f32 {
    let norm = bm25::length_norm(entry.terms as f32, average);
    let score_text = |text: &Vec<QueryTerm>| -> f32 {
        let score_term = |term: &QueryTerm| {
            let frequency = term.variants.iter().filter_map(|variant| entry.frequencies.get(variant)).max();
            let saturation = frequency.map_or(0.0, |times| bm25::saturation(*times as f32, norm));
            saturation * term.weight * bm25::idf(terms.frequency_of(term, documents), documents)
        };
        text.iter().map(score_term).sum()
    };
    terms.texts.iter().map(score_text).fold(0.0, f32::max)
}
