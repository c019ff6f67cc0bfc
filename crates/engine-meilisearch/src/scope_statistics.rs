//! Statistics of a scope for ranking: number of documents, mean length, languages, document frequencies.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use engine::Lifetime;
use engine::indexing::languages_by_frequency;
use model::Collection;
use retrieval_core::analysis::Language;

use crate::document::attribute;
use crate::filter;
use crate::multi_search::{TokenMatches, TokenQuery};
use crate::response_cache::State;

/// Maximum number of cached scopes. The cache is cleared when it is full.
const MAX_SCOPES: usize = 10_000;

/// Maximum number of cached document frequencies per scope. They are cleared when the cache is full.
const MAX_COUNTS: usize = 10_000;

/// Number of documents from which changes by other instances hardly affect the statistics of a scope. They are kept for the TTL: the
/// server reads the values of all documents for them.
const LARGE: u64 = 20_000;

#[derive(Clone, Debug, Default)]
pub struct ScopeStatistics {
    pub documents: u64,
    /// Mean number of words in the body, to the precision of stored lengths.
    pub average_length: f64,
    /// Languages, most common first. Unknown languages count as English, as in analysis.
    pub languages: Vec<Language>,
    /// State of the index before the statistics were requested; `None` if it was unknown.
    state: Option<State>,
    counts: Arc<CountCache>,
    /// Number that distinguishes counts of the time of these statistics from older ones.
    epoch: u64,
}

/// Document frequencies by stem. Missing stems were not counted.
pub type Counts = BTreeMap<String, u64>;

/// Document frequency of a stem.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Count {
    /// As old as the statistics of the scope at most.
    Exact(u64),
    /// Of earlier statistics of the scope. Good enough to plan searches, whose responses have the exact count.
    Earlier(u64),
    Unknown,
}

/// Document frequencies by stem, with the epoch of the statistics at the time of counting.
type CountCache = Mutex<HashMap<String, (u64, u64)>>;

/// Returns the query for the statistics of a scope.
pub fn query(scope: Collection) -> TokenQuery {
    TokenQuery {
        filter: filter::for_scope(scope).map(Arc::from),
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
        let known: u64 = values(attribute::LANGUAGE).map(|(_, documents)| documents).sum();
        let languages = values(attribute::LANGUAGE).map(|(code, documents)| (code.as_str(), *documents));
        Self {
            documents: response.total,
            average_length: if counted == 0 { 0.0 } else { words / counted as f64 },
            languages: languages_by_frequency(languages.chain([("", response.total.saturating_sub(known))])),
            ..Self::default()
        }
    }

    /// Sets the state that the index was in before the statistics were requested.
    pub fn with_state(self, state: Option<State>) -> Self {
        Self { state, ..self }
    }

    /// Returns false if the index has changed since in a way that matters, given its present state.
    pub fn is_of(&self, state: Option<&State>) -> bool {
        self.documents >= LARGE || self.state.as_ref() == state
    }

    /// Returns the cached document frequency of a stem.
    pub fn count(&self, stem: &str) -> Count {
        match self.counts.lock().unwrap_or_else(PoisonError::into_inner).get(stem) {
            Some((epoch, count)) if *epoch == self.epoch => Count::Exact(*count),
            Some((_, count)) => Count::Earlier(*count),
            None => Count::Unknown,
        }
    }

    pub fn cache_counts(&self, counts: &Counts) {
        let mut cached = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if cached.len() + counts.len() > MAX_COUNTS {
            cached.clear();
        }
        cached.extend(counts.iter().map(|(stem, count)| (stem.clone(), (self.epoch, *count))));
    }
}

/// Cache of statistics by scope.
#[derive(Default)]
pub struct ScopeCache(Mutex<Cached>);

#[derive(Default)]
struct Cached {
    /// Number of invalidations by this process.
    generation: u64,
    /// Number of statistics that were cached.
    epochs: u64,
    scopes: HashMap<Collection, Entry>,
}

struct Entry {
    lifetime: Lifetime,
    /// Generation in which the statistics were requested.
    generation: u64,
    statistics: ScopeStatistics,
}

