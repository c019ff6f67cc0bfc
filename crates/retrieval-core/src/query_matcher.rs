//! Recognition of query terms in the tokens of documents.

use std::collections::BTreeMap;

use crate::analysis::{self, AnalyzedQuery, Language, QueryTerm, Token};
use crate::stem_hash::hash;

/// Terms of a query with an index by stem.
pub struct QueryMatcher {
    /// Distinct terms in order of first mention. Empty if the query contains no letter and no digit.
    pub terms: Vec<QueryTerm>,
    /// All words in order, stop words included.
    pub phrase: Vec<String>,
    /// Ordered map, so that everything derived from it is deterministic.
    by_stem: BTreeMap<String, u16>,
    hashes: StemHashes,
}

/// Terms by the hash of a stem. Like the ranker, it takes stems with one 64-bit hash for one stem.
struct StemHashes {
    /// Sorted.
    terms: Vec<(u64, u16)>,
    /// A bit of each hash: most words of a text are no term, and one bit tells it.
    bits: [u64; 16],
}

impl StemHashes {
    fn of(by_stem: &BTreeMap<String, u16>) -> Self {
        let mut terms: Vec<(u64, u16)> = by_stem.iter().map(|(stem, term)| (hash(stem), *term)).collect();
        terms.sort_unstable();
        let mut bits = [0; 16];
        for (hash, _) in &terms {
            let (word, bit) = Self::place(*hash);
            bits[word] |= bit;
        }
        Self { terms, bits }
    }

    fn term(&self, hash: u64) -> Option<u16> {
        let (word, bit) = Self::place(hash);
        if self.bits[word] & bit == 0 {
            return None;
        }
        let at = self.terms.binary_search_by_key(&hash, |(known, _)| *known).ok()?;
        Some(self.terms[at].1)
    }

    fn place(hash: u64) -> (usize, u64) {
        ((hash >> 6) as usize % 16, 1 << (hash % 64))
    }
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
        Self { terms, phrase, hashes: StemHashes::of(&by_stem), by_stem }
    }

    /// Returns the index of the term that the token is an occurrence of.
    pub fn term_of(&self, token: &Token<'_>) -> Option<u16> {
        let term = |stem| self.term_of_hash(hash(stem));
        term(token.stem).or_else(|| token.loose_stem.and_then(term))
    }

    /// Returns the index of the term with a stem of this hash.
    pub(crate) fn term_of_hash(&self, hash: u64) -> Option<u16> {
        self.hashes.term(hash)
    }

    /// Iterates over the stems of all terms in order, each with the index of its term.
    pub fn stems(&self) -> impl Iterator<Item = (&str, u16)> {
        self.by_stem.iter().map(|(stem, term)| (stem.as_str(), *term))
    }
}
