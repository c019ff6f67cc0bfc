use std::collections::HashMap;

use frostem::Algorithm;

use super::analyzer::{Analyzer, TokenKind};
use super::ignorable::without_ignorable;
use super::language::Language;
use super::opening::openings_among;
use super::query_token::QueryToken;
use super::stemming::QUERY_SLOTS;
use super::stop_words::stop_words_among;

/// Maximum number of distinct terms of a query. A pasted text of 8,192 characters has fewer; the limit guards against
/// crafted queries. An index search keeps far fewer, the rarest (see [`AnalyzedQuery::keep_rarest`]).
pub const MAX_QUERY_TERMS: usize = 1024;

/// Term of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryTerm {
    /// Word form, compared by phrases.
    pub word: String,
    pub kind: TokenKind,
    /// Distinct stems of the word in the queried languages, never empty; that of the first language comes first. A
    /// document that contains several variants contains the term once.
    pub variants: Vec<String>,
    /// Number of occurrences in the query; terms that repeat others in another form count less.
    pub weight: f32,
    /// Function word (`the`) in the presumed language of the query, or word of an opening (`I am looking for articles
    /// about`).
    pub stop_word: bool,
}

/// Query analysed under several languages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnalyzedQuery {
    /// Search terms in order of first mention, with distinct variants. Stop words are dropped unless there is nothing
    /// else. Empty only if the text contains no visible letter and no digit.
    pub terms: Vec<QueryTerm>,
    /// All words in order, stop words included, for phrase matching.
    pub phrase: Vec<String>,
}

impl AnalyzedQuery {
    /// Keeps the `max` terms with the lowest non-zero document frequency, in their order. Common words contribute
    /// little next to that many rarer ones.
    pub fn keep_rarest(&mut self, max: usize, mut document_frequency: impl FnMut(&QueryTerm) -> u64) {
        if self.terms.len() <= max {
            return;
        }
        let mut order: Vec<(u64, usize)> = self
            .terms
            .iter()
            .enumerate()
            .map(|(index, term)| (document_frequency(term).wrapping_sub(1), index))
            .collect();
        order.sort_unstable();
        order.truncate(max);
        let mut kept = vec![false; self.terms.len()];
        order.iter().for_each(|(_, index)| kept[*index] = true);
        let mut kept = kept.into_iter();
        self.terms.retain(|_| kept.next().unwrap_or(false));
    }
}

/// Weight of a term that repeats words of the query in another form.
const REPEATED_FORM_WEIGHT: f32 = 0.5;

/// Analyses a query for documents of the given languages, most common first. An empty list means English.
pub fn analyze_query(text: &str, languages: &[Language]) -> AnalyzedQuery {
    // Names and clitics are recognized by the characters around them.
    let text = &*without_ignorable(text);
    let mut algorithms: Vec<Algorithm> = Vec::new();
    for language in languages.iter().map(|language| Some(*language)).chain(languages.is_empty().then_some(None)) {
        let algorithm = Language::algorithm(language);
        if !algorithms.contains(&algorithm) {
            algorithms.push(algorithm);
        }
    }
    let mut tokens: Vec<QueryToken> = Vec::new();
    for (pass, algorithm) in algorithms.into_iter().enumerate() {
        // Segmentation is independent of the language, so the tokens of all passes correspond.
        let mut at = 0;
        Analyzer::with_algorithm(algorithm, QUERY_SLOTS).tokens(text, |token| {
            if pass == 0 {
                tokens.push(QueryToken {
                    kind: token.kind,
                    start: token.bytes.start,
                    end: token.bytes.end,
                    word: token.word.to_owned(),
                    variants: Vec::new(),
                });
            }
            if let Some(known) = tokens.get_mut(at) {
                known.add_variant(token.stem);
                token.loose_stem.into_iter().for_each(|stem| known.add_variant(stem));
            }
            at += 1;
        });
    }
    let phrase = tokens.iter().filter(|token| token.kind.is_positional()).map(|token| token.word.clone()).collect();
    let mut stop = stop_words_among(text, &tokens, languages);
    let openings = openings_among(text, &tokens, &stop);
    stop.iter_mut().zip(openings).for_each(|(stop, opening)| *stop |= opening);
    let mut terms = merge(&tokens, &stop);
    if terms.iter().any(|term| !term.stop_word) {
        terms.retain(|term| !term.stop_word);
    }
    terms.truncate(MAX_QUERY_TERMS);
    AnalyzedQuery { terms, phrase }
}

/// Merges tokens with the same variants into one term each.
fn merge(tokens: &[QueryToken], stop: &[bool]) -> Vec<QueryTerm> {
    let mut terms: Vec<QueryTerm> = Vec::new();
    let mut known: HashMap<&[String], usize> = HashMap::new();
    for (index, token) in tokens.iter().enumerate() {
        let weight = match token.kind {
            TokenKind::Word | TokenKind::Bigram => 1.0,
            TokenKind::Compound | TokenKind::Part => REPEATED_FORM_WEIGHT,
            // Bigrams include the character, unless it stands alone.
            TokenKind::Character if stands_alone(tokens, index) => 1.0,
            TokenKind::Character => continue,
        };
        let at = *known.entry(&token.variants).or_insert_with(|| {
            terms.push(QueryTerm {
                word: token.word.clone(),
                kind: token.kind,
                variants: token.variants.clone(),
                weight: 0.0,
                stop_word: true,
            });
            terms.len() - 1
        });
        terms[at].weight += weight;
        // One occurrence that is not a stop word (`IT` beside `it`) is enough.
        terms[at].stop_word &= stop[index];
    }
    terms
}

/// Returns true if no bigram covers the character.
fn stands_alone(tokens: &[QueryToken], index: usize) -> bool {
    let character = &tokens[index];
    let covers = |token: &QueryToken| {
        token.kind == TokenKind::Bigram && token.start <= character.start && token.end >= character.end
    };
    // The bigram with the previous character comes right after it, and that with the next character after the next one.
    !tokens[index + 1..].iter().take(2).any(covers)
}
