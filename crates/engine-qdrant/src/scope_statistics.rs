//! Statistics of a scope for ranking: number of documents, mean length, languages, document frequencies.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use engine::indexing::languages_by_frequency;
use engine::{EngineError, Lifetime};
use model::Collection;
use qdrant_client::Qdrant;
use qdrant_client::qdrant::facet_value::Variant;
use qdrant_client::qdrant::{FacetCounts, FacetHit, Filter};
use retrieval_core::analysis::Language;

use crate::counts::count;
use crate::document::field;
use crate::filter;
use crate::nodes::{Call, Nodes};

/// Document frequencies by stem. Missing stems were not counted.
pub type Counts = BTreeMap<String, u64>;

/// Number of documents from which a batch of changes hardly affects the statistics of a scope. They are kept for the TTL.
const LARGE: u64 = 20_000;

/// Maximum number of cached scopes. The cache is cleared when it is full.
const MAX_SCOPES: usize = 10_000;

/// Maximum number of cached document frequencies per scope. They are cleared when the cache is full.
const MAX_COUNTS: usize = 10_000;

/// Maximum number of distinct lengths or languages that are counted.
const MAX_VALUES: u64 = 2_000;

#[derive(Debug, Default)]
pub struct ScopeStatistics {
    pub documents: u64,
    /// Mean number of words in the body, to the precision of stored lengths.
    pub average_length: f64,
    /// Mean number of occurrences of terms.
    pub average_terms: f64,
    /// Languages, most common first. Unknown languages count as English, as in analysis.
    pub languages: Vec<Language>,
    /// Cached document frequencies by stem.
    counts: Mutex<HashMap<String, u64>>,
}

/// Requests the statistics of a scope.
pub async fn request(nodes: &Nodes, collection: &str, scope: Collection) -> Result<ScopeStatistics, EngineError> {
    let conditions = filter::of_scope(scope);
    let (documents, lengths, terms, languages) = tokio::try_join!(
        count(nodes, collection, conditions.clone()),
        facet(nodes, collection, field::LENGTH, &conditions),
        facet(nodes, collection, field::TERM_COUNT, &conditions),
        facet(nodes, collection, field::LANGUAGE, &conditions),
    )?;
    Ok(ScopeStatistics::new(documents, &lengths, &terms, &languages))
}

/// Counts the documents by the value of a field.
async fn facet(
    nodes: &Nodes,
    collection: &str,
    field: &str,
    conditions: &[qdrant_client::qdrant::Condition],
) -> Result<Vec<FacetHit>, EngineError> {
    let request = &FacetCounts {
        collection_name: collection.to_owned(),
        key: field.to_owned(),
        filter: Some(Filter::must(conditions.iter().cloned())),
        limit: Some(MAX_VALUES),
        exact: Some(true),
        ..FacetCounts::default()
    };
    let facet = |client: Qdrant| async move { client.facet(request.clone()).await };
    Ok(nodes.call("counting documents by value", Call::Read, facet).await?.hits)
}

impl ScopeStatistics {
    fn new(documents: u64, lengths: &[FacetHit], terms: &[FacetHit], languages: &[FacetHit]) -> Self {
        let mut codes: Vec<(&str, u64)> = languages
            .iter()
            .filter_map(|hit| match variant(hit)? {
                Variant::StringValue(code) => Some((code.as_str(), hit.count)),
                Variant::IntegerValue(_) | Variant::BoolValue(_) => None,
            })
            .collect();
        let known: u64 = codes.iter().map(|(_, documents)| documents).sum();
        codes.push(("", documents.saturating_sub(known)));
        Self {
            documents,
            average_length: mean(lengths),
            average_terms: mean(terms),
            languages: languages_by_frequency(codes),
            counts: Mutex::default(),
        }
    }

