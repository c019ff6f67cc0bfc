//! First stage: the candidates of one collection, with the source policy applied.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use docstore::LoadedDocument;
use engine::{Filters, FirstStageRequest, FirstStageResponse, Hit, SearchEngine};
use model::{Collection, DocId};
use retrieval_core::domain::Domain;
use retrieval_core::phrase::Phrases;
use retrieval_core::rerank;

use super::candidate::{Candidate, CandidateList};
use super::vectors::{RankedDocument, VectorCache};
use super::{SearchRequest, SourcePolicy};
use crate::error::Result;
use crate::{App, Error};

impl App {
    /// Returns the candidates of one collection.
    pub(super) async fn retrieve(
        &self,
        engine: &dyn SearchEngine,
        request: &Arc<SearchRequest>,
        collection: Collection,
    ) -> Result<CandidateList> {
        let policy = &request.source_policy;
        let base = FirstStageRequest {
            collection,
            texts: texts(request).into_iter().map(str::to_owned).collect(),
            exact_phrase: request.exact_match,
            rerank_text: Some(request.query.clone()),
            filters: filters(request, collection),
            limit: engine.candidate_limit(request.max_results),
        };
        if collection != Collection::Web {
            return self.load(request, self.ask(engine, &base).await?, collection).await;
        }
        if policy.require_domain_match && policy.include_domains.is_empty() {
            // No document is inside an empty list of domains.
            let unfiltered = self.ask(engine, &base).await?;
            let filtered = unfiltered.hits.len().min(request.max_results);
            return Ok(CandidateList {
                filtered,
                statistics: unfiltered.statistics,
                ..CandidateList::empty(collection)
            });
        }
        if policy.drops() {
            let required: &[Domain] = if policy.require_domain_match { &policy.include_domains } else { &[] };
            let kept = with_domains(&base, required, &policy.exclude_domains);
            let (kept, unfiltered) = futures_util::try_join!(self.ask(engine, &kept), self.ask(engine, &base))?;
            let filtered = count_dropped(&unfiltered, &kept, request.max_results);
            let kept = self.with_preferred(engine, &base, kept, policy).await?;
            return Ok(CandidateList { filtered, ..self.load(request, kept, collection).await? });
        }
        let started = Instant::now();
        let answer = self.ask(engine, &base).await?;
        tracing::debug!(asked = ?started.elapsed(), "first stage");
        self.load(request, self.with_preferred(engine, &base, answer, policy).await?, collection).await
    }

    /// Adds documents of preferred domains, which are candidates even if others match better.
    async fn with_preferred(
        &self,
        engine: &dyn SearchEngine,
        base: &FirstStageRequest,
        mut answer: FirstStageResponse,
        policy: &SourcePolicy,
    ) -> Result<FirstStageResponse> {
        if !policy.has_preference() {
            return Ok(answer);
        }
        let preferred = self.ask(engine, &with_domains(base, &policy.include_domains, &policy.exclude_domains)).await?;
        let known: HashSet<DocId> = answer.hits.iter().map(|hit| hit.doc_id).collect();
        answer.hits.extend(preferred.hits.into_iter().filter(|hit| !known.contains(&hit.doc_id)));
        Ok(answer)
    }

    async fn ask(&self, engine: &dyn SearchEngine, request: &FirstStageRequest) -> Result<FirstStageResponse> {
        match tokio::time::timeout(self.options.engine_timeout, engine.first_stage(request)).await {
            Ok(answer) => Ok(answer?),
            Err(elapsed) => Err(Error::Unavailable { backend: "search", source: elapsed.into() }),
        }
    }

    /// Looks up the terms of the engine's hits; documents whose terms are not cached are read and analysed. The docstore
    /// decides: hits that it does not return (just deleted, or another tenant's) are dropped, whatever the index says.
    async fn load(
        &self,
        request: &Arc<SearchRequest>,
        answer: FirstStageResponse,
        collection: Collection,
    ) -> Result<CandidateList> {
        let doc_ids: Vec<DocId> = answer.hits.iter().map(|hit| hit.doc_id).collect();
        let mut known: HashMap<DocId, Arc<RankedDocument>> = HashMap::new();
        let mut unknown = Vec::new();
        if request.exact_match || self.second_stage.reads_texts() {
            // Phrase matching and models need the text.
            unknown = doc_ids;
        } else if !doc_ids.is_empty() {
            for state in self.store.find_latest_states(collection, doc_ids).await? {
                match self.vectors.get(&state) {
                    Some(document) => drop(known.insert(state.doc_id, document)),
                    None => unknown.push(state.doc_id),
                }
            }
        }
        let mut loaded = self.load_by_id(collection, unknown).await?;
        let lengths = known.values().map(|document| document.terms.content_bytes());
        let limit = rerank::reading_limit(lengths.chain(loaded.values().map(|loaded| loaded.capture.content.len())));
        // An earlier search may have read less of a long document than this one needs.
        let short: Vec<DocId> =
            known.values().filter(|document| !document.terms.covers(limit)).map(|known| known.doc_id()).collect();
        for (doc_id, document) in self.load_by_id(collection, short).await? {
            known.remove(&doc_id);
            loaded.insert(doc_id, document);
        }
        let mut loaded = self.analyse(request, loaded, limit).await?;
        let candidates = answer.hits.iter().enumerate().filter_map(|(position, Hit { doc_id, score })| {
            let (document, loaded) = match known.remove(doc_id) {
                Some(document) => (document, None),
                None => loaded.remove(doc_id).map(|(document, loaded)| (document, Some(loaded)))?,
            };
            Some(Candidate {
                document,
                loaded,
                collection,
                position,
                first_stage_score: *score,
                score: 0.0,
                passages: Vec::new(),
                complete: false,
            })
        });
        Ok(CandidateList {
            collection,
            candidates: candidates.collect(),
            statistics: answer.statistics,
            total: answer.total,
            unknown_values: answer.unknown_values,
            filtered: 0,
        })
    }

