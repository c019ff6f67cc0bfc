//! Selection of the words of a request that are searched, as queries to the server.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use engine::FirstStageRequest;
use engine::search_terms::SearchTerms;
use model::Collection;
use retrieval_core::analysis::{AnalyzedQuery, Language, QueryTerm};
use retrieval_core::bm25::single as bm25;

use crate::multi_search::TokenQuery;
use crate::scope_statistics::{Counts, ScopeStatistics};
use crate::{filter, token};

/// Maximum number of terms searched per text; the rarest are kept.
pub const MAX_TERMS: usize = 24;
/// Minimum of that limit if several texts share it.
const MIN_TERMS: usize = 4;

/// Maximum size of all copies of the filter of a request in its searches, in bytes. The server parses each of them.
const FILTER_BYTES: usize = 8 << 20;
/// Minimum number of words or phrases that are searched, however long the filter is.
const MIN_SEARCHES: usize = 2;

/// Number of documents requested over all words of a request, at least. Each costs the server about 10 µs.
const REQUESTED_DOCUMENTS: f32 = 600.0;
/// Mean length of documents from which on that number is enough.
const TYPICAL_LENGTH: f32 = 150.0;
/// Maximum factor for shorter documents.
const MAX_DEPTH: f32 = 3.0;
/// Part of the limit of a request that is requested of each word at least.
const MIN_SHARE: usize = 8;

/// Maximum number of tokens that the server reads in one search.
const MAX_TOKENS: usize = 10;
/// Maximum number of words among the tokens of a phrase; the others are pairs.
const MAX_WORDS: usize = 5;

/// Stems of a request: those that are searched, and those only counted for the reranker.
pub struct Stems {
    pub searched: Vec<String>,
    pub only_counted: Vec<String>,
}

impl Stems {
    pub fn of(request: &FirstStageRequest, languages: &[Language]) -> Self {
        let mut searched = SearchTerms::stems(request, languages);
        let of_texts = FirstStageRequest { rerank_text: None, ..request.clone() };
        let only_counted = searched.split_off(SearchTerms::stems(&of_texts, languages).len());
        Self { searched, only_counted }
    }

    pub fn all(&self) -> impl Iterator<Item = &String> {
        self.searched.iter().chain(&self.only_counted)
    }
}

/// Returns the terms of a request with their document frequencies, limited to the rarest of each text.
pub fn search_terms(
    request: &FirstStageRequest,
    languages: &[Language],
    documents: u64,
    counts: &Counts,
) -> SearchTerms {
    let mut terms = SearchTerms::with_counts(request, languages, documents, counts);
    let max_terms = (2 * MAX_TERMS / terms.texts.len().max(1)).clamp(MIN_TERMS, MAX_TERMS);
    let texts = std::mem::take(&mut terms.texts);
    let is_indexed = |term: &QueryTerm| term.variants.iter().any(|stem| terms.document_frequency.contains_key(stem));
    let limited = texts.into_iter().map(|mut text| {
        text.retain(is_indexed);
        let mut query = AnalyzedQuery { terms: text, phrase: Vec::new() };
        query.keep_rarest(max_terms, |term| terms.frequency_of(term, u64::MAX));
        query.terms
    });
    let limited: Vec<Vec<QueryTerm>> = limited.collect();
    terms.texts = limited;
    terms
}

/// Returns the maximum number of words or phrases to search with a filter, of which `values` conditions need a value.
///
/// Each search has a copy of the filter, and for each of these conditions so do a search for the same word and one for all documents
/// (`unknown_values`). Only long lists of sites limit the number.
pub fn max_searches(filter: Option<&str>, values: usize) -> usize {
    let copies = FILTER_BYTES / filter.map_or(1, str::len).max(1);
    (copies.saturating_sub(values) / (1 + values)).max(MIN_SEARCHES)
}

/// Returns the number of documents to request over all words of a request.
///
/// In short documents nearly all words occur once, so that their impacts tie and the first matches of a word are
/// arbitrary among them.
fn requested_documents(average_length: f64, limit: usize) -> f32 {
    let depth = (TYPICAL_LENGTH / average_length.max(1.0) as f32).clamp(1.0, MAX_DEPTH);
    (REQUESTED_DOCUMENTS * depth).max(2.0 * limit as f32)
}

/// Divides a number of documents over words, given the weight of each and the number of documents that contain it. A word
/// that needs less than its share leaves the rest to the others.
fn divide(requested: f32, words: &[(f32, u64)]) -> Vec<f32> {
    let mut shares = vec![0.0; words.len()];
    let mut open: Vec<usize> = (0..words.len()).collect();
    let mut rest = requested;
    while !open.is_empty() {
        let total: f32 = open.iter().map(|word| words[*word].0).sum();
        let share = |word: usize| rest * words[word].0 / total.max(f32::MIN_POSITIVE);
        let (complete, limited): (Vec<usize>, Vec<usize>) =
            open.iter().copied().partition(|word| words[*word].1 as f32 <= share(*word));
        if complete.is_empty() {
            limited.iter().for_each(|word| shares[*word] = share(*word));
            break;
        }
        for word in complete {
            shares[word] = words[word].1 as f32;
            rest -= shares[word];
        }
        open = limited;
    }
    shares
}