    /// Returns the cached document frequencies of the stems.
    pub fn cached_counts<'a>(&self, stems: impl Iterator<Item = &'a String>) -> Counts {
        let cached = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        stems.filter_map(|stem| cached.get(stem).map(|count| (stem.clone(), *count))).collect()
    }

    /// Takes over the cached document frequencies of earlier statistics, unless the scope has changed since. Those of 0 are
    /// counted again: a document may have been replaced by another one of the same length, and one with a new word must be found.
    fn keep_counts(&mut self, earlier: &Self) {
        let Self { documents, average_length, average_terms, languages, counts: _ } = earlier;
        let is_unchanged = self.documents == *documents
            && self.average_length == *average_length
            && self.average_terms == *average_terms
            && self.languages == *languages;
        if is_unchanged {
            let mut counts = earlier.counts.lock().unwrap_or_else(PoisonError::into_inner).clone();
            counts.retain(|_, count| *count > 0);
            self.counts = Mutex::new(counts);
        }
    }

    pub fn cache_counts(&self, counts: &Counts) {
        let mut cached = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.len() + counts.len() > MAX_COUNTS {
            cached.clear();
        }
        cached.extend(counts.iter().map(|(stem, count)| (stem.clone(), *count)));
    }
}

/// Returns the mean of the counted values; 0 without any.
fn mean(hits: &[FacetHit]) -> f64 {
    let (mut sum, mut counted) = (0.0, 0);
    for hit in hits {
        if let Some(Variant::IntegerValue(value)) = variant(hit) {
            sum += *value as f64 * hit.count as f64;
            counted += hit.count;
        }
    }
    if counted == 0 { 0.0 } else { sum / counted as f64 }
}

fn variant(hit: &FacetHit) -> Option<&Variant> {
    hit.value.as_ref()?.variant.as_ref()
}

/// Cache of statistics by scope.
#[derive(Default)]
pub struct ScopeCache(Mutex<Cached>);

/// State of the cache when statistics were missing.
#[derive(Debug)]
pub struct Renewal {
    generation: u64,
    expired: Option<Arc<ScopeStatistics>>,
}

#[derive(Default)]
struct Cached {
    /// Number of invalidations by this process.
    generation: u64,
    scopes: HashMap<Collection, CachedScope>,
}

struct CachedScope {
    lifetime: Lifetime,
    statistics: Arc<ScopeStatistics>,
}

impl ScopeCache {
    /// Returns cached statistics, or as an error what to renew them from.
    pub fn get(&self, scope: Collection) -> Result<Arc<ScopeStatistics>, Renewal> {
        self.with(|cached| {
            let Cached { generation, scopes } = cached;
            let Some(CachedScope { lifetime, statistics }) = scopes.get_mut(&scope) else {
                return Err(Renewal { generation: *generation, expired: None });
            };
            if lifetime.is_current() {
                return Ok(Arc::clone(statistics));
            }
            Err(Renewal { generation: *generation, expired: Some(Arc::clone(statistics)) })
        })
    }

    /// Caches requested statistics and returns them. They are not cached if the cache was invalidated since [`get`](Self::get).
    pub fn put(
        &self,
        scope: Collection,
        Renewal { generation, expired }: Renewal,
        mut statistics: ScopeStatistics,
    ) -> Arc<ScopeStatistics> {
        if let Some(expired) = expired {
            statistics.keep_counts(&expired);
        }
        self.with(|cached| {
            let is_current = cached.generation == generation;
            if !is_current {
                statistics.counts = Mutex::default();
            }
            let statistics = Arc::new(statistics);
            if is_current || statistics.documents >= LARGE {
                if cached.scopes.len() >= MAX_SCOPES {
                    cached.scopes.clear();
                }
                let statistics = Arc::clone(&statistics);
                cached.scopes.insert(scope, CachedScope { lifetime: Lifetime::start(), statistics });
            }
            statistics
        })
    }

    /// Removes small scopes after a change of an index.
    pub fn invalidate_small(&self) {
        self.with(|cached| {
            cached.generation += 1;
            cached.scopes.retain(|_, cached| cached.statistics.documents >= LARGE);
        });
    }

    /// Clears the cache after an index was emptied.
    pub fn clear(&self) {
        self.with(|cached| {
            cached.generation += 1;
            cached.scopes.clear();
        });
    }

