//! Terms of requests, for engines that index the output of our own analysis.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::convert::Infallible;

use retrieval_core::analysis::{AnalyzedQuery, Language, QueryTerm, analyze_query};
use retrieval_core::bm25::single as bm25;
use retrieval_core::statistics::CollectionStatistics;

use crate::FirstStageRequest;

/// Maximum number of terms searched per text; the rarest are kept. The most common words of a pasted page do not affect
/// the ranking among this many, and their long posting lists would dominate the cost.
pub const MAX_TERMS: usize = 64;

/// Maximum number of texts searched per request; the first are kept. The interface refuses requests with more.
pub const MAX_TEXTS: usize = 16;

/// Maximum number of stems counted per request; the longest are kept, which are mostly the rarest. A pasted page has about this many.
pub const MAX_COUNTED: usize = 1024;

/// Maximum number of languages that a query is analyzed in, the most common of the collection. Documents in other
/// languages still match by uninflected words and shared stems.
pub const MAX_LANGUAGES: usize = 8;

/// Terms to search for, with their document frequencies.
#[derive(Clone, Debug, Default)]
pub struct SearchTerms {
    /// One list per text; empty for a text without words.
    pub texts: Vec<Vec<QueryTerm>>,
    /// Phrases of adjacent words, one of which an exact match requires. None of them is empty; an empty list matches
    /// nothing.
    pub phrases: Option<Vec<Vec<String>>>,
    /// Number of documents that contain each variant, without zeros.
    pub document_frequency: BTreeMap<String, u64>,
}

impl SearchTerms {
    /// Analyzes a request for a collection with this number of documents in these languages, most common first.
    ///
    /// `document_frequency` returns the number of documents that contain a stem. It is called for [`MAX_COUNTED`] stems at most, first for
    /// those of the texts, then for those of the text for reranking. The others count as missing.
    ///
    /// # Errors
    ///
    /// The errors of `document_frequency`.
    pub fn analyze<E>(
        request: &FirstStageRequest,
        languages: &[Language],
        documents: u64,
        mut document_frequency: impl FnMut(&str) -> Result<u64, E>,
    ) -> Result<Self, E> {
        let languages = &languages[..languages.len().min(MAX_LANGUAGES)];
        let mut terms = SearchTerms::default();
        let mut queries: Vec<AnalyzedQuery> = Vec::new();
        let mut seen = HashSet::new();
        for text in request.texts.iter().filter(|text| seen.insert(text.as_str())).take(MAX_TEXTS) {
            queries.push(analyze_query(text, languages));
        }
        let reranked = request.rerank_text.as_ref().filter(|text| !seen.contains(text.as_str()));
        let reranked = reranked.map(|text| analyze_query(text, languages));
        for stem in stems_to_count(&queries, reranked.as_slice()) {
            terms.document_frequency.insert(stem.to_owned(), document_frequency(stem)?);
        }
        if request.exact_phrase {
            let phrases = queries.iter_mut().map(|query| std::mem::take(&mut query.phrase));
            terms.phrases = Some(phrases.filter(|words| !words.is_empty()).collect());
        }
        for mut query in queries {
            query.keep_rarest(MAX_TERMS, |term| terms.frequency_of(term, u64::MAX));
            terms.texts.push(query.terms);
        }
        terms.normalize_weights(documents);
        terms.document_frequency.retain(|_, documents| *documents > 0);
        Ok(terms)
    }

    /// Analyzes a request like [`analyze`](Self::analyze), given known document frequencies. Missing stems are in no document.
    pub fn with_counts(
        request: &FirstStageRequest,
        languages: &[Language],
        documents: u64,
        counts: &BTreeMap<String, u64>,
    ) -> Self {
        let count = |stem: &str| Ok::<_, Infallible>(counts.get(stem).copied().unwrap_or(0));
        let Ok(terms) = Self::analyze(request, languages, documents, count);
        terms
    }

    /// Returns the distinct stems that [`analyze`](Self::analyze) asks for, in order.
    pub fn stems(request: &FirstStageRequest, languages: &[Language]) -> Vec<String> {
        let mut stems = Vec::new();
        let Ok(_) = Self::analyze(request, languages, 1, |stem| {
            stems.push(stem.to_owned());
            Ok::<_, Infallible>(1)
        });
        stems
    }

