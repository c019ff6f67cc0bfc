//! Second stage: the candidates of one collection, ranked by what they say.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use docstore::LoadedDocument;
use ingest::clock::to_date_time;
use model::{Collection, DocId, Timestamp};
use retrieval_core::passages::PassageSpan;
use retrieval_core::phrase::Phrase;
use retrieval_core::rerank::{Candidate, Query, Ranked, rerank};
use retrieval_core::shape::{HitMetadata, HitPassage, HitProvenance, SearchHit};
use retrieval_core::snippet::{SNIPPET_CHARS, Snippets};
use retrieval_core::{chars, select};
use time::format_description::well_known::Rfc3339;

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

/// The candidates of one collection, with what the lexical ranker says of them.
pub struct Assessed {
    documents: Vec<Assessment>,
    /// Best first.
    ranked: Vec<Ranked>,
    workspace: bool,
}

struct Assessment {
    document: Arc<RankedDocument>,
    loaded: Option<Box<LoadedDocument>>,
    first_stage_score: f32,
}

/// Ranks the candidates by what they say. Those that are met for the first time are analysed.
pub fn assess(
    request: &SearchRequest,
    retrieved: Retrieved,
    workspace: bool,
    vectors: &VectorCache,
    now: Timestamp,
) -> Assessed {
    let Retrieved { candidates, statistics, reading_limit, .. } = retrieved;
    let mut phrase = request.exact_match.then(|| Phrase::new(&request.query));
    let mut documents = Vec::with_capacity(candidates.len());
    for Found { document, score: first_stage_score } in candidates {
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
        documents.push(Assessment { document, loaded, first_stage_score });
    }
    let views: Vec<Candidate<'_>> = documents
        .iter()
        .map(|Assessment { document, first_stage_score, .. }| Candidate {
            terms: &document.terms,
            first_stage_score: *first_stage_score,
            published_at: document.published_at.map(Timestamp::as_millis),
        })
        .collect();
    let ranked = rerank(&Query { text: &request.query, now: Some(now.as_millis()) }, &views, &statistics);
    Assessed { documents, ranked, workspace }
}

impl Assessed {
    /// What a model is asked about, in the order of the ranking: title and best passages.
    pub fn texts(&self) -> Vec<String> {
        let text = |ranked: &Ranked| match &self.documents[ranked.index].loaded {
            Some(loaded) => model_text(loaded, ranked),
            None => String::new(),
        };
        self.ranked.iter().map(text).collect()
    }

    /// Orders by a model's scores of [`texts`](Self::texts); the lexical order among equals.
    pub fn order_by(&mut self, scores: &[f32]) {
        // Some models give probabilities, some give their logarithms of odds: those are made probabilities.
        let odds = scores.iter().any(|score| !(0.0..=1.0).contains(score));
        let score = |score: f32| if odds { 1.0 / (1.0 + (-f64::from(score)).exp()) } else { f64::from(score) };
        self.ranked.iter_mut().zip(scores).for_each(|(ranked, given)| ranked.score = score(*given));
        self.sort();
    }

    pub fn order_by_first_stage(&mut self) {
        for ranked in &mut self.ranked {
            ranked.score = f64::from(self.documents[ranked.index].first_stage_score);
        }
        self.ranked.sort_by_key(|ranked| ranked.index);
        self.sort();
    }

    fn sort(&mut self) {
        self.ranked.sort_by(|one, other| other.score.total_cmp(&one.score));
    }

    /// The best `max_results`, best first.
    pub fn place(mut self, policy: &Policy, max_results: usize) -> Vec<Placed> {
        if !policy.include.is_empty() && !policy.require {
            for ranked in &mut self.ranked {
                if policy.prefers(&self.documents[ranked.index].document.host) {
                    ranked.score *= PREFERENCE;
                }
            }
            self.sort();
        }
        let Self { documents, ranked, workspace } = self;
        let mut documents: Vec<Option<Assessment>> = documents.into_iter().map(Some).collect();
        let mut digests = HashSet::new();
        ranked
            .into_iter()
            .filter_map(|ranked| {
                let Assessment { document, loaded, .. } = documents.get_mut(ranked.index)?.take()?;
                Some(Placed { document, loaded, workspace, ranked })
            })
            // Exact duplicates on the web are one result; in a workspace each file is its own.
            .filter(|placed| workspace || digests.insert(placed.document.content_digest.clone()))
            .take(max_results)
            .collect()
    }
}

/// Characters that models read of one text; the rest they would cut.
const MODEL_CHARS: usize = 2_000;

fn model_text(loaded: &LoadedDocument, ranked: &Ranked) -> String {
    let LoadedDocument { document, capture, passages } = loaded;
    let mut text = document.title.clone().unwrap_or_default();
    let best = ranked.passages.iter().filter_map(|passage| passages.get(passage.position));
    for passage in best.take(PASSAGES_PER_HIT) {
        text.push('\n');
        text.push_str(stored_passages::text(&capture.content, passage));
    }
    if text.trim().is_empty() {
        // Some endpoints refuse a text without words, and all others with it.
        text.clone_from(&document.canonical_url);
    }
    chars::truncate(&text, MODEL_CHARS).to_owned()
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
    mut loaded: HashMap<DocId, LoadedDocument>,
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

fn hit(
    request: &SearchRequest,
    loaded: &LoadedDocument,
    best: &[usize],
    score: f64,
    snippets: &mut Snippets<'_>,
) -> SearchHit {
    let LoadedDocument { document, capture, .. } = loaded;
    let workspace = document.collection != Collection::Web;
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

fn rfc3339(at: Option<Timestamp>) -> Option<String> {
    at.and_then(|at| to_date_time(at).format(&Rfc3339).ok())
}
