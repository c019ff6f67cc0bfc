//! A request as terms: what an engine that does its own analysis searches for.

use std::collections::{BTreeMap, HashSet};

use retrieval_core::analysis::{AnalyzedQuery, Language, QueryTerm, analyze_query};
use retrieval_core::bm25::single as bm25;
use retrieval_core::statistics::CollectionStatistics;

use crate::FirstStageRequest;

/// Terms searched of one text; of longer ones the rarest. Beside so many, the commonest words of a pasted
/// page decide nothing, and their long lists are what would cost.
pub const MAX_TERMS: usize = 64;

/// Texts searched of one request, first come.
pub const MAX_TEXTS: usize = 8;

/// Languages that a query is analysed under: the commonest of the collection. A language beyond the eighth
/// is still found wherever its stems are those of another or the word is not inflected.
pub const MAX_LANGUAGES: usize = 8;

/// What to search for, and the rarity of it.
#[derive(Clone, Debug, Default)]
pub struct SearchTerms {
    /// One list a text; may be empty, when the text holds no word.
    pub texts: Vec<Vec<QueryTerm>>,
    /// With an exact phrase: the words that must follow one another; may be empty, and then nothing matches.
    pub phrase: Option<Vec<String>>,
    /// Documents that hold each variant; without those that none holds.
    pub document_frequency: BTreeMap<String, u64>,
}

impl SearchTerms {
    /// Analyses the request for a collection of so many documents in the given languages, commonest first.
    /// `document_frequency` counts the documents of the collection that hold a stem; its errors are handed on.
    pub fn of<E>(
        request: &FirstStageRequest,
        languages: &[Language],
        documents: u64,
        mut document_frequency: impl FnMut(&str) -> Result<u64, E>,
    ) -> Result<Self, E> {
        let languages = &languages[..languages.len().min(MAX_LANGUAGES)];
        let mut terms = SearchTerms::default();
        let mut count = |query: &AnalyzedQuery| -> Result<(), E> {
            for variant in query.terms.iter().flat_map(|term| &term.variants) {
                if !terms.document_frequency.contains_key(variant) {
                    terms.document_frequency.insert(variant.clone(), document_frequency(variant)?);
                }
            }
            Ok(())
        };
        let mut queries = Vec::new();
        let mut seen = HashSet::new();
        for text in request.texts.iter().filter(|text| seen.insert(text.as_str())).take(MAX_TEXTS) {
            let query = analyze_query(text, languages);
            count(&query)?;
            queries.push(query);
        }
        if let Some(text) = &request.ranked_by {
            count(&analyze_query(text, languages))?;
        }
        if request.exact_phrase {
            terms.phrase = Some(queries.first().map(|query| query.phrase.clone()).unwrap_or_default());
        }
        for mut query in queries {
            query.keep_rarest(MAX_TERMS, |term| terms.frequency_of(term, u64::MAX));
            terms.texts.push(query.terms);
        }
        terms.make_comparable(documents);
        terms.document_frequency.retain(|_, documents| *documents > 0);
        Ok(terms)
    }

    /// Makes scores of several texts comparable: each becomes the share of what its text asks for. A document's score is
    /// then its best (CombMAX; Fox and Shaw, "Combination of Multiple Searches", TREC-2, 1994), and a long text does not
    /// crowd out the documents of a short one.
    fn make_comparable(&mut self, documents: u64) {
        if self.texts.iter().filter(|text| !text.is_empty()).count() < 2 {
            return;
        }
        let rarity = |term: &QueryTerm| term.weight * bm25::idf(self.frequency_of(term, documents), documents);
        let totals: Vec<f32> = self.texts.iter().map(|text| text.iter().map(rarity).sum()).collect();
        for (text, total) in self.texts.iter_mut().zip(totals) {
            text.iter_mut().for_each(|term| term.weight /= total);
        }
    }

    /// Documents that hold the term in any variant. Few hold two, so the sum is close, and it cannot exceed
    /// the number of documents. All variants share it: a stem of a language with few documents is not a
    /// rarer word.
    pub fn frequency_of(&self, term: &QueryTerm, documents: u64) -> u64 {
        let held = term.variants.iter().filter_map(|variant| self.document_frequency.get(variant));
        held.fold(0, |sum: u64, documents| sum.saturating_add(*documents)).min(documents)
    }

    /// As statistics for the reranker.
    pub fn into_statistics(self, documents: u64, average_length: f64) -> CollectionStatistics {
        CollectionStatistics { documents, average_length, document_frequency: self.document_frequency }
    }
}