    /// Normalizes the weights of each text, so that scores of several texts are comparable.
    ///
    /// The score of a document is then that of its best text (CombMAX; Fox and Shaw, "Combination of Multiple Searches",
    /// TREC-2, 1994), and a long text does not crowd out the documents of a short one.
    fn normalize_weights(&mut self, documents: u64) {
        if self.texts.iter().filter(|text| !text.is_empty()).count() < 2 {
            return;
        }
        let rarity = |term: &QueryTerm| term.weight * bm25::idf(self.frequency_of(term, documents), documents);
        let totals: Vec<f32> = self.texts.iter().map(|text| text.iter().map(rarity).sum()).collect();
        for (text, total) in self.texts.iter_mut().zip(totals) {
            text.iter_mut().for_each(|term| term.weight /= total);
        }
    }

    /// Returns true if no document can match.
    pub fn match_nothing(&self) -> bool {
        match &self.phrases {
            Some(phrases) => phrases.is_empty(),
            None => self.texts.iter().all(Vec::is_empty),
        }
    }

    /// Returns the number of documents that contain any variant of the term, at most `documents`.
    ///
    /// The sum over the variants is a close estimate, since few documents contain two. All variants share it: a stem of a
    /// language with few documents is not a rarer word.
    pub fn frequency_of(&self, term: &QueryTerm, documents: u64) -> u64 {
        let counts = term.variants.iter().filter_map(|variant| self.document_frequency.get(variant));
        counts.fold(0, |sum: u64, count| sum.saturating_add(*count)).min(documents)
    }

    /// Converts the terms into statistics for the reranker.
    pub fn into_statistics(self, documents: u64, average_length: f64) -> CollectionStatistics {
        CollectionStatistics { documents, average_length, document_frequency: self.document_frequency }
    }
}

/// Returns the distinct stems to count, those of the texts first.
fn stems_to_count<'a>(texts: &'a [AnalyzedQuery], reranked: &'a [AnalyzedQuery]) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    let mut stems: Vec<&str> = Vec::new();
    for queries in [texts, reranked] {
        let variants = queries.iter().flat_map(|query| &query.terms).flat_map(|term| &term.variants);
        let mut added: Vec<&str> = variants.map(String::as_str).filter(|stem| seen.insert(*stem)).collect();
        let left = MAX_COUNTED - stems.len();
        if added.len() > left {
            // A stable sort, so that equal requests have equal responses.
            added.sort_by_key(|stem| Reverse(stem.chars().count()));
            added.truncate(left);
        }
        stems.append(&mut added);
    }
    stems
}

#[cfg(test)]
mod tests {
    use model::Collection;

    use super::*;
    use crate::Filters;

    fn request(texts: Vec<String>, rerank_text: Option<String>) -> FirstStageRequest {
        FirstStageRequest {
            collection: Collection::Web,
            texts,
            exact_phrase: false,
            rerank_text,
            filters: Filters::default(),
            limit: 10,
        }
    }

    /// Returns a word without vowels, which is its own stem, with one letter more than the number has digits.
    fn word(number: usize) -> String {
        let letter = |digit| char::from(b"bcdfghjklm"[usize::from(digit - b'0')]);
        std::iter::once('q').chain(number.to_string().bytes().map(letter)).collect()
    }

    fn words(numbers: impl IntoIterator<Item = usize>) -> Vec<String> {
        numbers.into_iter().map(word).collect()
    }

    #[test]
    fn stems_of_few_words_are_all_counted() {
        let text = |numbers: &[usize]| words(numbers.to_vec()).join(" ");
        let request = request(vec![text(&[1, 20]), text(&[3, 1])], Some(text(&[400, 3])));
        assert_eq!(SearchTerms::stems(&request, &[]), words([1, 20, 3, 400]));
    }

    #[test]
    fn longest_stems_of_many_are_counted() {
        let texts = (0..MAX_TEXTS).map(|text| words(text * 1_000..(text + 1) * 1_000).join(" ")).collect();
        let request = request(texts, Some(word(123_456)));
        assert_eq!(SearchTerms::stems(&request, &[]), words(10_000..10_000 + MAX_COUNTED));
    }

    #[test]
    fn stems_of_the_text_for_reranking_are_counted_as_far_as_there_is_room() {
        let reranked = words((1_000..1_200).chain([123_456])).join(" ");
        let request = request(vec![words(0..1_000).join(" ")], Some(reranked));
        let expected = (0..1_000).chain([123_456]).chain(1_000..MAX_COUNTED - 1);
        assert_eq!(SearchTerms::stems(&request, &[]), words(expected));
    }
}
