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
}

impl QueryMatcher {
    /// Analyses a query for documents of the given languages, most common first. An empty list means English.
    pub fn new(text: &str, languages: &[Language]) -> Self {
        let AnalyzedQuery { terms, phrase } = analysis::analyze_query(text, languages);
        let mut by_stem = BTreeMap::new();
        for (index, term) in terms.iter().enumerate() {
            let Ok(index) = u16::try_from(index) else { break };
            for variant in &term.variants {
                // A stem shared by two terms counts for the first only: an occurrence is evidence once.
                by_stem.entry(variant.clone()).or_insert(index);
            }
        }
        Self { terms, phrase, by_stem }
    }

    /// Returns the index of the term that the token is an occurrence of.
    pub fn term_of(&self, token: &Token<'_>) -> Option<u16> {
        let found = self.by_stem.get(token.stem);
        found.or_else(|| token.loose_stem.and_then(|stem| self.by_stem.get(stem))).copied()
    }

    /// Iterates over the stems of all terms in order, each with the index of its term.
    pub fn stems(&self) -> impl Iterator<Item = (&str, u16)> {
        self.by_stem.iter().map(|(stem, term)| (stem.as_str(), *term))
    }
}
