//! Second stage: the candidates of one collection, ranked by what they say.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use docstore::LoadedDocument;
use ingest::clock::from_ms;
use retrieval_core::passages::PassageSpan;
use retrieval_core::phrase::Phrase;
use retrieval_core::rerank::{Candidate, Query, Ranked, rerank};
use retrieval_core::select;
use retrieval_core::shape::{HitMetadata, HitPassage, HitProvenance, SearchHit};
use retrieval_core::snippet::{SNIPPET_CHARS, Snippets};
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;

use super::retrieve::{Found, Policy, Retrieved, Source};
use super::vectors::{RankedDocument, VectorCache};
use super::{Detail, SearchRequest};
use crate::documents::passages as stored_passages;

/// A preferred domain's score is multiplied by this: enough to win against equals and near equals, not
/// enough to bring up what hardly matches.
const PREFERENCE: f64 = 1.5;
const PASSAGES_PER_HIT: usize = 3;

/// A document in its place, before it is made ready to be shown.
pub struct Placed {
    pub document: Arc<RankedDocument>,
    /// Where it was read for this search.
    pub loaded: Option<Box<LoadedDocument>>,
    pub workspace: bool,
    ranked: Ranked,
}

/// The best `max_results` of one collection, best first.
pub fn order(
    request: &SearchRequest,
    retrieved: Retrieved,
    workspace: bool,
    policy: &Policy,
    vectors: &VectorCache,
    now: i64,
) -> Vec<Placed> {
    let Retrieved { candidates, statistics, reading_limit, .. } = retrieved;
    let mut phrase = request.exact_match.then(|| Phrase::new(&request.query));
    let mut sources = Vec::with_capacity(candidates.len());
    for Found { document, score } in candidates {
        let (document, loaded) = match document {
            Source::Known(document) => (document, None),
            Source::Loaded(loaded) => {
                if phrase.as_mut().is_some_and(|phrase| !holds(&loaded, phrase)) {
                    continue;
                }
                let document = Arc::new(RankedDocument::of(&loaded, reading_limit));
                vectors.put(&document);
                (document, Some(loaded))
            }
        };
        sources.push((document, loaded, score));
    }
    let views: Vec<Candidate<'_>> = sources
        .iter()
        .map(|(document, _, score)| Candidate {
            terms: &document.terms,
            first_stage_score: *score,
            published_at: document.published_at,
        })
        .collect();
    let query = Query { text: &request.query, now: Some(now) };
    let mut ranked = rerank(&query, &views, &statistics);
    prefer(&mut ranked, |index| &sources[index].0.host, policy);
    let mut sources: Vec<_> = sources.into_iter().map(Some).collect();
    let mut digests = HashSet::new();
    ranked
        .into_iter()
        .filter_map(|ranked| {
            let (document, loaded, _) = sources.get_mut(ranked.index)?.take()?;
            Some(Placed { document, loaded, workspace, ranked })
        })
        // Exact duplicates on the web are one result; in a workspace each file is its own.
        .filter(|placed| workspace || digests.insert(placed.document.content_digest.clone()))
        .take(request.max_results)
        .collect()
}

fn holds(loaded: &LoadedDocument, phrase: &mut Phrase) -> bool {
    let LoadedDocument { document, capture, .. } = loaded;
    let texts = [document.title.as_deref(), document.description.as_deref(), Some(capture.content.as_str())];
    texts.into_iter().flatten().any(|text| phrase.is_in(text, document.language.as_deref()))
}

/// The documents as hits, with everything that `detail` asks for. Those that are gone by now are left out.
pub fn dress(
    request: &SearchRequest,
    placed: Vec<Placed>,
    mut loaded: HashMap<Uuid, LoadedDocument>,
) -> Vec<SearchHit> {
    let mut snippets = Snippets::new(&request.query);
    let documents = placed.into_iter().filter_map(|mut placed| {
        let loaded = match placed.loaded.take() {
            Some(loaded) => *loaded,
            None => loaded.remove(&placed.document.doc_id())?,
        };
        Some((placed, loaded))
    });
    let dressed = documents.zip(1..).map(|((placed, loaded), rank)| {
        let best = best_passages(request, &loaded, &placed);
        SearchHit { rank, ..hit(request, &loaded, &best, placed.ranked.score, &mut snippets) }
    });
    dressed.collect()
}

/// Positions of the passages to quote, best first. Of a document too long to be ranked whole, the rest is looked
/// through too: it has few hits, and only those that are shown. So is one that was read anew since it was ranked.
fn best_passages(request: &SearchRequest, loaded: &LoadedDocument, placed: &Placed) -> Vec<usize> {
    let Placed { document, ranked, .. } = placed;
    let same = document.state.capture_id == loaded.capture.capture_id;
    if !(ranked.complete && same) && request.detail > Detail::Ids {
        let spans: Vec<PassageSpan> = loaded.passages.iter().map(stored_passages::span).collect();
        let language = loaded.document.language.as_deref();
        let best = select::query_relevant(&request.query, &loaded.capture.content, &spans, language);
        if !best.is_empty() {
            return best;
        }
    }
    ranked
        .passages
        .iter()
        .map(|passage| passage.position)
        .filter(|position| *position < loaded.passages.len())
        .collect()
}

fn prefer<'a>(ranked: &mut [Ranked], host: impl Fn(usize) -> &'a str, policy: &Policy) {
    if policy.include.is_empty() || policy.require {
        return;
    }
    for one in ranked.iter_mut() {
        if policy.prefers(host(one.index)) {
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