    /// Analyses documents on a blocking thread, for a search that reads `limit` bytes of each, and caches their terms.
    /// For an exact match, documents without any of the searched phrases are dropped.
    async fn analyse(
        &self,
        request: &Arc<SearchRequest>,
        loaded: HashMap<DocId, LoadedDocument>,
        limit: usize,
    ) -> Result<HashMap<DocId, Analysed>> {
        if loaded.is_empty() {
            return Ok(HashMap::new());
        }
        let (request, vectors) = (Arc::clone(request), self.vectors.clone());
        let analysing = self.runtime.spawn_blocking(move || analyse(&request, loaded, limit, &vectors));
        analysing.await.map_err(Error::internal)
    }

    /// Reads whole documents of one collection.
    pub(super) async fn load_by_id(
        &self,
        collection: Collection,
        doc_ids: Vec<DocId>,
    ) -> Result<HashMap<DocId, LoadedDocument>> {
        if doc_ids.is_empty() {
            return Ok(HashMap::new());
        }
        let loaded = self.store.load_documents(collection, doc_ids).await?;
        Ok(loaded.into_iter().map(|loaded| (loaded.document.doc_id, loaded)).collect())
    }
}

type Analysed = (Arc<RankedDocument>, Box<LoadedDocument>);

fn analyse(
    request: &SearchRequest,
    loaded: HashMap<DocId, LoadedDocument>,
    limit: usize,
    vectors: &VectorCache,
) -> HashMap<DocId, Analysed> {
    let mut phrases = request.exact_match.then(|| Phrases::new(texts(request)));
    let matching =
        loaded.into_iter().filter(|(_, loaded)| phrases.as_mut().is_none_or(|phrases| contains(loaded, phrases)));
    let analysed = matching.map(|(doc_id, loaded)| {
        let document = Arc::new(RankedDocument::of(&loaded, limit));
        vectors.put(&document);
        (doc_id, (document, Box::new(loaded)))
    });
    analysed.collect()
}

fn contains(loaded: &LoadedDocument, phrases: &mut Phrases) -> bool {
    let LoadedDocument { document, capture, .. } = loaded;
    let texts = [document.title.as_deref(), document.description.as_deref(), Some(capture.content.as_str())];
    texts.into_iter().flatten().any(|text| phrases.any_in(text, document.language.as_deref()))
}

/// Returns the texts to search for: the rewrites if there are any, otherwise the query.
fn texts(request: &SearchRequest) -> Vec<&str> {
    let rewrites: Vec<&str> =
        request.search_queries.iter().map(String::as_str).filter(|text| !text.trim().is_empty()).collect();
    if rewrites.is_empty() { vec![&request.query] } else { rewrites }
}

fn filters(request: &SearchRequest, collection: Collection) -> Filters {
    Filters {
        language: request.language.clone(),
        // Countries are markets of web pages; files have none.
        country: request.country.clone().filter(|_| collection == Collection::Web),
        published_after: request.published_after,
        include_domains: Vec::new(),
        exclude_domains: Vec::new(),
    }
}

fn with_domains(base: &FirstStageRequest, include: &[Domain], exclude: &[Domain]) -> FirstStageRequest {
    let names = |domains: &[Domain]| domains.iter().map(|domain| domain.as_str().to_owned()).collect();
    let mut request = base.clone();
    request.filters.include_domains = names(include);
    request.filters.exclude_domains = names(exclude);
    request
}

/// Counts the results that the policy removed before `max_results` were kept: the filtered ranking is the unfiltered one
/// without the removed results.
fn count_dropped(unfiltered: &FirstStageResponse, kept: &FirstStageResponse, max_results: usize) -> usize {
    let kept: HashSet<DocId> = kept.hits.iter().map(|hit| hit.doc_id).collect();
    let mut dropped = 0;
    let mut taken = 0;
    for hit in &unfiltered.hits {
        if taken == max_results {
            break;
        }
        if kept.contains(&hit.doc_id) { taken += 1 } else { dropped += 1 }
    }
    dropped
}
