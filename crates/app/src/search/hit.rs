//! Search hits: documents in their places, with the text that answers the query.

use std::collections::HashSet;
use std::ops::Range;

use model::{CaptureId, Collection, DocId, PassageId, Timestamp};
use retrieval_core::phrase::Phrases;
use retrieval_core::snippet::{KnownPassage, SNIPPET_CHARS, Snippets};
use retrieval_core::url::parse_workspace_url;

use super::quote::QuoteSource;
use super::semantic::by_both;
use super::{Detail, SearchRequest};
use crate::excerpt::Excerpt;

/// A document in its place, with the text that answers the query.
#[derive(Clone, Debug)]
pub struct SearchHit {
    /// Position in the answer, from 1.
    pub rank: u32,
    /// Comparable within one answer; higher is better.
    pub score: f64,
    pub doc_id: DocId,
    pub collection: Collection,
    pub canonical_url: String,
    /// Name of the file; `None` for a web page.
    pub name: Option<String>,
    /// The address before normalization.
    pub source_url: String,
    /// Stored object of a workspace document.
    pub source_uri: Option<String>,
    pub title: Option<String>,
    pub description: Option<String>,
    pub mime: Option<String>,
    /// ISO 639-1 code.
    pub language: Option<String>,
    pub labels: Vec<String>,
    pub published_at: Option<Timestamp>,
    pub first_seen_at: Timestamp,
    pub last_seen_at: Timestamp,
    pub last_crawled_at: Option<Timestamp>,
    /// The capture that the content came from.
    pub capture_id: CaptureId,
    pub captured_at: Timestamp,
    /// True if that capture holds the text of a search result, not the whole page.
    pub is_snippet: bool,
    /// `sha256:` and the hexadecimal digest of the content.
    pub content_digest: String,
    /// Sentences around the query's words, verbatim. Empty below [`Detail::Snippets`].
    pub snippet: String,
    /// Passages that answer the query, best first. Empty below [`Detail::Passages`].
    pub passages: Vec<HitPassage>,
}

/// A quoted passage of a hit's document.
#[derive(Clone, Debug)]
pub struct HitPassage {
    pub passage_id: PassageId,
    /// Position in the document, from 0.
    pub ordinal: u32,
    pub text: String,
    /// Position in the content of the capture, in characters.
    pub chars: Range<u32>,
    /// Headings above the passage, outermost first.
    pub section_path: Vec<String>,
}

/// Builds the hit of the rank, with as much text as `request.detail` asks for. `phrases` are those of an exact match.
pub fn hit(
    request: &SearchRequest,
    rank: u32,
    source: QuoteSource,
    snippets: &mut Snippets<'_>,
    phrases: Option<&mut Phrases>,
) -> SearchHit {
    let mut best = best_passages(request, &source);
    if let Some(phrases) = phrases.filter(|_| request.detail > Detail::Ids) {
        // The snippet comes from the best passage, even if none is quoted.
        move_phrases_first(&mut best, request.passages_per_hit.max(1), &source, phrases);
    }
    let snippet = if request.detail >= Detail::Snippets {
        snippet(&source, best.first().copied(), snippets)
    } else {
        String::new()
    };
    let QuoteSource { candidate, document, capture, excerpt, .. } = source;
    let passages = if request.detail >= Detail::Passages {
        best.iter().take(request.passages_per_hit).filter_map(|position| quote(&excerpt, *position)).collect()
    } else {
        Vec::new()
    };
    SearchHit {
        rank,
        score: candidate.score,
        doc_id: candidate.document.doc_id(),
        collection: candidate.collection,
        name: parse_workspace_url(&document.canonical_url).map(|(_, name)| name),
        canonical_url: document.canonical_url,
        source_url: document.source_url,
        source_uri: document.source_uri,
        title: document.title,
        description: document.description,
        mime: document.mime,
        language: document.language,
        labels: document.labels.0,
        published_at: document.published_at,
        first_seen_at: document.first_seen_at,
        last_seen_at: document.last_seen_at,
        last_crawled_at: document.last_crawled_at,
        capture_id: capture.capture_id,
        captured_at: capture.captured_at,
        is_snippet: capture.format.is_snippet(),
        content_digest: capture.content_digest,
        snippet,
        passages,
    }
}

/// Returns the snippet of the best passage, or of the whole text without any.
fn snippet(source: &QuoteSource, best: Option<usize>, snippets: &mut Snippets<'_>) -> String {
    let QuoteSource { candidate, document, capture, excerpt, .. } = source;
    let language = document.language.as_deref();
    let Some(position) = best else { return snippets.snippet(excerpt.content(), language, SNIPPET_CHARS) };
    let is_ranked = capture.parts.is_none() && candidate.document.state.capture_id == capture.capture_id;
    if !is_ranked {
        return snippets.snippet(excerpt.text(position), language, SNIPPET_CHARS);
    }
    let terms = &candidate.document.terms;
    let passage = KnownPassage { terms, content: excerpt.content(), position, bytes: excerpt.range(position) };
    snippets.snippet_of(&passage, language, SNIPPET_CHARS)
}

/// Returns the positions of the passages to quote, best first.
fn best_passages(request: &SearchRequest, source: &QuoteSource) -> Vec<usize> {
    if source.is_searched && request.detail > Detail::Ids {
        let with_words = source.excerpt.query_relevant(&request.query, source.document.language.as_deref());
        let best = by_both(with_words, source.nearest.clone());
        if !best.is_empty() {
            return best;
        }
    }
    source.ranked.iter().copied().filter(|position| *position < source.excerpt.passages().len()).collect()
}

/// Moves up to `most` passages with a phrase to the front, in their order, those that are not among the best included: words of a
/// phrase need not be those of the query.
fn move_phrases_first(best: &mut Vec<usize>, most: usize, source: &QuoteSource, phrases: &mut Phrases) {
    let excerpt = &source.excerpt;
    let known: HashSet<usize> = best.iter().copied().collect();
    let others = (0..excerpt.passages().len()).filter(|position| !known.contains(position));
    let language = source.document.language.as_deref();
    let has_phrase = |position: &usize| phrases.any_in(excerpt.text(*position), language);
    let mut first: Vec<usize> = best.iter().copied().chain(others).filter(has_phrase).take(most).collect();
    let moved: HashSet<usize> = first.iter().copied().collect();
    best.retain(|position| !moved.contains(position));
    first.append(best);
    *best = first;
}

fn quote(excerpt: &Excerpt, position: usize) -> Option<HitPassage> {
    let passage = excerpt.passages().get(position)?;
    let unsigned = |number: i32| u32::try_from(number).unwrap_or(0);
    Some(HitPassage {
        passage_id: passage.passage_id,
        ordinal: unsigned(passage.ordinal),
        text: excerpt.text(position).to_owned(),
        chars: unsigned(passage.char_start)..unsigned(passage.char_end),
        section_path: passage.section_path.0.clone(),
    })
}
