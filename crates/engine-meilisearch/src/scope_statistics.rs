//! Statistics of a scope for ranking: number of documents, mean length, languages, document frequencies.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use model::Collection;
use retrieval_core::analysis::Language;

use crate::document::attribute;
use crate::filter;
use crate::multi_search::{TokenMatches, TokenQuery};
use crate::query_plan::Counts;

/// Cache TTL, since other processes may change the index. Changes by this process invalidate the cache immediately.
const TTL: Duration = Duration::from_secs(10);

/// Maximum number of cached scopes. The cache is cleared when it is full.
const MAX_SCOPES: usize = 10_000;

/// Maximum number of cached document frequencies per scope. They are cleared when the cache is full.
const MAX_COUNTS: usize = 10_000;

#[derive(Debug, Default)]
pub struct ScopeStatistics {
    pub documents: u64,
    /// Mean number of words in the body, to the precision of stored lengths.
    pub average_length: f64,
    /// Languages, most common first. Unknown languages count as English, as in analysis.
    pub languages: Vec<Language>,
    /// Cached document frequencies by stem, with the same lifetime as the other statistics.
    counts: Mutex<HashMap<String, u64>>,
}

/// Returns the query for the statistics of a scope.
pub fn query(scope: Collection) -> TokenQuery {
    TokenQuery {
        filter: filter::for_scope(scope),
        facets: &[attribute::LENGTH, attribute::LANGUAGE],
        ..TokenQuery::default()
    }
}

impl ScopeStatistics {
    /// Computes the statistics from the response to [`query`].
    pub fn from_facets(response: &TokenMatches) -> Self {
        let values = |attribute: &str| response.facet_distribution.get(attribute).into_iter().flatten();
        let (mut words, mut counted) = (0.0, 0);
        for (length, documents) in values(attribute::LENGTH) {
            words += length.parse().unwrap_or(0.0) * *documents as f64;
            counted += documents;
        }
        let mut languages: BTreeMap<Language, u64> = BTreeMap::new();
        let mut known = 0;
        for (code, documents) in values(attribute::LANGUAGE) {
            *languages.entry(Language::from_code(code).unwrap_or(Language::English)).or_default() += documents;
            known += documents;
        }
        if response.total > known {
            *languages.entry(Language::English).or_default() += response.total - known;
        }
        let mut languages: Vec<(Language, u64)> = languages.into_iter().collect();
        languages.sort_by_key(|(language, documents)| (Reverse(*documents), *language));
        Self {
            documents: response.total,
            average_length: if counted == 0 { 0.0 } else { words / counted as f64 },
            languages: languages.into_iter().map(|(language, _)| language).collect(),
            counts: Mutex::default(),
        }
    }

    /// Returns the cached document frequencies of the stems.
    pub fn cached_counts<'a>(&self, stems: impl Iterator<Item = &'a String>) -> Counts {
        let cached = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        stems.filter_map(|stem| cached.get(stem).map(|count| (stem.clone(), *count))).collect()
    }

    pub fn cache_counts(&self, counts: &Counts) {
        let mut cached = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.len() + counts.len() > MAX_COUNTS {
            cached.clear();
        }
        cached.extend(counts.iter().map(|(stem, count)| (stem.clone(), *count)));
    }
}

/// Cache of statistics by scope.
#[derive(Default)]
pub struct ScopeCache(Mutex<Cached>);

#[derive(Default)]
struct Cached {
    /// Number of invalidations by this process.
    generation: u64,
    scopes: HashMap<Collection, (Instant, Arc<ScopeStatistics>)>,
}

impl ScopeCache {
    /// Returns cached statistics, or as an error the generation to pass to [`put`](Self::put).
    pub fn get(&self, scope: Collection) -> Result<Arc<ScopeStatistics>, u64> {
        self.with(|cached| match cached.scopes.get(&scope) {
            Some((since, statistics)) if since.elapsed() < TTL => Ok(Arc::clone(statistics)),
            _ => Err(cached.generation),
        })
    }

    /// Caches statistics requested at `generation`, unless the cache was invalidated since.
    pub fn put(&self, scope: Collection, generation: u64, statistics: &Arc<ScopeStatistics>) {
        self.with(|cached| {
            if cached.generation == generation {
                if cached.scopes.len() >= MAX_SCOPES {
                    cached.scopes.clear();
                }
                cached.scopes.insert(scope, (Instant::now(), Arc::clone(statistics)));
            }
        });
    }

    /// Clears the cache after a change of an index.
    pub fn invalidate(&self) {
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
    use super::*;

    #[test]
    fn statistics_are_computed_from_facets() {
        let counts = |pairs: &[(&str, u64)]| pairs.iter().map(|(value, count)| ((*value).to_owned(), *count)).collect();
        let response = TokenMatches {
            hits: Vec::new(),
            total: 10,
            facet_distribution: HashMap::from([
                ("length".to_owned(), counts(&[("2", 4), ("10", 6)])),
                ("language".to_owned(), counts(&[("de", 6), ("xx", 1)])),
            ]),
        };
        let statistics = ScopeStatistics::from_facets(&response);
        assert_eq!(statistics.documents, 10);
        assert!((statistics.average_length - 6.8).abs() < 1e-9);
        assert_eq!(statistics.languages, [Language::German, Language::English]);
    }

    #[test]
    fn statistics_requested_before_a_change_are_not_cached() {
        let cache = ScopeCache::default();
        let before = cache.get(Collection::Web).expect_err("an empty cache");
        cache.invalidate();
        cache.put(Collection::Web, before, &Arc::default());
        let after = cache.get(Collection::Web).expect_err("an outdated generation");
        cache.put(Collection::Web, after, &Arc::default());
        assert!(cache.get(Collection::Web).is_ok());
    }
}
