//! Second stage: the candidates of one collection, ranked by what they say.

use std::cell::RefCell;
use std::collections::HashSet;

use docstore::LoadedDocument;
use ingest::clock::from_ms;
use retrieval_core::passages::PassageSpan;
use retrieval_core::rerank::{Candidate, Query, Ranked, Reranker};
use retrieval_core::shape::{HitMetadata, HitPassage, HitProvenance, SearchHit};
use retrieval_core::snippet::{SNIPPET_CHARS, Snippets};
use retrieval_core::{select, url};
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;

use super::retrieve::{Policy, Retrieved};
use super::{Detail, SearchRequest};
use crate::documents::passages as stored_passages;

/// A preferred domain's score is multiplied by this: enough to win against equals and near equals, not
/// enough to bring up what hardly matches.
const PREFERENCE: f64 = 1.5;
const PASSAGES_PER_HIT: usize = 3;

thread_local! {
    /// Remembers stems from one search to the next.
    static RERANKER: RefCell<Reranker> = RefCell::default();
}

/// A document in its place, before it is made ready to be shown.
pub struct Placed {
    loaded: LoadedDocument,
    spans: Vec<PassageSpan>,
    ranked: Ranked,
}

impl Placed {
    pub fn doc_id(&self) -> Uuid {
        self.loaded.document.doc_id.0
    }
}

/// The best `max_results` of one collection, best first.
pub fn order(request: &SearchRequest, retrieved: Retrieved, policy: &Policy, now: i64) -> Vec<Placed> {
    let Retrieved { candidates, statistics, .. } = retrieved;
    let spans: Vec<Vec<PassageSpan>> =
        candidates.iter().map(|(loaded, _)| loaded.passages.iter().map(stored_passages::span).collect()).collect();
    let views: Vec<Candidate<'_>> = candidates
        .iter()
        .zip(&spans)
        .map(|((loaded, score), spans)| Candidate {
            title: loaded.document.title.as_deref().unwrap_or_default(),
            description: loaded.document.description.as_deref().unwrap_or_default(),
            content: &loaded.capture.content,
            passages: spans,
            language: loaded.document.language.as_deref(),
            first_stage_score: *score,
            published_at: loaded.document.published_at,
        })
        .collect();
    let query = Query { text: &request.query, exact_phrase: request.exact_match, now: Some(now) };
    let mut ranked = RERANKER.with_borrow_mut(|reranker| reranker.rerank(&query, &views, &statistics));
    prefer(&mut ranked, &candidates, policy);
    let mut documents: Vec<Option<(LoadedDocument, Vec<PassageSpan>)>> =
        candidates.into_iter().zip(spans).map(|((loaded, _), spans)| Some((loaded, spans))).collect();
    let mut digests = HashSet::new();
    ranked
        .into_iter()
        .filter_map(|ranked| {
            let (loaded, spans) = documents.get_mut(ranked.index)?.take()?;
            Some(Placed { loaded, spans, ranked })
        })
        .filter(|placed| {
            // Exact duplicates on the web are one result; in a workspace each file is its own.
            let LoadedDocument { document, capture, .. } = &placed.loaded;
            document.organization_id.is_some() || digests.insert(capture.content_digest.clone())
        })
        .take(request.max_results)
        .collect()
}

/// The documents as hits, with everything that `detail` asks for.
pub fn dress(request: &SearchRequest, placed: Vec<Placed>) -> Vec<SearchHit> {
    let mut snippets = Snippets::new(&request.query);
    let dressed = placed.iter().zip(1..).map(|(Placed { loaded, spans, ranked }, rank)| {
        let best = best_passages(request, loaded, spans, ranked);
        SearchHit { rank, ..hit(request, loaded, &best, ranked.score, &mut snippets) }
    });
    dressed.collect()
}

/// Positions of the passages to quote, best first. Of a document too long to be ranked whole, the rest is looked
/// through too: it has few hits, and only those that are shown.
fn best_passages(
    request: &SearchRequest,
    loaded: &LoadedDocument,
    spans: &[PassageSpan],
    ranked: &Ranked,
) -> Vec<usize> {
    if !ranked.complete && request.detail > Detail::Ids {
        let language = loaded.document.language.as_deref();
        let best = select::query_relevant(&request.query, &loaded.capture.content, spans, language);
        if !best.is_empty() {
            return best;
        }
    }
    ranked.passages.iter().map(|passage| passage.position).collect()
}

fn prefer(ranked: &mut [Ranked], candidates: &[(LoadedDocument, f32)], policy: &Policy) {
    if policy.include.is_empty() || policy.require {
        return;
    }
    for one in ranked.iter_mut() {
        let canonical_url = &candidates[one.index].0.document.canonical_url;
        if url::CanonicalUrl::parse(canonical_url).is_ok_and(|url| policy.prefers(url.host())) {
            one.score *= PREFERENCE;
        }
    }
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score));
}

fn hit(
    request: &SearchRequest,
    loaded: &LoadedDocument,
    best: &[usize],
    score: f64,
    snippets: &mut Snippets<'_>,
) -> SearchHit {
    let LoadedDocument { document, capture, .. } = loaded;
    let workspace = document.organization_id.is_some();
    let snippet = (request.detail >= Detail::Snippets).then(|| {
        let passage = best.first().and_then(|position| loaded.passages.get(*position));
        let text = passage.map_or(capture.content.as_str(), |passage| stored_passages::text(&capture.content, passage));
        snippets.snippet(text, document.language.as_deref(), SNIPPET_CHARS)
    });
    let passages = (request.detail >= Detail::Passages).then(|| hit_passages(loaded, best));
    SearchHit {
        rank: 0,
        doc_id: document.doc_id.0,
        canonical_url: document.canonical_url.clone(),
        title: document.title.clone(),
        description: document.description.clone(),
        snippet,
        mime: document.mime.clone(),
        source_url: Some(document.source_url.clone()),
        source_uri: document.source_uri.clone(),
        index: Some(if workspace { "workspace" } else { "web" }.to_owned()),
        labels: Some(document.labels.0.clone()),
        metadata: Some(HitMetadata {
            content_digest: Some(capture.content_digest.clone()),
            extracted_at: rfc3339(Some(capture.captured_at)),
            first_seen_at: rfc3339(Some(document.first_seen_at)),
            last_crawled_at: rfc3339(document.last_crawled_at),
            last_seen_at: rfc3339(Some(document.last_seen_at)),
            published_at: rfc3339(document.published_at),
        }),
        passages,
        provenance: Some(HitProvenance {
            capture_id: capture.capture_id.0,
            capture_time: rfc3339(Some(capture.captured_at)).unwrap_or_default(),
        }),
        score: Some(score),
    }
}

fn hit_passages(loaded: &LoadedDocument, best: &[usize]) -> Vec<HitPassage> {
    best.iter()
        .filter_map(|position| loaded.passages.get(*position))
        .take(PASSAGES_PER_HIT)
        .map(|passage| HitPassage {
            passage_id: passage.passage_id.0,
            doc_id: passage.doc_id.0,
            ordinal: u32::try_from(passage.ordinal).unwrap_or(0),
            text: stored_passages::text(&loaded.capture.content, passage).to_owned(),
            char_start: u64::try_from(passage.char_start).ok(),
            char_end: u64::try_from(passage.char_end).ok(),
            section_heading: passage.section_path.0.last().cloned(),
            section_path: passage.section_path.0.clone(),
        })
        .collect()
}

fn rfc3339(milliseconds: Option<i64>) -> Option<String> {
    milliseconds.and_then(|at| from_ms(at).format(&Rfc3339).ok())
}
