//! Plan of a first stage: the queries that its result is computed from.

use std::sync::Arc;

use engine::search_terms::SearchTerms;
use engine::{FirstStageRequest, FirstStageResponse};
use retrieval_core::analysis::Language;

use crate::answers::Answers;
use crate::filter;
use crate::merge::{self, MatchesByStem};
use crate::multi_search::TokenQuery;
use crate::query_plan::{self, Stems};
use crate::scope_statistics::{Count, Counts, ScopeStatistics};
use crate::unknown_values::UnknownValueCounts;

/// Number of hits requested of a word at least while its document frequency is unknown. Rare words have no more.
const UNKNOWN_DEPTH: usize = 64;

/// Queries of a request, as far as the known document frequencies tell.
pub struct Plan {
    terms: SearchTerms,
    /// Stems of the first searches; empty for phrases.
    stems: Vec<String>,
    searches: Vec<TokenQuery>,
    /// Queries for the document frequencies that are not exact.
    frequencies: Vec<TokenQuery>,
    unknown_values: UnknownValueCounts,
    /// Exact document frequencies.
    exact: Counts,
}

impl Plan {
    /// Plans a request by the counts in the responses so far, and in the cache. Outdated counts are a guess: the plan asks
    /// for them again.
    ///
    /// With exact counts the plan depends on the request and the index only.
    pub fn new(request: &FirstStageRequest, scope: &ScopeStatistics, is_current: bool, answers: &Answers) -> Self {
        let filtered: Option<Vec<Language>> =
            request.filters.language.as_ref().map(|code| Language::from_code(code).into_iter().collect());
        let languages = filtered.as_deref().unwrap_or(&scope.languages);
        let stems = Stems::of(request, languages);
        let frequency = |stem: &str| query_plan::count_query(request.collection, stem);
        let count = |stem: &str| match (answers.total(&frequency(stem)), scope.count(stem)) {
            (Some(total), _) => Count::Exact(total),
            // Another instance may have added the word since. A search without words would not even ask for the state of the index.
            (None, Count::Exact(0)) => Count::Earlier(0),
            (None, Count::Exact(count)) if !is_current => Count::Earlier(count),
            (None, count) => count,
        };
        let (mut assumed, mut exact, mut frequencies) = (Counts::new(), Counts::new(), Vec::new());
        let mut has_unknown = false;
        for stem in stems.all() {
            let number = match count(stem) {
                Count::Exact(number) => {
                    exact.insert(stem.clone(), number);
                    number
                }
                Count::Earlier(number) => {
                    frequencies.push(frequency(stem));
                    number
                }
                Count::Unknown => {
                    has_unknown = true;
                    frequencies.push(frequency(stem));
                    (scope.documents / 100).max(1)
                }
            };
            assumed.insert(stem.clone(), number);
        }
        let terms = query_plan::search_terms(request, languages, scope.documents, &assumed);
        let filter: Option<Arc<str>> = filter::for_request(request.collection, &request.filters).map(Arc::from);
        let max = query_plan::max_searches(filter.as_deref(), filter::count_of_values(&request.filters));
        let filter = filter.as_ref();
        let (stems, searches): (Vec<String>, Vec<TokenQuery>) = match &terms.phrases {
            Some(phrases) => (Vec::new(), query_plan::phrase_queries(request, filter, max, phrases)),
            // Which of many words are the rarest must be known first.
            None if has_unknown && stems.searched.len() > query_plan::MAX_TERMS.min(max) => Default::default(),
            None => query_plan::word_queries(request, filter, max, &terms, scope).into_iter().unzip(),
        };
        let unknown_values = UnknownValueCounts::of(request, &searches);
        let mut plan = Self { terms, stems, searches, frequencies, unknown_values, exact };
        for (stem, search) in plan.stems.iter().zip(&mut plan.searches) {
            search.limit = match count(stem) {
                Count::Exact(_) => search.limit,
                // The exact count changes the shares of the words a little.
                Count::Earlier(_) => search.limit + search.limit / 4,
                Count::Unknown => search.limit.max(UNKNOWN_DEPTH),
            };
        }
        plan
    }

