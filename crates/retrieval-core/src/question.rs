//! A query as documents are compared with it.

use std::collections::BTreeMap;

use crate::analysis::{self, AnalyzedQuery, Language, QueryTerm, Token};

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
}
