use std::collections::HashMap;

use frostem::Algorithm;

use super::analyzer::{Analyzer, TokenKind};
use super::language::Language;
use super::stemming::QUERY_SLOTS;
use super::stop_words::stop_words_among;

/// Distinct terms that are kept of a query, first come. A pasted text of 8,192 characters has fewer; the
/// bound is against what is made to have more. Who searches an index keeps far fewer of them, the rarest
/// (see [`AnalyzedQuery::keep_rarest`]).
pub const MAX_QUERY_TERMS: usize = 1024;

/// One thing that a query asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryTerm {
    /// The word as phrases compare it.
    pub word: String,
    pub kind: TokenKind,
    /// Distinct stems under which documents of the queried languages hold this word, never empty; that of
    /// the first language comes first. A document that holds several of them holds the term once.
    pub variants: Vec<String>,
    /// How often the query says it, less for terms that only repeat others in another form.
    pub weight: f32,
    /// Says nothing by itself (`the`) in the language that the query seems to be in.
    pub stop_word: bool,
}

/// A query under several languages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnalyzedQuery {
    /// What to search for, in order of first mention, with distinct variants: without stop words, unless
    /// there is nothing else. Empty only when the text holds no letter and no digit.
    pub terms: Vec<QueryTerm>,
    /// Every word in order, stop words included, to be found next to one another.
    pub phrase: Vec<String>,
}

impl AnalyzedQuery {
    /// Keeps the `max` terms held by the fewest documents (but by any), in their order. Common words decide
    /// little beside so many rarer ones.
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

/// Weight of a term that repeats words of the query in another form, beside those words.
const REPEATED_FORM_WEIGHT: f32 = 0.5;

/// Analyses a query for documents of the given languages; the most common of the collection goes first.
/// None at all means English.
pub fn analyze_query(text: &str, languages: &[Language]) -> AnalyzedQuery {
    let mut algorithms: Vec<Algorithm> = Vec::new();
    for language in languages.iter().map(|language| Some(*language)).chain(languages.is_empty().then_some(None)) {
        let algorithm = Language::algorithm(language);
        if !algorithms.contains(&algorithm) {
            algorithms.push(algorithm);
        }
    }
    let mut tokens: Vec<RawToken> = Vec::new();
    for (pass, algorithm) in algorithms.into_iter().enumerate() {
        // Segmentation does not depend on the language, so the tokens of all passes line up.
        let mut at = 0;
        Analyzer::with_algorithm(algorithm, QUERY_SLOTS).tokens(text, |token| {
            if pass == 0 {
                tokens.push(RawToken {
                    kind: token.kind,
                    start: token.bytes.start,
                    end: token.bytes.end,
                    word: token.word.to_owned(),
                    variants: Vec::new(),
                });
            }
            if let Some(raw) = tokens.get_mut(at) {
                raw.add(token.stem);
                token.loose_stem.into_iter().for_each(|stem| raw.add(stem));
            }
            at += 1;
        });
    }
    let phrase = tokens.iter().filter(|token| token.kind.is_positional()).map(|token| token.word.clone()).collect();
    let stop = stop_words_among(text, &tokens, languages);
    let mut terms = merge(&tokens, &stop);
    if terms.iter().any(|term| !term.stop_word) {
        terms.retain(|term| !term.stop_word);
    }
    terms.truncate(MAX_QUERY_TERMS);
    AnalyzedQuery { terms, phrase }
}

pub(super) struct RawToken {
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
    pub word: String,
    pub variants: Vec<String>,
}

impl RawToken {
    fn add(&mut self, stem: &str) {
        if !self.variants.iter().any(|known| known == stem) {
            self.variants.push(stem.to_owned());
        }
    }
}

/// One term for all tokens with the same variants.
fn merge(tokens: &[RawToken], stop: &[bool]) -> Vec<QueryTerm> {
    let mut terms: Vec<QueryTerm> = Vec::new();
    let mut known: HashMap<&[String], usize> = HashMap::new();
    for (index, token) in tokens.iter().enumerate() {
        let weight = match token.kind {
            TokenKind::Word | TokenKind::Bigram => 1.0,
            TokenKind::Compound | TokenKind::Part => REPEATED_FORM_WEIGHT,
            // Bigrams say the same and more, unless the character stands alone.
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
        // Once meant as more than a stop word (`IT` beside `it`) is enough.
        terms[at].stop_word &= stop[index];
    }
    terms
}

/// Whether no bigram covers the character.
fn stands_alone(tokens: &[RawToken], index: usize) -> bool {
    let character = &tokens[index];
    let covers = |token: &RawToken| {
        token.kind == TokenKind::Bigram && token.start <= character.start && token.end >= character.end
    };
    // The bigram with the character before follows at once; that with the one after follows that one.
    !tokens[index + 1..].iter().take(2).any(covers)
}
