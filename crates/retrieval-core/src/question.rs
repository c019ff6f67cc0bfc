//! A query as documents are compared with it.

use std::collections::BTreeMap;

use crate::analysis::{self, AnalyzedQuery, Analyzer, Language, QueryTerm, Token};

/// A query's terms, to be recognized in the tokens of documents.
pub(crate) struct Question {
    /// Distinct terms in order of first mention. Empty when the query holds no letter and no digit.
    pub terms: Vec<QueryTerm>,
    /// Every word in order, stop words included.
    pub phrase: Vec<String>,
    /// Ordered, so that nothing that is made from it depends on chance.
    by_stem: BTreeMap<String, u16>,
}

impl Question {
    /// For documents of the given languages, the most common first; none at all means English.
    pub fn new(text: &str, languages: &[Language]) -> Self {
        let AnalyzedQuery { terms, phrase } = analysis::analyze_query(text, languages);
        let mut by_stem = BTreeMap::new();
        for (index, term) in terms.iter().enumerate() {
            let Ok(index) = u16::try_from(index) else { break };
            for variant in &term.variants {
                // A stem that two terms share counts for the first: an occurrence is evidence once.
                by_stem.entry(variant.clone()).or_insert(index);
            }
        }
        Self { terms, phrase, by_stem }
    }

    /// The term that a token is an occurrence of.
    pub fn term_of(&self, token: &Token<'_>) -> Option<u16> {
        let found = self.by_stem.get(token.stem);
        found.or_else(|| token.loose_stem.and_then(|stem| self.by_stem.get(stem))).copied()
    }

    /// The stems of all terms in order, each with the term that it belongs to.
    pub fn stems(&self) -> impl Iterator<Item = (&str, u16)> {
        self.by_stem.iter().map(|(stem, term)| (stem.as_str(), *term))
    }

    /// Whether `text` holds the query's words next to one another and in order: folded, not stemmed. A query without
    /// words is held by nothing.
    pub fn is_phrase_of(&self, text: &str, analyzer: &mut Analyzer) -> bool {
        if self.phrase.is_empty() {
            return false;
        }
        // Knuth, Morris, Pratt 1977: one pass over the words, none of them kept.
        let borders = borders(&self.phrase);
        let (mut matched, mut found) = (0, false);
        analyzer.tokens(text, |token| {
            if found || !token.kind.is_positional() {
                return;
            }
            while matched > 0 && self.phrase[matched] != token.word {
                matched = borders[matched - 1];
            }
            if self.phrase[matched] == token.word {
                matched += 1;
            }
            if matched == self.phrase.len() {
                found = true;
                matched = 0;
            }
        });
        found
    }
}

/// For each prefix of the phrase, the length of the longest proper prefix that it also ends with.
fn borders(phrase: &[String]) -> Vec<usize> {
    let mut borders = vec![0; phrase.len()];
    let mut length = 0;
    for index in 1..phrase.len() {
        while length > 0 && phrase[index] != phrase[length] {
            length = borders[length - 1];
        }
        if phrase[index] == phrase[length] {
            length += 1;
        }
        borders[index] = length;
    }
    borders
}