/// Returns the query for the document frequency of a stem.
pub fn count_query(scope: Collection, stem: &str) -> TokenQuery {
    let filter = filter::for_scope(scope).map(Arc::from);
    TokenQuery { tokens: token::stem(stem), filter, ..TokenQuery::default() }
}

/// Returns the stems to search for, each with the query for its documents of highest impact. Of more than `max` stems, those with the
/// highest weights are searched.
pub fn word_queries(
    request: &FirstStageRequest,
    filter: Option<&Arc<str>>,
    max: usize,
    terms: &SearchTerms,
    scope: &ScopeStatistics,
) -> Vec<(String, TokenQuery)> {
    let documents = scope.documents;
    let mut weights: BTreeMap<&str, f32> = BTreeMap::new();
    for term in terms.texts.iter().flatten() {
        let weight = term.weight * bm25::idf(terms.frequency_of(term, documents), documents);
        for stem in term.variants.iter().filter(|stem| terms.document_frequency.contains_key(*stem)) {
            let highest = weights.entry(stem).or_insert(weight);
            *highest = highest.max(weight);
        }
    }
    let mut weights: Vec<(&str, f32)> = weights.into_iter().collect();
    if weights.len() > max {
        // A stable sort, so that equal requests have equal responses.
        weights.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        weights.truncate(max);
        weights.sort_unstable_by_key(|(stem, _)| *stem);
    }
    // Squared: the best documents are mostly among the first matches of a rare word.
    let words: Vec<(f32, u64)> =
        weights.iter().map(|(stem, weight)| (weight * weight, terms.document_frequency[*stem])).collect();
    let shares = divide(requested_documents(scope.average_length, request.limit), &words);
    let queries = weights.into_iter().zip(shares).map(|((stem, _), share)| {
        let limit = (share as usize).max(request.limit / MIN_SHARE);
        let query = TokenQuery { tokens: token::stem(stem), filter: filter.cloned(), limit, ..TokenQuery::default() };
        (stem.to_owned(), query)
    });
    queries.collect()
}

/// Returns the queries for documents that contain each of the phrases, of which the first `max` are searched.
pub fn phrase_queries(
    request: &FirstStageRequest,
    filter: Option<&Arc<str>>,
    max: usize,
    phrases: &[Vec<String>],
) -> Vec<TokenQuery> {
    let query = |words: &Vec<String>| TokenQuery {
        tokens: phrase_tokens(words),
        filter: filter.cloned(),
        limit: request.limit,
        ..TokenQuery::default()
    };
    phrases.iter().take(max).map(query).collect()
}

fn phrase_tokens(words: &[String]) -> String {
    let pairs = words.windows(2).map(|pair| token::pair(&pair[0], &pair[1]));
    let pairs = sample(pairs, MAX_TOKENS - MAX_WORDS);
    let mut tokens = sample(words.iter().map(|word| token::word(word)), MAX_WORDS);
    tokens.extend(pairs);
    tokens.join(" ")
}

/// Returns at most `max` distinct tokens, evenly spaced.
fn sample(tokens: impl Iterator<Item = String>, max: usize) -> Vec<String> {
    let mut seen = HashSet::new();
    let tokens: Vec<String> = tokens.filter(|token| seen.insert(token.clone())).collect();
    let step = tokens.len().div_ceil(max).max(1);
    tokens.into_iter().step_by(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complete_words_leave_their_share_to_others() {
        assert_eq!(divide(400.0, &[(1.0, 10_000), (1.0, 10_000)]), [200.0, 200.0]);
        assert_eq!(divide(400.0, &[(3.0, 40), (1.0, 10_000), (1.0, 10_000)]), [40.0, 180.0, 180.0]);
        assert_eq!(divide(400.0, &[(1.0, 3), (1.0, 5)]), [3.0, 5.0]);
        assert_eq!(divide(400.0, &[(0.0, 7), (0.0, 0)]), [0.0, 0.0]);
        assert!(divide(400.0, &[]).is_empty());
    }

    #[test]
    fn more_documents_are_requested_of_short_ones() {
        assert_eq!(
            [1_000.0, 150.0, 75.0, 20.0].map(|length| requested_documents(length, 20)),
            [600.0, 600.0, 1_200.0, 1_800.0]
        );
        assert_eq!(requested_documents(0.0, 1_000), 2_000.0);
    }
    #[test]
    fn only_long_filters_limit_the_number_of_searches() {
        let max = |length: usize, values| max_searches(Some(&"f".repeat(length)), values);
        assert!(max_searches(None, 0) > 1_000_000 && max(2_000, 3) > 1_000);
        // Three words with three counts each, and those of all documents.
        assert_eq!(max(514_000, 3), 3);
        assert_eq!(max(514_000, 0), 16);
        assert_eq!([max(8 << 20, 3), max(9 << 20, 0)], [MIN_SEARCHES; 2]);
    }
}
