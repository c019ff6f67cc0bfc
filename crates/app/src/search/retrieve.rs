//! First stage: candidates of one collection, and what the source policy drops on the way.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use docstore::LoadedDocument;
use engine::{Filters, FirstStageRequest, SearchEngine};
use model::{Collection, DocId};
use retrieval_core::domain::Domain;
use retrieval_core::rerank;
use retrieval_core::statistics::CollectionStatistics;

use super::SearchRequest;
use super::vectors::RankedDocument;
use crate::error::Result;
use crate::{App, Error};

/// Which domains a caller wants, checked.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    pub include: Vec<Domain>,
    pub exclude: Vec<Domain>,
    pub require: bool,
}

impl Policy {
    pub fn parse(request: &SearchRequest) -> Result<Self> {
        let policy = &request.source_policy;
        Ok(Self {
            include: domains("source_policy.include_domains", &policy.include_domains)?,
            exclude: domains("source_policy.exclude_domains", &policy.exclude_domains)?,
            require: policy.require_domain_match,
        })
    }

    /// Whether results are dropped, rather than only preferred.
    fn drops(&self) -> bool {
        !self.exclude.is_empty() || self.require
    }

    pub fn prefers(&self, host: &str) -> bool {
        !self.require && self.include.iter().any(|domain| domain.contains(host))
    }
}

fn domains(field: &str, values: &[String]) -> Result<Vec<Domain>> {
    let parse = |(position, value): (usize, &String)| {
        Domain::parse(value).map_err(|error| Error::invalid(format!("{field}[{position}]"), error.to_string()))
    };
    values.iter().enumerate().map(parse).collect()
}

/// What the first stage found in one collection.
#[derive(Default)]
pub struct Retrieved {
    /// Best first.
    pub candidates: Vec<Found>,
    /// Bytes of each content that ranking reads.
    pub reading_limit: usize,
    pub statistics: CollectionStatistics,
    pub total: u64,
    /// Results that the source policy removed on the way to `max_results`.
    pub filtered: usize,
}

/// A candidate and its score in the first stage.
pub struct Found {
    pub document: Source,
    pub score: f32,
}

/// A candidate as far as it is known.
pub enum Source {
    /// Its terms, from an earlier search.
    Known(Arc<RankedDocument>),
    /// Its text, yet to be analysed.
    Loaded(Box<LoadedDocument>),
}

impl App {
    pub(super) async fn retrieve(
        &self,
        engine: &dyn SearchEngine,
        request: &SearchRequest,
        collection: Collection,
        policy: &Policy,
    ) -> Result<Retrieved> {
        let base = FirstStageRequest {
            collection,
            texts: texts(request),
            exact_phrase: request.exact_match,
            ranked_by: Some(request.query.clone()),
            filters: filters(request),
            limit: engine.depth(request.max_results),
        };
        // `source_policy` concerns web results alone.
        if collection != Collection::Web {
            return self.load(request, self.ask(engine, &base).await?, collection).await;
        }
        if policy.require && policy.include.is_empty() {
            // Nothing is inside of no domain.
            let unfiltered = self.ask(engine, &base).await?;
            let filtered = unfiltered.hits.len().min(request.max_results);
            return Ok(Retrieved { filtered, ..Retrieved::default() });
        }
        if policy.drops() {
            let kept = with_domains(&base, if policy.require { &policy.include } else { &[] }, &policy.exclude);
            let (kept, unfiltered) = futures_util::try_join!(self.ask(engine, &kept), self.ask(engine, &base))?;
            let filtered = count_dropped(&unfiltered, &kept, request.max_results);
            let mut retrieved =
                self.load(request, self.with_preferred(engine, &base, kept, policy).await?, collection).await?;
            retrieved.filtered = filtered;
            return Ok(retrieved);
        }
        let started = std::time::Instant::now();
        let answer = self.ask(engine, &base).await?;
        tracing::debug!(asked = ?started.elapsed(), "first stage");
        self.load(request, self.with_preferred(engine, &base, answer, policy).await?, collection).await
    }

    /// Documents of preferred domains are candidates even where others match better.
    async fn with_preferred(
        &self,
        engine: &dyn SearchEngine,
        base: &FirstStageRequest,
        mut answer: engine::FirstStageAnswer,
        policy: &Policy,
    ) -> Result<engine::FirstStageAnswer> {
        if policy.require || policy.include.is_empty() {
            return Ok(answer);
        }
        let preferred = self.ask(engine, &with_domains(base, &policy.include, &policy.exclude)).await?;
        let known: HashSet<DocId> = answer.hits.iter().map(|hit| hit.doc_id).collect();
        answer.hits.extend(preferred.hits.into_iter().filter(|hit| !known.contains(&hit.doc_id)));
        Ok(answer)
    }

    async fn ask(&self, engine: &dyn SearchEngine, request: &FirstStageRequest) -> Result<engine::FirstStageAnswer> {
        match tokio::time::timeout(self.options.engine_timeout, engine.first_stage(request)).await {
            Ok(answer) => Ok(answer?),
            Err(elapsed) => Err(Error::Unavailable { backend: "search", source: elapsed.into() }),
        }
    }

    /// The candidates' terms, or their text where the terms are not known. What the index names and the docstore does
    /// not show (deleted a moment ago, or another tenant's) is left out here, whatever state the index is in.
    async fn load(
        &self,
        request: &SearchRequest,
        answer: engine::FirstStageAnswer,
        collection: Collection,
    ) -> Result<Retrieved> {
        let doc_ids: Vec<DocId> = answer.hits.iter().map(|hit| hit.doc_id).collect();
        let mut known: HashMap<DocId, Arc<RankedDocument>> = HashMap::new();
        let mut unknown = Vec::new();
        if request.exact_match || self.second_stage.reads_texts() {
            // Whether a text holds a phrase is asked of the text, and so is a model.
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
        // Of long documents, an earlier search may have read less than this one has to.
        let short: Vec<DocId> =
            known.values().filter(|document| !document.terms.covers(limit)).map(|known| known.state.doc_id).collect();
        for (doc_id, document) in self.load_by_id(collection, short).await? {
            known.remove(&doc_id);
            loaded.insert(doc_id, document);
        }
        let candidates = answer.hits.iter().filter_map(|hit| {
            let known = known.remove(&hit.doc_id).map(Source::Known);
            let document = known.or_else(|| loaded.remove(&hit.doc_id).map(|loaded| Source::Loaded(Box::new(loaded))));
            document.map(|document| Found { document, score: hit.score })
        });
        Ok(Retrieved {
            candidates: candidates.collect(),
            reading_limit: limit,
            statistics: answer.statistics,
            total: answer.total,
            filtered: 0,
        })
    }

    /// Whole documents of one collection.
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

/// The first rewrite replaces the query at the index; the others are searched too.
fn texts(request: &SearchRequest) -> Vec<String> {
    let rewrites: Vec<String> = request.search_queries.iter().filter(|text| !text.trim().is_empty()).cloned().collect();
    if rewrites.is_empty() { vec![request.query.clone()] } else { rewrites }
}

fn filters(request: &SearchRequest) -> Filters {
    Filters {
        language: request.language.clone(),
        country: request.country.clone(),
        published_after: request.published_after.map(ingest::clock::from_date_time),
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

/// How many results the policy removed on the way to `max_results` kept ones: the filtered ranking is the
/// unfiltered one without what was dropped.
fn count_dropped(unfiltered: &engine::FirstStageAnswer, kept: &engine::FirstStageAnswer, max_results: usize) -> usize {
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
