//! Which words of a request the server is asked for.

use std::collections::{BTreeMap, HashSet};

use engine::FirstStageRequest;
use engine::search_terms::SearchTerms;
use model::Collection;
use retrieval_core::analysis::{AnalyzedQuery, Language, QueryTerm};
use retrieval_core::bm25::single as bm25;

use crate::ask::Question;
use crate::{filter, token};

/// Stems that are counted for one request; of more, the longest, which are mostly the rarest. A pasted page has this
/// many, and counting them takes the server a tenth of a second.
const MAX_COUNTED: usize = 1024;

/// Terms searched for one text, the rarest; and at least these where several texts share the bound.
const MAX_TERMS: usize = 12;
const MIN_TERMS: usize = 4;

/// Documents asked for over all words of a request: each costs the server about 10 µs. Rare words get more of them, since
/// the best documents are mostly among the first of some rare word.
const ASKED: f32 = 500.0;

/// Tokens of one search: the server reads no more.
const MAX_TOKENS: usize = 10;
/// Words among the tokens of a phrase; the others are pairs.
const MAX_WORDS: usize = 5;

/// Documents that hold each stem; those that are missing were not counted.
pub type Counts = BTreeMap<String, u64>;

/// The stems that the request's texts are searched by, and those that only its ranking asks for.
pub struct Stems {
    pub searched: Vec<String>,
    pub only_counted: Vec<String>,
}

impl Stems {
    pub fn of(request: &FirstStageRequest, languages: &[Language]) -> Self {
        let searched = all_stems(request, languages);
        let ranked = FirstStageRequest { texts: request.rerank_text.iter().cloned().collect(), ..request.clone() };
        let mut only_counted = all_stems(&ranked, languages);
        only_counted.retain(|stem| !searched.contains(stem));
        let mut stems = Self { searched, only_counted };
        if stems.all().count() > MAX_COUNTED {
            // Stable, so that the same request is always asked the same way.
            stems.searched.sort_by_key(|stem| std::cmp::Reverse(stem.chars().count()));
            stems.searched.truncate(MAX_COUNTED);
            stems.only_counted.truncate(MAX_COUNTED - stems.searched.len());
        }
        stems
    }

    pub fn all(&self) -> impl Iterator<Item = &String> {
        self.searched.iter().chain(&self.only_counted)
    }
}

/// Distinct stems of the texts, in order.
fn all_stems(request: &FirstStageRequest, languages: &[Language]) -> Vec<String> {
    let mut stems = Vec::new();
    let without_ranking = FirstStageRequest { rerank_text: None, ..request.clone() };
    let Ok(_) = SearchTerms::analyze(&without_ranking, languages, 1, |stem| {
        stems.push(stem.to_owned());
        Ok::<_, std::convert::Infallible>(1)
    });
    stems
}

/// The request's terms with the counts that are known, each text's cut to the rarest.
pub fn search_terms(
    request: &FirstStageRequest,
    languages: &[Language],
    documents: u64,
    counts: &Counts,
) -> SearchTerms {
    let count = |stem: &str| Ok::<_, std::convert::Infallible>(counts.get(stem).copied().unwrap_or(0));
    let Ok(mut terms) = SearchTerms::analyze(request, languages, documents, count);
    let each = (2 * MAX_TERMS / terms.texts.len().max(1)).clamp(MIN_TERMS, MAX_TERMS);
    let texts = std::mem::take(&mut terms.texts);
    let held = |term: &QueryTerm| term.variants.iter().any(|stem| terms.document_frequency.contains_key(stem));
    let cut = texts.into_iter().map(|mut text| {
        text.retain(held);
        let mut query = AnalyzedQuery { terms: text, phrase: Vec::new() };
        query.keep_rarest(each, |term| terms.frequency_of(term, u64::MAX));
        query.terms
    });
    let cut: Vec<Vec<QueryTerm>> = cut.collect();
    terms.texts = cut;
    terms
}

/// Asks how many documents of the scope hold the stem.
pub fn count(scope: Collection, stem: &str) -> Question {
    Question { tokens: token::stem(stem), filter: filter::of_scope(scope), ..Question::default() }
}

/// The stems to search for, each with the question for the documents of which it says most.
pub fn searches(request: &FirstStageRequest, terms: &SearchTerms, documents: u64) -> Vec<(String, Question)> {
    let mut shares: BTreeMap<&str, f32> = BTreeMap::new();
    for term in terms.texts.iter().flatten() {
        let share = term.weight * bm25::idf(terms.frequency_of(term, documents), documents);
        for stem in term.variants.iter().filter(|stem| terms.document_frequency.contains_key(*stem)) {
            let known = shares.entry(stem).or_insert(share);
            *known = known.max(share);
        }
    }
    let all: f32 = shares.values().sum();
    let filter = filter::of_request(request.collection, &request.filters);
    let searches = shares.into_iter().map(|(stem, share)| {
        let limit = ((ASKED * share / all) as usize).max(request.limit / 2);
        let question = Question { tokens: token::stem(stem), filter: filter.clone(), limit, ..Question::default() };
        (stem.to_owned(), question)
    });
    searches.collect()
}

/// Asks for the documents that hold the words as a phrase; `None` when there is no word.
pub fn phrase(request: &FirstStageRequest, words: &[String]) -> Option<Question> {
    if words.is_empty() {
        return None;
    }
    let pairs = words.windows(2).map(|pair| token::pair(&pair[0], &pair[1]));
    let pairs = spread(pairs, MAX_TOKENS - MAX_WORDS);
    let mut tokens = spread(words.iter().map(|word| token::word(word)), MAX_WORDS);
    tokens.extend(pairs);
    Some(Question {
        tokens: tokens.join(" "),
        filter: filter::of_request(request.collection, &request.filters),
        limit: request.limit,
        ..Question::default()
    })
}

/// At most `max` different tokens, from all over.
fn spread(tokens: impl Iterator<Item = String>, max: usize) -> Vec<String> {
    let mut seen = HashSet::new();
    let tokens: Vec<String> = tokens.filter(|token| seen.insert(token.clone())).collect();
    let step = tokens.len().div_ceil(max).max(1);
    tokens.into_iter().step_by(step).collect()
}
