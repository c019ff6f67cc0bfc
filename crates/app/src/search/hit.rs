//! Search hits: documents in their places, with the text that answers the query.

use std::collections::HashMap;
use std::ops::Range;

use docstore::{LoadedDocument, Passage};
use model::{CaptureId, Collection, DocId, PassageId, Timestamp};
use retrieval_core::passages::PassageSpan;
use retrieval_core::select;
use retrieval_core::snippet::{SNIPPET_CHARS, Snippets};

use super::candidate::Candidate;
use super::{Detail, SearchRequest};
use crate::documents::passages as stored_passages;

/// Passages that a hit quotes.
pub const PASSAGES_PER_HIT: usize = 3;

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
    /// The address before normalization.
    pub source_url: String,
    /// Stored object of a workspace document.
    pub source_uri: Option<String>,
    pub title: Option<String>,
    pub description: Option<String>,
    pub mime: Option<String>,
    pub labels: Vec<String>,
    pub published_at: Option<Timestamp>,
    pub first_seen_at: Timestamp,
    pub last_seen_at: Timestamp,
    pub last_crawled_at: Option<Timestamp>,
    /// The capture that the content came from.
    pub capture_id: CaptureId,
    pub captured_at: Timestamp,
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
    /// Position in the content, in characters.
    pub chars: Range<u32>,
    /// Headings above the passage, outermost first.
    pub section_path: Vec<String>,
}

/// Builds the hits of the candidates that are still stored, with as much text as `request.detail` asks for. `loaded` are
/// the documents that the candidates do not carry themselves.
pub fn build_hits(
    request: &SearchRequest,
    candidates: Vec<Candidate>,
    mut loaded: HashMap<DocId, LoadedDocument>,
) -> Vec<SearchHit> {
    let mut snippets = Snippets::new(&request.query);
    let documents = candidates.into_iter().filter_map(|mut candidate| {
        let loaded = match candidate.loaded.take() {
            Some(loaded) => *loaded,
            None => loaded.remove(&candidate.document.doc_id())?,
        };
        Some((candidate, loaded))
    });
    let hits = documents.zip(1..).map(|((candidate, loaded), rank)| {
        let best = best_passages(request, &candidate, &loaded);
        hit(request.detail, rank, &candidate, loaded, &best, &mut snippets)
    });
    hits.collect()
}

/// Returns the positions of the passages to quote, best first.
fn best_passages(request: &SearchRequest, candidate: &Candidate, loaded: &LoadedDocument) -> Vec<usize> {
    // Documents that ranking read in part, or that changed since, are searched again: only few, and only if shown.
    let same = candidate.document.state.capture_id == loaded.capture.capture_id;
    if !(candidate.complete && same) && request.detail > Detail::Ids {
        let spans: Vec<PassageSpan> = loaded.passages.iter().map(stored_passages::span).collect();
        let language = loaded.document.language.as_deref();
        let best = select::query_relevant(&request.query, &loaded.capture.content, &spans, language);
        if !best.is_empty() {
            return best;
        }
    }
    candidate.passages.iter().copied().filter(|position| *position < loaded.passages.len()).collect()
}

fn hit(
    detail: Detail,
    rank: u32,
    candidate: &Candidate,
    loaded: LoadedDocument,
    best: &[usize],
    snippets: &mut Snippets<'_>,
) -> SearchHit {
    let LoadedDocument { document, capture, passages } = loaded;
    let content = capture.content.as_str();
    let best = || best.iter().filter_map(|position| passages.get(*position));
    let snippet = if detail >= Detail::Snippets {
        let text = best().next().map_or(content, |passage| stored_passages::text(content, passage));
        snippets.snippet(text, document.language.as_deref(), SNIPPET_CHARS)
    } else {
        String::new()
    };
    let passages = if detail >= Detail::Passages {
        best().take(PASSAGES_PER_HIT).map(|passage| quote(content, passage)).collect()
    } else {
        Vec::new()
    };
    SearchHit {
        rank,
        score: candidate.score,
        doc_id: candidate.document.doc_id(),
        collection: candidate.collection,
        canonical_url: document.canonical_url,
        source_url: document.source_url,
        source_uri: document.source_uri,
        title: document.title,
        description: document.description,
        mime: document.mime,
        labels: document.labels.0,
        published_at: document.published_at,
        first_seen_at: document.first_seen_at,
        last_seen_at: document.last_seen_at,
        last_crawled_at: document.last_crawled_at,
        capture_id: capture.capture_id,
        captured_at: capture.captured_at,
        content_digest: capture.content_digest,
        snippet,
        passages,
    }
}

fn quote(content: &str, passage: &Passage) -> HitPassage {
    let unsigned = |number: i32| u32::try_from(number).unwrap_or(0);
    HitPassage {
        passage_id: passage.passage_id,
        ordinal: unsigned(passage.ordinal),
        text: stored_passages::text(content, passage).to_owned(),
        chars: unsigned(passage.char_start)..unsigned(passage.char_end),
        section_path: passage.section_path.0.clone(),
    }
}
