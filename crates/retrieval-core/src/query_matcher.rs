//! Recognition of query terms in the tokens of documents.

use std::collections::BTreeMap;

use crate::analysis::{self, AnalyzedQuery, Language, QueryTerm, Token};

/// Terms of a query with an index by stem.
pub struct QueryMatcher {
    /// Distinct terms in order of first mention. Empty if the query contains no letter and no digit.
    pub terms: Vec<QueryTerm>,
    /// All words in order, stop words included.
    pub phrase: Vec<String>,
    /// Ordered map, so that everything derived from it is deterministic.
    by_stem: BTreeMap<String, u16>,
    /// First bytes of the stems, which tell most tokens apart from them.
    first_bytes: [bool; 256],
}

impl QueryMatcher {
    /// Analyses a query for documents of the given languages, most common first. An empty list means English.
    pub fn new(text: &str, languages: &[Language]) -> Self {
        let AnalyzedQuery { terms, phrase } = analysis::analyze_query(text, languages);
        let mut by_stem: BTreeMap<String, u16> = BTreeMap::new();
        for (index, term) in terms.iter().enumerate() {
            let Ok(index) = u16::try_from(index) else { break };
            for variant in &term.variants {
                // A stem shared by two terms counts for the first only: an occurrence is evidence once.
                by_stem.entry(variant.clone()).or_insert(index);
            }
        }
        let mut first_bytes = [false; 256];
        for byte in by_stem.keys().filter_map(|stem| stem.bytes().next()) {
            first_bytes[usize::from(byte)] = true;
        }
        Self { terms, phrase, by_stem, first_bytes }
    }

    /// Returns the index of the term that the token is an occurrence of.
    pub fn term_of(&self, token: &Token<'_>) -> Option<u16> {
        self.find(token.stem).or_else(|| self.find(token.loose_stem?))
    }

    fn find(&self, stem: &str) -> Option<u16> {
        let is_possible = self.first_bytes[usize::from(stem.bytes().next()?)];
        is_possible.then(|| self.by_stem.get(stem).copied())?
    }

    /// Iterates over the stems of all terms in order, each with the index of its term.
    pub fn stems(&self) -> impl Iterator<Item = (&str, u16)> {
        self.by_stem.iter().map(|(stem, term)| (stem.as_str(), *term))
    }
}