    /// Returns the queries whose responses are missing. Without any the plan is exact.
    pub fn missing(&self, answers: &Answers) -> Vec<TokenQuery> {
        let mut missing: Vec<TokenQuery> = Vec::new();
        let unknown_values = if self.searches.is_empty() { Vec::new() } else { self.unknown_values.queries() };
        for query in self.searches.iter().chain(&self.frequencies).chain(&unknown_values) {
            if !answers.has(query) && !missing.iter().any(|other| other.covers(query)) {
                missing.push(query.clone());
            }
        }
        missing
    }

    /// Computes the result from the responses.
    pub fn finish(self, request: &FirstStageRequest, scope: &ScopeStatistics, answers: &Answers) -> FirstStageResponse {
        scope.cache_counts(&self.exact);
        let responses = self.searches.iter().filter_map(|query| answers.get(query));
        let (hits, total) = match &self.terms.phrases {
            Some(_) => merge::merge_phrases(&responses.collect::<Vec<_>>(), scope, request.limit),
            None => {
                let matches: MatchesByStem = self.stems.into_iter().zip(responses).collect();
                merge::merge(&self.terms, &matches, scope, request.limit)
            }
        };
        let counted: Vec<_> = self.unknown_values.queries().iter().filter_map(|query| answers.get(query)).collect();
        let unknown_values = self.unknown_values.count(&counted);
        let statistics = self.terms.into_statistics(scope.documents, scope.average_length);
        FirstStageResponse { hits, snapshot: None, total, unknown_values, statistics }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use engine::Filters;
    use model::{Collection, Timestamp};
    use uuid::Uuid;

    use super::*;
    use crate::multi_search::{TokenHit, TokenMatches};
    use crate::scope_statistics::ScopeCache;

    const DOCUMENTS: u64 = 5_000;

    fn request(text: &str) -> FirstStageRequest {
        FirstStageRequest {
            collection: Collection::Web,
            texts: vec![text.to_owned()],
            exact_phrase: false,
            rerank_text: None,
            filters: Filters::default(),
            limit: 20,
        }
    }

    /// Answers like an index in which every word is in a share of the documents that depends on its length.
    fn answer(query: &TokenQuery) -> TokenMatches {
        let total = DOCUMENTS / (1 + query.tokens.len() as u64).pow(2);
        let step = 1 + query.tokens.len() as u128;
        let hit = |number: u64| TokenHit {
            id: Uuid::from_u128(u128::from(number) * step % u128::from(DOCUMENTS)),
            length: 100,
            score: 1.0 - number as f64 / DOCUMENTS as f64,
        };
        let hits = (0..total.min(query.limit as u64)).map(hit).collect();
        TokenMatches { hits, total, facet_distribution: HashMap::new() }
    }

    fn scope(cache: &ScopeCache) -> ScopeStatistics {
        let facet = |value: &str| HashMap::from([(value.to_owned(), DOCUMENTS)]);
        let facets = HashMap::from([("length".to_owned(), facet("200")), ("language".to_owned(), facet("en"))]);
        let response = TokenMatches { hits: Vec::new(), total: DOCUMENTS, facet_distribution: facets };
        let statistics = ScopeStatistics::from_facets(&response);
        cache.put(Collection::Web, cache.get(Collection::Web).generation, statistics)
    }

    /// Runs the rounds of a request. Returns the queries of each, and the result.
    fn run(request: &FirstStageRequest, scope: &ScopeStatistics) -> (Vec<Vec<TokenQuery>>, FirstStageResponse) {
        let (mut rounds, mut answers) = (Vec::new(), Answers::default());
        loop {
            let plan = Plan::new(request, scope, true, &answers);
            let missing = plan.missing(&answers);
            if missing.is_empty() {
                return (rounds, plan.finish(request, scope, &answers));
            }
            missing.iter().for_each(|query| answers.add(query.clone(), Arc::new(answer(query))));
            rounds.push(missing);
        }
    }

    #[test]
    fn searches_are_one_round_once_their_words_are_known_and_have_the_same_result() {
        let words = |number: usize| -> String {
            ('a'..='z')
                .take(number)
                .enumerate()
                .map(|(more, letter)| letter.to_string().repeat(more + 1) + " ")
                .collect()
        };
        for text in ["ccc gggggggg", &words(query_plan::MAX_TERMS), &words(query_plan::MAX_TERMS + 2)] {
            let cache = ScopeCache::default();
            let (first_rounds, first) = run(&request(text), &scope(&cache));
            assert!((1..=2).contains(&first_rounds.len()), "{text}: {first_rounds:?}");
            let known = scope(&cache);
            let (rounds, second) = run(&request(text), &known);
            assert_eq!(rounds.len(), 1, "{text}: {rounds:?}");
            let (rounds_of_exact, third) = run(&request(text), &known);
            assert_eq!(rounds_of_exact.len(), 1);
            for other in [second, third] {
                assert_eq!(first.hits, other.hits);
                assert_eq!((first.total, &first.statistics), (other.total, &other.statistics));
            }
        }
    }

    #[test]
    fn frequencies_come_with_the_searches_unless_those_are_filtered() {
        let cache = ScopeCache::default();
        let plain = request("copper pipe");
        let (rounds, _) = run(&plain, &scope(&cache));
        assert_eq!(rounds[0].len(), 2, "{rounds:?}");
        let filtered =
            FirstStageRequest { filters: Filters { country: Some("us".into()), ..Filters::default() }, ..plain };
        let (rounds, _) = run(&filtered, &scope(&cache));
        let counts = rounds[0].iter().filter(|query| query.filter.is_none());
        assert_eq!((rounds.len(), counts.count()), (1, 2), "{rounds:?}");
    }

    #[test]
    fn long_filters_are_sent_with_few_searches() {
        let sites = |letter: char| (0..1_000).map(|number| format!("{letter}{number:0252}")).collect::<Vec<String>>();
        let filters = Filters {
            language: Some("en".into()),
            country: Some("us".into()),
            published_after: Some(Timestamp::from_millis(1)),
            include_domains: sites('i'),
            exclude_domains: sites('e'),
            ..Filters::default()
        };
        let words = |more: usize| ('a'..='x').zip(more..).map(|(letter, times)| letter.to_string().repeat(times) + " ");
        let texts: Vec<String> = [3, 30].map(|more| words(more).collect::<String>()).into();
        let by_words = FirstStageRequest { texts: texts.clone(), filters, ..request("") };
        let phrases = ('a'..='p').map(|letter| format!("{letter}bcd {letter}efg")).collect();
        let by_phrases = FirstStageRequest { texts: phrases, exact_phrase: true, ..by_words.clone() };
        for request in [by_words, by_phrases] {
            let (rounds, response) = run(&request, &scope(&ScopeCache::default()));
            assert!(!response.hits.is_empty() && response.unknown_values.country > 0);
            for round in rounds {
                let bytes: usize = round.iter().filter_map(|query| query.filter.as_deref()).map(str::len).sum();
                assert!(bytes < 8 << 20, "{bytes} bytes in {} searches", round.len());
            }
            // Without such filters all are searched.
            let unfiltered = FirstStageRequest { filters: Filters::default(), ..request };
            let (rounds, _) = run(&unfiltered, &scope(&ScopeCache::default()));
            let searches = rounds.iter().flatten().filter(|query| query.limit > 0).count();
            assert!(searches >= 16, "{searches}");
        }
    }

    #[test]
    fn outdated_statistics_do_not_vouch_for_counts() {
        let cache = ScopeCache::default();
        let known = scope(&cache);
        run(&request("copper"), &known);
        let plan = |is_current| Plan::new(&request("copper"), &known, is_current, &Answers::default());
        assert_eq!((plan(true).frequencies.len(), plan(false).frequencies.len()), (0, 1));
    }
}
