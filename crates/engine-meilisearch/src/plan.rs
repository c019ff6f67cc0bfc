//! Which words of a request the server is asked for.

use std::collections::BTreeMap;

use engine::search_terms::SearchTerms;
use engine::{FirstStageRequest, Scope};
use retrieval_core::analysis::{AnalyzedQuery, Language, QueryTerm};

use crate::ask::Question;
use crate::{filter, token};

/// Stems that are counted for one request; of more, the longest, which are mostly the rarest. A pasted page has this
/// many, and counting them takes the server a tenth of a second.
const MAX_COUNTED: usize = 1024;

/// Stems up to this number are searched for and counted at once; of more, the counts are asked for first.
const AT_ONCE: usize = 12;

/// Terms searched for one text, the rarest; and at least these where several texts share the bound.
const MAX_TERMS: usize = 10;
const MIN_TERMS: usize = 4;

/// Documents asked for of each word, by documents wanted: the best of them are mostly among the first of some word.
const PER_WORD: usize = 3;

/// Tokens of one search: the server reads no more.
const MAX_TOKENS: usize = 10;

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
        let ranked = FirstStageRequest { texts: request.ranked_by.iter().cloned().collect(), ..request.clone() };
        let mut only_counted = all_stems(&ranked, languages);
        only_counted.retain(|stem| !searched.contains(stem));
        let mut stems = Self { searched, only_counted };
        if stems.len() > MAX_COUNTED {
            // Stable, so that the same request is always asked the same way.
            stems.searched.sort_by_key(|stem| std::cmp::Reverse(stem.chars().count()));
            stems.searched.truncate(MAX_COUNTED);
            stems.only_counted.truncate(MAX_COUNTED - stems.searched.len());
        }
        stems
    }

    pub fn len(&self) -> usize {
        self.searched.len() + self.only_counted.len()
    }

    pub fn all(&self) -> impl Iterator<Item = &String> {
        self.searched.iter().chain(&self.only_counted)
    }

    /// Whether all can be searched for and counted in one round trip.
    pub fn are_few(&self) -> bool {
        self.searched.len() <= AT_ONCE
    }
}

/// Distinct stems of the texts, in order.
fn all_stems(request: &FirstStageRequest, languages: &[Language]) -> Vec<String> {
    let mut stems = Vec::new();
    let without_ranking = FirstStageRequest { ranked_by: None, ..request.clone() };
    let Ok(_) = SearchTerms::of(&without_ranking, languages, |stem| {
        stems.push(stem.to_owned());
        Ok::<_, std::convert::Infallible>(1)
    });
    stems
}

/// The request's terms with the counts that are known, each text's cut to the rarest.
pub fn search_terms(request: &FirstStageRequest, languages: &[Language], counts: &Counts) -> SearchTerms {
    let count = |stem: &str| Ok::<_, std::convert::Infallible>(counts.get(stem).copied().unwrap_or(0));
    let Ok(mut terms) = SearchTerms::of(request, languages, count);
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
pub fn count(scope: Scope, stem: &str) -> Question {
    Question { tokens: token::stem(stem), filter: filter::of_scope(scope), ..Question::default() }
}

/// Asks for the documents of which the stem says most.
pub fn search(request: &FirstStageRequest, stem: &str) -> Question {
    Question {
        tokens: token::stem(stem),
        filter: filter::of_request(request.scope, &request.filters),
        limit: request.limit.saturating_mul(PER_WORD),
        ..Question::default()
    }
}

/// Asks for the documents that hold the words as a phrase; `None` when there is no word.
pub fn phrase(request: &FirstStageRequest, words: &[String]) -> Option<Question> {
    let mut tokens: Vec<String> = match words {
        [] => return None,
        [word] => vec![token::word(word)],
        words => words.windows(2).map(|pair| token::pair(&pair[0], &pair[1])).collect(),
    };
    let mut seen = std::collections::HashSet::new();
    tokens.retain(|token| seen.insert(token.clone()));
    // Of a long phrase, pairs from all over it.
    let step = tokens.len().div_ceil(MAX_TOKENS).max(1);
    let tokens: Vec<String> = tokens.into_iter().step_by(step).collect();
    Some(Question {
        tokens: tokens.join(" "),
        filter: filter::of_request(request.scope, &request.filters),
        limit: request.limit,
        ..Question::default()
    })
}