/// Statistics of a scope in the cache.
pub struct Lookup {
    /// `None` for a scope that was not searched yet.
    pub statistics: Option<ScopeStatistics>,
    /// False if the statistics must be requested again. Outdated ones are good enough to plan searches.
    pub is_current: bool,
    /// Generation to pass to [`ScopeCache::put`].
    pub generation: u64,
}

impl ScopeCache {
    /// Looks up statistics. Of concurrent searches that find them expired, one is to renew them.
    pub fn get(&self, scope: Collection) -> Lookup {
        self.with(|cached| {
            let generation = cached.generation;
            let Some(entry) = cached.scopes.get_mut(&scope) else {
                return Lookup { statistics: None, is_current: false, generation };
            };
            let is_current = entry.lifetime.is_current() && entry.generation == generation;
            Lookup { statistics: Some(entry.statistics.clone()), is_current, generation }
        })
    }

    /// Caches statistics requested at `generation`, unless the cache was invalidated since, and returns them with the counts
    /// of the statistics that they replace.
    pub fn put(&self, scope: Collection, generation: u64, statistics: ScopeStatistics) -> ScopeStatistics {
        self.with(|cached| {
            cached.epochs += 1;
            let before = cached.scopes.get(&scope).map(|entry| Arc::clone(&entry.statistics.counts));
            let statistics = ScopeStatistics { counts: before.unwrap_or_default(), epoch: cached.epochs, ..statistics };
            if cached.generation == generation {
                if cached.scopes.len() >= MAX_SCOPES {
                    cached.scopes.clear();
                }
                let entry = Entry { lifetime: Lifetime::start(), generation, statistics: statistics.clone() };
                cached.scopes.insert(scope, entry);
            }
            statistics
        })
    }

    /// Marks all statistics as outdated after a change of an index.
    pub fn invalidate(&self) {
        self.with(|cached| cached.generation += 1);
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
    fn statistics_of_small_scopes_belong_to_a_state_of_the_index() {
        let state = |time: &str| serde_json::from_value::<State>(time.into()).expect("a state");
        let [before, after] = ["before", "after"].map(state);
        let of =
            |documents| ScopeStatistics { documents, ..ScopeStatistics::default() }.with_state(Some(before.clone()));
        assert!(of(LARGE - 1).is_of(Some(&before)) && !of(LARGE - 1).is_of(Some(&after)));
        assert!(of(LARGE).is_of(Some(&after)));
        assert!(!ScopeStatistics::default().is_of(Some(&before)));
        let cached = ScopeCache::default().put(Collection::Web, 0, of(5));
        assert!(cached.is_of(Some(&before)));
    }

    #[test]
    fn statistics_requested_before_a_change_are_not_cached() {
        let cache = ScopeCache::default();
        let before = cache.get(Collection::Web).generation;
        cache.invalidate();
        cache.put(Collection::Web, before, ScopeStatistics::default());
        let after = cache.get(Collection::Web);
        assert!(after.statistics.is_none());
        cache.put(Collection::Web, after.generation, ScopeStatistics::default());
        assert!(cache.get(Collection::Web).is_current);
    }

    #[test]
    fn statistics_and_counts_from_before_a_change_are_kept_for_planning() {
        let cache = ScopeCache::default();
        let statistics = cache.put(Collection::Web, 0, ScopeStatistics { documents: 7, ..ScopeStatistics::default() });
        statistics.cache_counts(&Counts::from([("pump".to_owned(), 3)]));
        assert_eq!((statistics.count("pump"), statistics.count("valv")), (Count::Exact(3), Count::Unknown));
        cache.invalidate();
        let outdated = cache.get(Collection::Web);
        assert!(!outdated.is_current);
        assert_eq!(outdated.statistics.as_ref().map(|statistics| statistics.documents), Some(7));
        let renewed = cache.put(Collection::Web, outdated.generation, ScopeStatistics::default());
        assert_eq!(renewed.count("pump"), Count::Earlier(3));
    }
}