    fn with<T>(&self, access: impl FnOnce(&mut Cached) -> T) -> T {
        // Poisoning is harmless: only complete values are inserted under the lock.
        access(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use qdrant_client::qdrant::FacetValue;

    use super::*;

    fn hit(variant: Variant, count: u64) -> FacetHit {
        FacetHit { value: Some(FacetValue { variant: Some(variant) }), count }
    }

    #[test]
    fn statistics_are_computed_from_counts_by_value() {
        let lengths = [hit(Variant::IntegerValue(2), 4), hit(Variant::IntegerValue(10), 6)];
        let languages = [hit(Variant::StringValue("de".into()), 6), hit(Variant::StringValue("xx".into()), 1)];
        let statistics = ScopeStatistics::new(10, &lengths, &[hit(Variant::IntegerValue(3), 10)], &languages);
        assert_eq!(statistics.documents, 10);
        assert!((statistics.average_length - 6.8).abs() < 1e-9);
        assert_eq!(statistics.average_terms, 3.0);
        assert_eq!(statistics.languages, [Language::German, Language::English]);
        assert_eq!(ScopeStatistics::new(0, &[], &[], &[]).average_length, 0.0);
    }

    fn of(documents: u64) -> ScopeStatistics {
        ScopeStatistics { documents, ..ScopeStatistics::default() }
    }

    fn missing(cache: &ScopeCache) -> Renewal {
        cache.get(Collection::Web).expect_err("no cached statistics")
    }

    /// Makes the statistics of the web older.
    fn age(cache: &ScopeCache, by: Duration) {
        cache.with(|cached| cached.scopes.get_mut(&Collection::Web).expect("cached statistics").lifetime.age(by));
    }

    #[test]
    fn statistics_requested_before_a_change_are_cached_only_if_large() {
        let cache = ScopeCache::default();
        let before = missing(&cache);
        cache.invalidate_small();
        cache.put(Collection::Web, before, of(LARGE - 1));
        cache.put(Collection::Web, missing(&cache), of(LARGE - 1));
        assert!(cache.get(Collection::Web).is_ok());
        cache.invalidate_small();
        let before = missing(&cache);
        cache.invalidate_small();
        cache.put(Collection::Web, before, of(LARGE));
        cache.invalidate_small();
        assert!(cache.get(Collection::Web).is_ok());
        cache.clear();
        assert!(cache.get(Collection::Web).is_err());
    }

    #[test]
    fn one_search_renews_expired_statistics() {
        let cache = ScopeCache::default();
        cache.put(Collection::Web, missing(&cache), of(5));
        age(&cache, Lifetime::TTL);
        let renewal = missing(&cache);
        assert_eq!(cache.get(Collection::Web).expect("the expired ones").documents, 5);
        // That search has failed.
        age(&cache, Lifetime::RENEWAL);
        missing(&cache);
        assert_eq!(cache.put(Collection::Web, renewal, of(6)).documents, 6);
        age(&cache, Lifetime::TTL - Lifetime::RENEWAL);
        assert_eq!(cache.get(Collection::Web).expect("the new ones").documents, 6);
        age(&cache, Lifetime::MAX_AGE);
        missing(&cache);
        missing(&cache);
    }

    #[test]
    fn document_frequencies_outlive_statistics_of_an_unchanged_scope() {
        let cache = ScopeCache::default();
        let stems = ["pump".to_owned(), "valve".to_owned()];
        let counts = Counts::from([("pump".to_owned(), 3)]);
        let cached = cache.put(Collection::Web, missing(&cache), of(5));
        cached.cache_counts(&counts);
        cached.cache_counts(&Counts::from([("valve".to_owned(), 0)]));
        age(&cache, Lifetime::TTL);
        let unchanged = cache.put(Collection::Web, missing(&cache), of(5));
        assert_eq!(unchanged.cached_counts(stems.iter()), counts);
        age(&cache, Lifetime::TTL);
        let changed = cache.put(Collection::Web, missing(&cache), of(6));
        assert_eq!(changed.cached_counts(stems.iter()), Counts::new());
        changed.cache_counts(&counts);
        age(&cache, Lifetime::TTL);
        let renewal = missing(&cache);
        cache.invalidate_small();
        let invalidated = cache.put(Collection::Web, renewal, of(6));
        assert_eq!(invalidated.cached_counts(stems.iter()), Counts::new());
    }
}
