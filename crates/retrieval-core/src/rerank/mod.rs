//! Lexical reranker: orders the candidates of a first stage by their text alone.
//!
//! Deterministic, without a model, linear in the text that is read. The evidence, with sources in the private modules:
//!
//! 1. query terms, weighted by their rarity in the collection, in the fields title, headings with description, and body
//!    (BM25F);
//! 2. proximity: neighbouring words of the query that are adjacent or close in the text;
//! 3. the best passage, if it scores higher than the whole document;
//! 4. terms of the best candidates (pseudo-relevance feedback, RM3 within the candidates);
//! 5. a mild recency boost for queries that ask for recent documents.
//!
//! Scores are comparable only within one call.

mod feedback;
mod matching;
mod parameters;
mod recency;
mod score;
mod term_vector;
mod vocabulary;

use crate::analysis::{Analyzers, Language};
use crate::query_matcher::QueryMatcher;
use crate::statistics::CollectionStatistics;

pub use term_vector::{DocumentText, TermVector};

use matching::MatchedCandidate;
use recency::Recency;
use score::Scorer;
use vocabulary::Vocabulary;

/// Names this ranker in answers; another with every change that changes an order.
pub const RANKER_VERSION: &str = "lexical_v1";

/// Bytes of content that one call reads, over all candidates. Where they hold more, each is read up to the same length,
/// as far as it goes: a long document is judged by its beginning, and the time of a call stays bounded.
pub const READ_BYTES: usize = 2 * 1024 * 1024;

/// A document that the first stage found.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    pub terms: &'a TermVector,
    /// Higher is better. Orders candidates that are otherwise equal.
    pub first_stage_score: f32,
    /// Milliseconds since the Unix epoch.
    pub published_at: Option<i64>,
}

/// What candidates are ranked for.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// Any text; nothing in it is an operator.
    pub text: &'a str,
    /// Milliseconds since the Unix epoch. Without it, dates do not matter.
    pub now: Option<i64>,
}

/// A candidate in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// Position in the candidates that came in.
    pub index: usize,
    /// At least 0, which means that nothing speaks for the candidate.
    pub score: f64,
    /// The passages that hold something of the query, best first, equal ones in the order of the document. The first
    /// passage alone when none does.
    pub passages: Vec<RankedPassage>,
    /// Whether the whole content was read (see [`READ_BYTES`]). Where not, [`crate::select::query_relevant`] finds the
    /// best passages of the rest too.
    pub complete: bool,
}

/// A passage of a candidate in its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedPassage {
    /// Position in [`DocumentText::passages`].
    pub position: usize,
    pub score: f64,
}

/// Returns the number of bytes read per document, from the lengths of all: vectors should [cover](TermVector::covers)
/// it.
pub fn reading_limit(content_bytes: impl Iterator<Item = usize>) -> usize {
    fair_share(content_bytes, READ_BYTES)
}

/// Ranks the candidates for the query, best first.
///
/// All candidates are ranked, including those without a match. Equal scores are ordered by the first-stage score, then
/// by the input order.
///
/// `statistics` are those of the candidates' collection, with the document frequencies of the query's terms as
/// [`crate::analysis::analyze_query`] returns them. Missing values are estimated from the candidates.
pub fn rerank(query: &Query<'_>, candidates: &[Candidate<'_>], statistics: &CollectionStatistics) -> Vec<Ranked> {
    let matcher = QueryMatcher::new(query.text, &languages_by_frequency(candidates));
    let mut vocabulary = Vocabulary::new(&matcher);
    let limit = reading_limit(candidates.iter().map(|candidate| candidate.terms.content_bytes()));
    let matched: Vec<MatchedCandidate> =
        candidates.iter().map(|candidate| matching::match_candidate(candidate.terms, limit, &mut vocabulary)).collect();

    let mut scorer = Scorer::new(&matcher, &matched, statistics);
    let (mut scores, passages): (Vec<f64>, Vec<Vec<f64>>) =
        matched.iter().map(|candidate| scorer.score(candidate)).unzip();
    feedback::apply(&mut scores, &matched, vocabulary.len(), scorer.body_length(), scorer.total_weight());
    if let Some(recency) = Recency::of(&matcher, query.now) {
        for (score, candidate) in scores.iter_mut().zip(candidates) {
            *score *= recency.factor(candidate.published_at);
        }
    }

    let ranked = scores.into_iter().zip(&passages).enumerate();
    let mut ranked: Vec<Ranked> = ranked
        .map(|(index, (score, passages))| {
            let terms = candidates[index].terms;
            let complete = terms.covers(usize::MAX) && terms.content_bytes() <= limit;
            Ranked { index, score, passages: ranked_passages(passages), complete }
        })
        .collect();
    ranked.sort_by(|a, b| {
        let first_stage = |ranked: &Ranked| candidates[ranked.index].first_stage_score;
        b.score.total_cmp(&a.score).then_with(|| first_stage(b).total_cmp(&first_stage(a))).then(a.index.cmp(&b.index))
    });
    ranked
}

/// Returns the matching passages of one document, best first, with their scores: the document is the collection here.
pub(crate) fn passages_of_one(matcher: &QueryMatcher, document: &DocumentText<'_>) -> Vec<RankedPassage> {
    let vector = TermVector::of(document, usize::MAX, &mut Analyzers::default());
    let matched = matching::match_candidate(&vector, usize::MAX, &mut Vocabulary::new(matcher)).into_passages();
    let mut scorer = Scorer::new(matcher, &matched, &CollectionStatistics::default());
    let scores: Vec<f64> = matched.iter().map(|candidate| scorer.score(candidate).0).collect();
    matching_passages(&scores)
}

/// Returns the languages of the candidates, most common first. Documents of unknown language are analysed as English.
fn languages_by_frequency(candidates: &[Candidate<'_>]) -> Vec<Language> {
    let mut counts: Vec<(Language, usize)> = Vec::new();
    for language in candidates.iter().map(|candidate| candidate.terms.language.unwrap_or(Language::English)) {
        match counts.iter_mut().find(|(known, _)| *known == language) {
            Some((_, count)) => *count += 1,
            None => counts.push((language, 1)),
        }
    }
    // The sort is stable: equally common languages keep the order of their first candidates.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.into_iter().map(|(language, _)| language).collect()
}

/// Returns the largest `limit` for which the sum of the lengths, each capped at `limit`, is at most `total`.
fn fair_share(lengths: impl Iterator<Item = usize>, total: usize) -> usize {
    let mut lengths: Vec<usize> = lengths.collect();
    lengths.sort_unstable();
    let (mut left, mut count) = (total, lengths.len());
    for length in lengths {
        if length > left / count {
            return left / count;
        }
        left -= length;
        count -= 1;
    }
    usize::MAX
}

fn matching_passages(scores: &[f64]) -> Vec<RankedPassage> {
    let passages = scores.iter().enumerate().filter(|(_, score)| **score > 0.0);
    let mut passages: Vec<RankedPassage> =
        passages.map(|(position, score)| RankedPassage { position, score: *score }).collect();
    passages.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.position.cmp(&b.position)));
    passages
}

fn ranked_passages(scores: &[f64]) -> Vec<RankedPassage> {
    let passages = matching_passages(scores);
    if passages.is_empty() && !scores.is_empty() {
        return vec![RankedPassage { position: 0, score: 0.0 }];
    }
    passages
}

#[cfg(test)]
mod tests;
