//! Lexical reranker: scores the candidates of a first stage by their text.
//!
//! Deterministic, without a model, linear in the text that is read. The evidence is, with sources in the private modules:
//!
//! 1. the query's terms, weighted by their rarity in the collection, in title, headings with description, and body
//!    (BM25F);
//! 2. words of the query that are also neighbours in the text, in order or near one another;
//! 3. the best passage, if it says more than the whole document;
//! 4. terms of the best candidates, a relevance model over the candidates (RM3);
//! 5. the date, with a small weight, if the query asks for recent documents.
//!
//! Scores are comparable within one call only.

mod feedback;
mod matching;
mod parameters;
mod reading;
mod recency;
mod score;
mod stem_key;
mod term_bytes;
mod term_vector;
mod vocabulary;

use model::Timestamp;

use crate::analysis::{Analyzers, Language};
use crate::query_matcher::QueryMatcher;
use crate::statistics::CollectionStatistics;

pub use reading::{READ_BYTES, ReadingLimits};
pub use term_bytes::TERMS_VERSION;
pub use term_vector::{DocumentText, TermVector};

use matching::{MatchedCandidate, Scratch};
use recency::Recency;
use score::Scorer;
use vocabulary::Vocabulary;

/// Name of this ranker in answers. Every change that affects an order changes it.
pub const RANKER_VERSION: &str = "lexical_v6";

/// A document to score.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    pub terms: &'a TermVector,
    pub published_at: Option<Timestamp>,
    /// True if the first stage found it by words. The others are scored too, but do not affect the scores of these.
    pub by_words: bool,
}

/// Query that documents are scored for.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// Any text; it has no operators.
    pub text: &'a str,
    /// `None` ignores dates.
    pub now: Option<Timestamp>,
}

/// Evidence of one document's relevance.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// At least 0: a document without any evidence.
    pub score: f64,
    /// Positions in [`DocumentText::passages`] of the passages that match the query, best first; equal ones in the order
    /// of the document. The first passage alone if none matches.
    pub passages: Vec<usize>,
    /// True if a passage matches.
    pub is_match: bool,
    /// True if the whole content was read (see [`READ_BYTES`]). If not, [`crate::select::query_relevant`] finds the best
    /// passages of the rest too.
    pub complete: bool,
}

/// Scores the documents for the query. Returns the evidence in the order of `documents`.
///
/// `documents` are the candidates of a first stage; terms of the best of them expand the query. `statistics` describe the
/// collection that contains them, with the document frequencies of the query's terms as
/// [`crate::analysis::analyze_query`] returns them; missing ones are estimated from the documents.
pub fn score(query: &Query<'_>, documents: &[Document<'_>], statistics: &CollectionStatistics) -> Vec<Evidence> {
    score_while(query, documents, statistics, || true).unwrap_or_default()
}

/// Scores the documents like [`score`]. Returns `None` as soon as `goes_on`, which is called before each document is matched,
/// returns false.
pub fn score_while(
    query: &Query<'_>,
    documents: &[Document<'_>],
    statistics: &CollectionStatistics,
    goes_on: impl Fn() -> bool,
) -> Option<Vec<Evidence>> {
    let groups = groups(documents);
    let matcher = QueryMatcher::new(query.text, &languages_by_frequency(&groups));
    let mut vocabulary = Vocabulary::new(&matcher);
    let limits = ReadingLimits::of(documents.iter().map(|one| (one.terms.content_bytes(), one.by_words)));
    let mut matched: Vec<MatchedCandidate> = Vec::with_capacity(documents.len());
    let mut scratch = Scratch::default();
    for document in documents {
        if !goes_on() {
            return None;
        }
        let limit = limits.limit(document.by_words);
        matched.push(matching::match_candidate(document.terms, limit, &mut vocabulary, &mut scratch));
    }

    let found: Vec<bool> = groups.iter().map(Option::is_some).collect();
    let mut scorer = Scorer::new(&matcher, &matched, &found, statistics);
    let (mut scores, passages): (Vec<f64>, Vec<Vec<f64>>) =
        matched.iter().map(|candidate| scorer.score(candidate)).unzip();
    feedback::apply(&mut scores, &matched, &groups, &vocabulary, &scorer);
    if let Some(recency) = Recency::of(&matcher, query.now) {
        for (score, document) in scores.iter_mut().zip(documents) {
            *score *= recency.factor(document.published_at);
        }
    }

    let evidence = scores.into_iter().zip(&passages).zip(documents).map(|((score, passages), document)| {
        let limit = limits.limit(document.by_words);
        let complete = document.terms.covers(usize::MAX) && document.terms.content_bytes() <= limit;
        let is_match = passages.iter().any(|score| *score > 0.0);
        Evidence { score, passages: best_passages(passages), is_match, complete }
    });
    Some(evidence.collect())
}

/// Returns the positions of the matching passages of one document, best first. The document is the collection here.
/// For [`crate::select`].
pub(crate) fn passages_of_one(matcher: &QueryMatcher, document: &DocumentText<'_>) -> Vec<usize> {
    let vector = TermVector::of(document, usize::MAX, &mut Analyzers::default());
    let mut vocabulary = Vocabulary::new(matcher);
    let matched = matching::match_candidate(&vector, usize::MAX, &mut vocabulary, &mut Scratch::default());
    let matched = matched.into_passages();
    let found = vec![true; matched.len()];
    let mut scorer = Scorer::new(matcher, &matched, &found, &CollectionStatistics::default());
    let scores: Vec<f64> = matched.iter().map(|candidate| scorer.score(candidate).0).collect();
    matching_passages(&scores)
}

/// Returns the language of a document, English if it is unknown.
fn language_of(document: &Document<'_>) -> Language {
    document.terms.language.unwrap_or(Language::English)
}

/// Returns the languages of the documents that were found by words, of all if none was.
fn groups(documents: &[Document<'_>]) -> Vec<Option<Language>> {
    let is_any_found = documents.iter().any(|document| document.by_words);
    let group = |document: &Document<'_>| (document.by_words || !is_any_found).then(|| language_of(document));
    documents.iter().map(group).collect()
}

/// Returns the languages, the most common first.
fn languages_by_frequency(groups: &[Option<Language>]) -> Vec<Language> {
    let mut counts: Vec<(Language, usize)> = Vec::new();
    for language in groups.iter().flatten() {
        match counts.iter_mut().find(|(known, _)| known == language) {
            Some((_, count)) => *count += 1,
            None => counts.push((*language, 1)),
        }
    }
    // Stable: equally common languages stay in the order of their first documents.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.into_iter().map(|(language, _)| language).collect()
}

/// Returns the positions of the positive scores, highest first.
fn matching_passages(scores: &[f64]) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..scores.len()).filter(|position| scores[*position] > 0.0).collect();
    positions.sort_unstable_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
    positions
}

fn best_passages(scores: &[f64]) -> Vec<usize> {
    let positions = matching_passages(scores);
    if positions.is_empty() && !scores.is_empty() {
        return vec![0];
    }
    positions
}

#[cfg(test)]
mod term_bytes_tests;
#[cfg(test)]
mod tests;
