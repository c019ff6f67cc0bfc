//! What ranking needs to know of a scope: how many documents, how long, in which languages.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use model::Collection;
use retrieval_core::analysis::Language;

use crate::ask::{Answer, Question};
use crate::document::attribute;
use crate::filter;
use crate::plan::Counts;

/// How long statistics are used while other processes feed the index. What this process feeds shows at once.
const LIFETIME: Duration = Duration::from_secs(10);

/// Scopes remembered at a time; beyond it all are forgotten and the busy ones come back.
const MAX_SCOPES: usize = 10_000;

/// Stems remembered of one scope.
const MAX_COUNTS: usize = 10_000;

#[derive(Debug, Default)]
pub struct ScopeStatistics {
    pub documents: u64,
    /// Mean number of words of the body, to the precision in which lengths are kept.
    pub average_length: f64,
    /// Commonest first. Documents of no known language count as English, as they are analysed.
    pub languages: Vec<Language>,
    /// Documents by stem, as far as they were asked for: they live as long as the rest.
    counts: Mutex<HashMap<String, u64>>,
}

/// Asks for the statistics of a scope.
pub fn question(scope: Collection) -> Question {
    Question {
        filter: filter::of_scope(scope),
        facets: &[attribute::LENGTH, attribute::LANGUAGE],
        ..Question::default()
    }
}

impl ScopeStatistics {
    pub fn of(answer: &Answer) -> Self {
        let values = |attribute: &str| answer.facet_distribution.get(attribute).into_iter().flatten();
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
        if answer.total > known {
            *languages.entry(Language::English).or_default() += answer.total - known;
        }
        let mut languages: Vec<(Language, u64)> = languages.into_iter().collect();
        languages.sort_by_key(|(language, documents)| (Reverse(*documents), *language));
        Self {
            documents: answer.total,
            average_length: if counted == 0 { 0.0 } else { words / counted as f64 },
            languages: languages.into_iter().map(|(language, _)| language).collect(),
            counts: Mutex::default(),
        }
    }

    /// What is known of the stems.
    pub fn counts_of<'a>(&self, stems: impl Iterator<Item = &'a String>) -> Counts {
        let known = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        stems.filter_map(|stem| known.get(stem).map(|count| (stem.clone(), *count))).collect()
    }

    pub fn remember(&self, counts: &Counts) {
        let mut known = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() + counts.len() > MAX_COUNTS {
            known.clear();
        }
        known.extend(counts.iter().map(|(stem, count)| (stem.clone(), *count)));
    }
}

#[derive(Default)]
pub struct ScopeCache(Mutex<Cached>);

#[derive(Default)]
struct Cached {
    /// Counts what this process has changed in the index.
    generation: u64,
    scopes: HashMap<Collection, (Instant, Arc<ScopeStatistics>)>,
}

impl ScopeCache {
    /// What is known, or else the state of the cache to hand to [`put`](Self::put).
    pub fn get(&self, scope: Collection) -> Result<Arc<ScopeStatistics>, u64> {
        self.with(|cached| match cached.scopes.get(&scope) {
            Some((since, statistics)) if since.elapsed() < LIFETIME => Ok(Arc::clone(statistics)),
            _ => Err(cached.generation),
        })
    }

    /// Remembers what was asked for at `generation`, unless the index has changed meanwhile.
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

    /// The index has changed.
    pub fn forget(&self) {
        self.with(|cached| {
            cached.generation += 1;
            cached.scopes.clear();
        });
    }

    fn with<T>(&self, read: impl FnOnce(&mut Cached) -> T) -> T {
        // Whole values go in and out under the lock: a panic elsewhere cannot have left half of one.
        read(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_read_from_counts() {
        let counts = |pairs: &[(&str, u64)]| pairs.iter().map(|(value, count)| ((*value).to_owned(), *count)).collect();
        let answer = Answer {
            hits: Vec::new(),
            total: 10,
            facet_distribution: HashMap::from([
                ("length".to_owned(), counts(&[("2", 4), ("10", 6)])),
                ("language".to_owned(), counts(&[("de", 6), ("xx", 1)])),
            ]),
        };
        let statistics = ScopeStatistics::of(&answer);
        assert_eq!(statistics.documents, 10);
        assert!((statistics.average_length - 6.8).abs() < 1e-9);
        assert_eq!(statistics.languages, [Language::German, Language::English]);
    }

    #[test]
    fn what_was_asked_before_a_change_is_not_remembered_after_it() {
        let cache = ScopeCache::default();
        let before = cache.get(Collection::Web).expect_err("nothing is known yet");
        cache.forget();
        cache.put(Collection::Web, before, &Arc::default());
        let after = cache.get(Collection::Web).expect_err("it was asked too early");
        cache.put(Collection::Web, after, &Arc::default());
        assert!(cache.get(Collection::Web).is_ok());
    }
}
